"""A controller without a cluster: it decides requests one after the other, and applies the records.

Each record commits at once. The image is kept three times: by the node's code, by the reference of
committed/reference_image.py, and by the specification of the controller.
"""

from copy import copy
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.committed.reference_image import (
    Entities,
    apply_to_entities,
    entities_of_image,
    first_difference,
)
from kraftproof.cluster.simulated.differential.core.derived_parts import compare_derived
from kraftproof.cluster.simulated.differential.core.refusals import compare_parts
from kraftproof.cluster.simulated.differential.difference import DifferenceError, check, same
from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.cluster.simulated.process_view import ClusterConfig
from kraftproof.cluster.simulated.security import TOKENS
from kraftproof.node.core.base.config import AuthorizerPolicy, NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.controller.authorized import decide_metered
from kraftproof.node.core.controller.decisions import DecisionContext
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all, apply_batch
from kraftproof.node.core.metadata.digest import recompute_digest
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.slices import PartlyApplied, work_of
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.core.metadata.version import bootstrap_of
from kraftproof.node.core.quotas.mutations import MutationQuotas
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from kraftproof.node.wire.records.batch import Batch, Record

CLUSTER_ID: Final = "a-cluster-of-one-controller"
CONTROLLER: Final = NodeId(1)
VOTERS: Final = (CONTROLLER, NodeId(2), NodeId(3))
"""The controllers of a quorum of three."""
START_NS: Final = 1_767_225_600_000_000_000
REFUSED_WITH: Final = (
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
)
"""The errors with which a controller refuses whole requests."""
MOST_RECORDS: Final = 600
"""Number of records above which only the whole batch is applied, and not its parts."""


