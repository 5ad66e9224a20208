"""Serve InitProducerId from blocks of ids that the controller allocates (KIP-730).

The broker asks for the next block before the present block is used up. An id is used once: the ids
of a block that a crash leaves unused are lost.
"""

from collections.abc import Callable
from typing import Final

from kraftproof.node.core.base.types import NO_NODE, Instant, Monotonic, NodeId, earliest
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    init_producer_id_request,
    init_producer_id_response,
)

_PREFETCH_AT: Final = 10
"""Divisor of a block: below this share, the broker asks for the next block."""
_RETRY_NS: Final = 50_000_000
NO_TRANSACTIONS: Final = ErrorCode.INVALID_TRANSACTION_TIMEOUT
"""The error of a request of a transaction: no time-out of a transaction is short enough.

Java and the clients of Python fail at once with any unknown error. librdkafka repeats the request
after every error but this, a denial and a fenced epoch; the other two would be false.
"""
_MOST_WAITING: Final = 1000
"""Maximum number of requests that wait for a block."""

InitRequest = init_producer_id_request.InitProducerIdRequest


class ProducerIds:
    """The producer ids of a broker."""

    __slots__ = (
        "_authorizer",
        "_block",
        "_broker_epoch",
        "_is_in_flight",
        "_leader",
        "_next_block",
        "_node_id",
        "_outbox",
        "_retry_at",
        "_timeout_ns",
        "_waiting",
    )

    def __init__(
        self,
        node_id: NodeId,
        outbox: Outbox,
        *,
        leader: Callable[[], NodeId],
        broker_epoch: Callable[[], int],
        timeout_ns: int,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._node_id = node_id
        self._outbox = outbox
        self._leader = leader
        self._broker_epoch = broker_epoch
        self._timeout_ns = timeout_ns
        self._block = range(0)
        self._next_block = range(0)
        self._waiting: list[tuple[Received, Monotonic]] = []
        """The requests without an id, with their deadlines."""
        self._is_in_flight = False
        self._retry_at: Monotonic | None = None

    def receive(self, event: Received, request: InitRequest, now: Instant) -> None:
        """Answer with a new id, or wait a short time for the first block."""
        denied = _denied(self._authorizer, event, request)
        if denied is not ErrorCode.NONE:
            self._refuse(event, denied)
            return
        if request.transactional_id is not None:
            self._refuse(event, NO_TRANSACTIONS)
            return
        if self._give(event):
            self._ask_if_low(now)
        elif len(self._waiting) >= _MOST_WAITING:
            self._refuse(event, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        else:
            self._waiting.append((event, Monotonic(now.monotonic + self._timeout_ns)))
            self._ask_if_low(now)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next retry or of the first expiration."""
        return earliest(self._waiting[0][1], self._retry_at) if self._waiting else self._retry_at

    def tick(self, now: Instant) -> None:
        """Refuse the requests that have waited too long, and ask again after an error."""
        while self._waiting and self._waiting[0][1] <= now.monotonic:
            self._refuse(self._waiting.pop(0)[0], ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        if self._retry_at is not None and self._retry_at <= now.monotonic:
            self._retry_at = None
            self._ask_if_low(now)

    def _give(self, event: Received) -> bool:
        if not self._block:
            self._block, self._next_block = self._next_block, range(0)
        if not self._block:
            return False
        answer = init_producer_id_response.InitProducerIdResponse(
            producer_id=self._block[0], producer_epoch=0
        )
        self._block = self._block[1:]
        self._outbox.reply(event, answer)
        return True

    def _ask_if_low(self, now: Instant) -> None:
        if self._is_in_flight or self._retry_at is not None or self._next_block:
            return
        if len(self._block) > 1000 // _PREFETCH_AT:
            return
        leader, epoch = self._leader(), self._broker_epoch()
        if leader == NO_NODE or epoch < 0:
            self._retry_at = Monotonic(now.monotonic + _RETRY_NS)
            return
        self._is_in_flight = True
        request = allocate_producer_ids_request.AllocateProducerIdsRequest(
            broker_id=self._node_id, broker_epoch=epoch
        )
        self._outbox.send(leader, request, 0, self._timeout_ns, self._answered)

    def _answered(self, message: Message | None, now: Instant) -> None:
        self._is_in_flight = False
        block = _block_of(message)
        if not block:
            self._retry_at = Monotonic(now.monotonic + _RETRY_NS)
            return
        self._next_block = block
        while self._waiting and self._give(self._waiting[0][0]):
            self._waiting.pop(0)
        self._ask_if_low(now)

    def _refuse(self, event: Received, error: ErrorCode) -> None:
        answer = init_producer_id_response.InitProducerIdResponse(
            error_code=error, producer_id=-1, producer_epoch=-1
        )
        self._outbox.reply(event, answer)


def _denied(authorizer: Authorizer | None, event: Received, request: InitRequest) -> ErrorCode:
    """Return the error of a producer without a right (KIP-679); NONE for a right."""
    if authorizer is None:
        return ErrorCode.NONE
    if request.transactional_id is not None:
        kind = ResourceKind.TRANSACTIONAL_ID
        is_allowed = authorizer.allows(event, Operation.WRITE, kind, request.transactional_id)
        return ErrorCode.NONE if is_allowed else ERRORS[kind]
    if authorizer.allows(event, Operation.IDEMPOTENT_WRITE, logs=False):
        return ErrorCode.NONE
    if authorizer.allows_any(event, Operation.WRITE, ResourceKind.TOPIC):
        return ErrorCode.NONE
    return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _block_of(message: Message | None) -> range:
    """Return the ids of an answer; none for an error or a lost answer."""
    if not isinstance(message, allocate_producer_ids_response.AllocateProducerIdsResponse):
        return range(0)
    if message.error_code != ErrorCode.NONE or message.producer_id_start < 0:
        return range(0)
    first = message.producer_id_start
    return range(first, first + message.producer_id_len)
