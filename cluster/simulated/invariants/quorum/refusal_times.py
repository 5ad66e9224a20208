"""The invariant of refusals by a leader: only the end of the time or of the leadership is a cause.

A request may wait for the activation, a large batch, a commit or the read barrier
(docs/decisions/0265). See open_requests.py for answers that come too late.
"""

from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.answers import OF_THE_CONTROLLER
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch

SLACK_NS: Final = milliseconds(5)
"""Difference of two readings of a clock in one step."""


class Waiting(Struct, kw_only=True):
    """A request to a leader."""

    epoch: int
    received_ns: int
    allowed_ns: int
    may_have_written: bool = False
    """Whether the leader has written a change since the request arrived."""


class RefusalsTakeTheirTime(Invariant):
    """A client that is refused for no reason asks again, or tells its user of a failure."""

    statement = (
        "A leader answers REQUEST_TIMED_OUT or NOT_CONTROLLER after the time that the request "
        "allows; when it resigns, REQUEST_TIMED_OUT means that a change was written."
    )
    requests: ClassVar[Requests] = OF_THE_CONTROLLER

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._request_ns = config.timeouts.request_ns
        self._waiting: dict[int, dict[int, Waiting]] = {}
        """By node, then token."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._waiting.pop(process.node_id, None)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        status = process.status
        if status is None or status.role != LEADER or not event.on_controller_listener:
            return
        timeout_ms = getattr(event.message, "timeout_ms", None)
        if timeout_ms is not None and timeout_ms <= 0:
            return  # its time is up at once
        allowed_ns = self._request_ns if timeout_ms is None else milliseconds(timeout_ms)
        self._waiting.setdefault(process.node_id, {})[event.request] = Waiting(
            epoch=status.epoch, received_ns=process.now_ns(), allowed_ns=allowed_ns
        )

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        """Note a change for all waiting requests: a step may decide several."""
        waiting = self._waiting.get(process.node_id)
        if waiting and any(type(record) is not records.NoOpRecord for record in batch.records):
            for request in waiting.values():
                request.may_have_written = True

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        waiting = self._waiting.get(process.node_id, {}).pop(event.request, None)
        status, codes = process.status, error_codes(message)
        if waiting is None or status is None or codes is None or len(codes) != 1:
            return
        (code,) = codes
        is_timeout = code == ErrorCode.REQUEST_TIMED_OUT
        if not is_timeout and code != ErrorCode.NOT_CONTROLLER:
            return
        is_leader = status.role == LEADER and status.epoch == waiting.epoch
        waited_ns = process.now_ns() - waiting.received_ns
        if waited_ns >= waiting.allowed_ns * (1 - 2 * self.monitor.rate_error) - SLACK_NS:
            return
        if is_leader or (is_timeout and not waiting.may_have_written):
            who = "the leader" if is_leader else "a resigned leader without a change"
            name = f"{type(event.message).__name__} after {waited_ns / 1e9:.3f} s"
            detail = f"{name}: {who} answers {ErrorCode(code).name}"
            self.monitor.report_violation(self, process, detail)