class DecidingNode:
    """The decisions of an active controller, each compared with the specification."""

    def __init__(
        self, random: Random, make_specification: MakeSpecification, level: int | None = None
    ) -> None:
        self.random = random
        self.image: MetadataImage = EMPTY_IMAGE
        self.now = Instant(monotonic=Monotonic(0), wall=WallClock(START_NS))
        self.offset = Offset(0)
        timeouts = Timeouts()
        authorizer = random.choice((None, AuthorizerPolicy()))
        # A copy draws the voters, so that recorded seeds keep their runs.
        voters = copy(random).choice(((CONTROLLER,), VOTERS))
        self._config = NodeConfig(
            node_id=CONTROLLER,
            cluster_id=CLUSTER_ID,
            is_controller=True,
            is_broker=False,
            voters=tuple(Voter(node_id=node, host="h", port=9_093) for node in voters),
            endpoints=(),
            timeouts=timeouts,
            tokens=TOKENS,
            authorizer=authorizer,
        )
        cluster = ClusterConfig(
            voters=voters, timeouts=timeouts, cluster_id=CLUSTER_ID, authorizer=authorizer
        )
        self._specification: Any = make_specification(cluster)
        self._known = self._specification.empty
        self._entities: Entities = {}
        self._sessions = Sessions(timeouts.session_ns)
        self._mutations = MutationQuotas(self._config.mutation_quotas)
        self._requests = 0
        first, others = bootstrap_of(())
        if level is not None:
            first = replace(first, feature_level=level)
        self.write((first, *others))

    def passes(self, milliseconds: int) -> None:
        """Let time pass."""
        ns = milliseconds * 1_000_000
        self.now = Instant(
            monotonic=Monotonic(self.now.monotonic + ns), wall=WallClock(self.now.wall + ns)
        )

    def ask(self, message: Message, version: int, principal: Principal = ANONYMOUS) -> Message:
        """Decide a client's request, judge the result, and write its records.

        Raises:
            DifferenceError: the specification does not allow the records or the answer.
        """
        self._requests += 1
        self.refuse(message)
        event = Received(
            request=self._requests,
            message=message,
            version=version,
            on_controller_listener=True,
            principal=principal,
            client_host="client",
        )
        context = DecisionContext(
            image=self.image,
            config=self._config,
            random=self.random,
            next_offset=self.offset,
            sessions=self._sessions,
            now=self.now,
            principal=principal,
            version=version,
        )
        outcome = decide_metered(self._mutations, None, event, context)
        if outcome.contact is not None:
            self._sessions.lease([outcome.contact], self.now)
        (asked,) = self._specification.rows((message,))
        written = self._specification.rows(outcome.records)
        wrong = self._specification.wrong_records(self._known, self.offset, asked, written)
        codes = error_codes(outcome.reply) or frozenset()
        if wrong is None and codes - {int(ErrorCode.REQUEST_TIMED_OUT)}:
            (answer,) = self._specification.rows((outcome.reply,))
            wrong = self._specification.wrong_answer(self._known, asked, written, answer)
        if wrong is not None:
            raise DifferenceError(f"{type(message).__name__} v{version}: {wrong}")
        self.write(outcome.records)
        return outcome.reply

    def refuse(self, message: Message) -> None:
        """Compare the code of a refusal of a whole request, or of each part, with the error.

        Raises:
            DifferenceError: a refusal has another error, or other parts than the request.
        """
        error = self.random.choice(REFUSED_WITH)
        answer = refusal(message, error, "a reason")
        codes = error_codes(answer) if hasattr(answer, "error_code") else None
        same(f"the errors of a refused {type(message).__name__}", codes or {error}, {error})
        compare_parts(message, answer)

    def write_own(self, what: str, written: tuple[Record, ...]) -> None:
        """Write records of the controller's own, such as those of a fencing.

        Raises:
            DifferenceError: the specification does not allow the records.
        """
        rows = self._specification.rows(written)
        wrong = self._specification.wrong_records(self._known, self.offset, None, rows)
        if wrong is not None:
            raise DifferenceError(f"{what}: {wrong}")
        self.write(written)

    def write(self, written: tuple[Record, ...]) -> None:
        """Apply the records of a batch in the node's code and in the references."""
        if not written:
            return
        batch = Batch(base_offset=self.offset, epoch=1, timestamp_ms=0, records=written)
        self._known = self._specification.after(self._known, self._specification.rows(written))
        apply_to_entities(self._entities, batch)
        after = apply_batch(self.image, batch)
        if len(written) <= MOST_RECORDS:
            self._apply_in_parts(batch, after)
        self.image = after
        self.offset = Offset(batch.next_offset)

    def _apply_in_parts(self, batch: Batch, whole: MetadataImage) -> None:
        """Apply a batch in parts of a drawn amount of work."""
        most = self.random.choice((1, 2, 3, 10, 500))
        partly = PartlyApplied(batch=batch, applied=0, image=self.image)
        whole_work = sum(work_of(self.image, record) for record in batch.records)
        for bound in (most, whole_work - 1, whole_work):
            same(f"a batch fits into {bound}", partly.fits(bound), whole_work <= bound)
        taken: list[Record] = []
        while not partly.is_whole:
            part, work = partly.rest(most)
            works = [work_of(partly.image, record) for record in part.records]
            same("the work of a part", work, sum(works))
            check("a part has no more work than it may", work <= most or len(works) == 1)
            same("the offset of a part", part.base_offset, batch.base_offset + len(taken))
            following = batch.records[partly.applied + len(works) :][:1]
            more = sum(work_of(partly.image, record) for record in following)
            check("a part has as much work as it may", not following or work + more > most)
            image = apply_all(partly.image, part.records)
            applied = partly.applied + len(part.records)
            taken += part.records
            partly = PartlyApplied(batch=batch, applied=applied, image=image)
        same("the records of the parts", tuple(taken), batch.records)
        same("the image after the parts", partly.image.digest, whole.digest)

    def compare(self) -> None:
        """Compare the images with each other, and with the image of a snapshot.

        Raises:
            DifferenceError: the images differ.
        """
        difference = first_difference(self._entities, entities_of_image(self.image))
        if difference is not None:
            raise DifferenceError(f"the image: {difference}")
        loaded = apply_all(EMPTY_IMAGE, tuple(records_of(self.image)))
        difference = first_difference(self._entities, entities_of_image(loaded))
        if difference is not None:
            raise DifferenceError(f"the image of a snapshot: {difference}")
        same("the digest of the image of a snapshot", loaded.digest, self.image.digest)
        same("the digest", self.image.digest, recompute_digest(self.image))
        compare_derived(self.image)
        compare_derived(loaded)
