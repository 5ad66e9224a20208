"""The invariant of the deadlines of forwarded requests (KIP-590; docs/decisions/0264)."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message, create_topics_request, delete_topics_request

Timed = create_topics_request.CreateTopicsRequest | delete_topics_request.DeleteTopicsRequest
MARGIN_FRACTION = 10
"""Divisor of the client's time: the largest part that a broker keeps for its own answer."""
ROUNDING_MS = 2


class ForwardsKeepDeadlines(Invariant):
    """The controller gets the rest of the client's time, less a margin for the answer's way."""

    statement = (
        "A broker forwards a request with the time that its client still waits, without a margin "
        "of a tenth at most, and waits no longer for the answer; for a connection, the broker "
        "waits one request time-out at most."
    )
    requests: ClassVar[Requests] = (
        create_topics_request.CreateTopicsRequest,
        delete_topics_request.DeleteTopicsRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._request_ns = config.timeouts.request_ns
        self._open: dict[int, dict[int, tuple[Message, int]]] = {}
        """By node and token: a request without an answer, and the true time of its arrival."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._open.pop(process.node_id, None)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        arrived = (event.message, process.now_ns())
        self._open.setdefault(process.node_id, {})[event.request] = arrived

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        self._open.get(process.node_id, {}).pop(event.request, None)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if not isinstance(request, Forward):
            return
        if request.connect_ns > min(request.timeout_ns, self._request_ns):
            detail = f"waits {request.connect_ns / 1e6:.0f} ms for a connection"
            self.monitor.report_violation(self, process, detail)
        faults = [
            self._fault(request, asked, process.now_ns() - arrived_ns)
            for asked, arrived_ns in self._open.get(process.node_id, {}).values()
            if _is_same(asked, request.message)
        ]
        if faults and None not in faults:
            self.monitor.report_violation(self, process, str(faults[0]))

    def _fault(self, request: Forward, asked: Message, elapsed_ns: int) -> str | None:
        """Describe a wrong time-out of a forwarded request; None if it may be right."""
        assert isinstance(asked, Timed), "the only types of its requests"
        assert isinstance(request.message, Timed), "the only types of its requests"
        client_ms, passed_ms = asked.timeout_ms, request.message.timeout_ms
        if client_ms <= 0:
            return None  # the client names no time
        elapsed_ms = elapsed_ns * (1 + 2 * self.monitor.rate_error) / NANOSECONDS_PER_MS
        waits_ms = request.timeout_ns / NANOSECONDS_PER_MS
        least_ms = client_ms - client_ms / MARGIN_FRACTION - elapsed_ms - ROUNDING_MS
        for name, given_ms in (("passes on", passed_ms), ("waits", waits_ms)):
            if given_ms > client_ms + ROUNDING_MS or given_ms < least_ms:
                return f"{name} {given_ms:.0f} ms of {client_ms} ms, at most {elapsed_ms:.0f} used"
        if passed_ms > waits_ms + ROUNDING_MS:
            return f"passes on {passed_ms} ms, and waits {waits_ms:.0f} ms for the answer"
        return None


def _is_same(asked: Message, forwarded: Message) -> bool:
    """Return whether a request has the topics of a forwarded request."""
    if type(asked) is not type(forwarded):
        return False
    return bool(getattr(asked, "topics", None) == getattr(forwarded, "topics", None))
