"""Judge a request of a controller: the image before, the request, the records, the answer.

`Specification` is handed to whoever sees a cluster's requests and records: the simulator, which
calls it after each commit, or the check of a live run.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.brokers import (
    wrong_registration,
    wrong_registration_answer,
    wrong_unregistration,
    wrong_unregistration_answer,
)
from kraftproof.checkers.kraft.specification.configs.changes import (
    wrong_config_answer,
    wrong_config_changes,
)
from kraftproof.checkers.kraft.specification.conversion import row_of
from kraftproof.checkers.kraft.specification.creation import (
    wrong_creation_answer,
    wrong_creations,
)
from kraftproof.checkers.kraft.specification.deletion import (
    wrong_deletion_answer,
    wrong_deletions,
)
from kraftproof.checkers.kraft.specification.errors import Code
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.heartbeats import (
    wrong_heartbeat,
    wrong_heartbeat_answer,
)
from kraftproof.checkers.kraft.specification.image import EMPTY_IMAGE, Image
from kraftproof.checkers.kraft.specification.own_records import wrong_own_records
from kraftproof.checkers.kraft.specification.partitions.alter_partition import (
    wrong_alteration_answer,
    wrong_alterations,
)
from kraftproof.checkers.kraft.specification.partitions.producer_ids import (
    wrong_allocation,
    wrong_allocation_answer,
)
from kraftproof.checkers.kraft.specification.rows import Row, configs, partitions

SAYS_NOTHING: Final = frozenset({Code.NOT_CONTROLLER, Code.REQUEST_TIMED_OUT})
"""Codes of an answer that tells nothing about the metadata."""


class Specification:
    """The specification of one cluster's controller."""

    empty: Image = EMPTY_IMAGE

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def rows(self, messages: Iterable[object]) -> tuple[Row, ...]:
        """Return requests, answers or records as rows, which the other methods take."""
        return tuple(map(row_of, messages))

    def after(self, image: Image, written: Sequence[Row]) -> Image:
        """Return the image after records.

        Raises:
            ContradictionError: a record contradicts the image before it.
        """
        return fold(image, written)

    def wrong_records(
        self, image: Image, offset: int, request: Row | None, written: Sequence[Row]
    ) -> str | None:
        """Return why a batch is no right result of a request, or None.

        Args:
            image: The image before the batch.
            offset: The offset of the batch.
            request: The request, or None for records of the controller's own.
            written: The records of the batch, which contradict nothing in the image.
        """
        match request:
            case None:
                return wrong_own_records(image, written)
            case rows.CreateTopicsRequest():
                return wrong_creations(image, self._facts, request, written)
            case rows.DeleteTopicsRequest():
                return wrong_deletions(image, request, written)
            case rows.BrokerRegistrationRequest():
                return wrong_registration(image, self._facts, offset, request, written)
            case rows.BrokerHeartbeatRequest():
                return wrong_heartbeat(image, request, written)
            case rows.UnregisterBrokerRequest():
                return wrong_unregistration(image, request, written)
            case partitions.AlterPartitionRequest():
                return wrong_alterations(image, request, written)
            case partitions.AllocateProducerIdsRequest():
                return wrong_allocation(image, request, written)
            case configs.IncrementalAlterConfigsRequest() | configs.AlterConfigsRequest():
                return wrong_config_changes(image, request, written)
            case _:
                return f"a {type(request).__name__} has written records" if written else None

    def wrong_answer(
        self, image: Image, request: Row, written: Sequence[Row], answer: Row
    ) -> str | None:
        """Return why an answer is wrong, or None; `wrong_records` has no complaint.

        Args:
            image: The image before the request.
            request: The request.
            written: The records of the request; empty if it wrote none.
            answer: The answer.
        """
        match request, answer:
            case rows.CreateTopicsRequest() as asked, rows.CreateTopicsResponse() as answered:
                return wrong_creation_answer(image, self._facts, asked, written, answered)
            case rows.DeleteTopicsRequest() as asked, rows.DeleteTopicsResponse() as answered:
                return wrong_deletion_answer(image, asked, answered)
            case (
                rows.BrokerRegistrationRequest() as asked,
                rows.BrokerRegistrationResponse() as answered,
            ):
                return wrong_registration_answer(image, self._facts, asked, written, answered)
            case rows.BrokerHeartbeatRequest() as asked, rows.BrokerHeartbeatResponse() as answered:
                return wrong_heartbeat_answer(image, asked, written, answered)
            case (
                rows.UnregisterBrokerRequest() as asked,
                rows.UnregisterBrokerResponse() as answered,
            ):
                return wrong_unregistration_answer(image, asked, answered)
            case (
                partitions.AlterPartitionRequest() as asked,
                partitions.AlterPartitionResponse() as answered,
            ):
                return wrong_alteration_answer(image, asked, answered)
            case (
                partitions.AllocateProducerIdsRequest() as asked,
                partitions.AllocateProducerIdsResponse() as answered,
            ):
                return wrong_allocation_answer(image, asked, answered)
            case (
                configs.IncrementalAlterConfigsRequest() as asked,
                configs.IncrementalAlterConfigsResponse() as answered,
            ):
                return wrong_config_answer(image, asked, written, answered)
            case (
                configs.AlterConfigsRequest() as asked,
                configs.AlterConfigsResponse() as answered,
            ):
                return wrong_config_answer(image, asked, written, answered)
            case _:
                return f"{type(answer).__name__} answers {type(request).__name__}"
