"""The invariants of forwarded requests: deadlines and retries (KIP-590; docs/decisions/0264)."""

from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import ROUNDING_NS
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    delete_topics_request,
    envelope_response,
    unregister_broker_request,
)
from kraftproof.node.wire.principal import ANONYMOUS

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
        if not _is_of_a_super_user(request):
            return
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


def _is_of_a_super_user(forward: Forward) -> bool:
    """Return whether the invariants have heard of the client's request.

    `on_received` hears only requests of super users, and the forwards of equal requests of other
    clients prove nothing about these requests.
    """
    return forward.principal == ANONYMOUS


def _is_same(asked: Message, forwarded: Message) -> bool:
    """Return whether a request has the topics of a forwarded request."""
    if type(asked) is not type(forwarded):
        return False
    return bool(getattr(asked, "topics", None) == getattr(forwarded, "topics", None))


class Refused(Struct, kw_only=True):
    """A client's request that a controller has refused untried, and when and how often."""

    at_ns: int
    times: int
    """Number of refusals that this invariant has seen; the broker may have counted more."""
    leader: int
    """The controller that has refused."""


class ForwardsBackOff(Invariant):
    """A broker repeats a request that was refused untried, after a wait that grows.

    A new controller ends each wait. A request that found no controller waits longer, unseen here.
    """

    statement = (
        "A broker forwards a refused request to the same controller again only after the back-off, "
        "which grows with each refusal."
    )
    requests: ClassVar[Requests] = (
        create_topics_request.CreateTopicsRequest,
        delete_topics_request.DeleteTopicsRequest,
        unregister_broker_request.UnregisterBrokerRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._timeouts = config.timeouts
        self._open: dict[int, dict[int, Message]] = {}
        """By node and token: a client's request without an answer."""
        self._refused: dict[int, dict[int, Refused]] = {}
        """By node and token."""
        self._turned_ns: dict[int, int] = {}
        """When each node turned to another leader, or away from a leader."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for of_nodes in (self._open, self._refused, self._turned_ns):
            of_nodes.pop(process.node_id, None)

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is None or before.leader != after.leader:
            self._turned_ns[process.node_id] = process.now_ns()

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        if not event.on_controller_listener:
            self._open.setdefault(process.node_id, {})[event.request] = _untimed(event.message)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        self._open.get(process.node_id, {}).pop(event.request, None)
        self._refused.get(process.node_id, {}).pop(event.request, None)

    def _token(self, process: ProcessView, forward: Send | Forward) -> int | None:
        """Return the token of a forwarded request; None if several open requests are equal."""
        if not isinstance(forward, Forward) or not _is_of_a_super_user(forward):
            return None
        untimed = _untimed(forward.message)
        requests = self._open.get(process.node_id, {})
        tokens = [token for token, asked in requests.items() if asked == untimed]
        return tokens[0] if len(tokens) == 1 else None

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        is_refused = isinstance(answer, envelope_response.EnvelopeResponse)
        token = self._token(process, request)
        if not is_refused or token is None:
            return
        if getattr(answer, "error_code", 0) != ErrorCode.NOT_CONTROLLER:
            return
        refused = self._refused.setdefault(process.node_id, {})
        before = refused.get(token)
        refused[token] = Refused(
            at_ns=process.now_ns(),
            times=1 if before is None else before.times + 1,
            leader=request.destination,
        )

    @override
    def on_forwarding(self, process: ProcessView, effect: Forward) -> None:
        token = self._token(process, effect)
        refused = None if token is None else self._refused.get(process.node_id, {}).get(token)
        if refused is None or process.status is None:
            return
        has_turned = self._turned_ns.get(process.node_id, 0) >= refused.at_ns
        if has_turned or not refused.leader == effect.destination == process.status.leader:
            return
        timeouts, rate_error = self._timeouts, 2 * self.monitor.rate_error
        doubled_ns = timeouts.retry_backoff_ns << min(refused.times - 1, 16)
        least_ns = min(doubled_ns, timeouts.retry_backoff_max_ns) // 2 * (1 - rate_error)
        waited_ns = process.now_ns() - refused.at_ns
        if waited_ns < least_ns - ROUNDING_NS:
            detail = f"repeated {waited_ns / 1e6:.0f} ms after refusal {refused.times}"
            self.monitor.report_violation(self, process, detail)


def _untimed(message: Message) -> Message:
    """Return a request without the time of its client, which a broker shortens."""
    return replace(message, timeout_ms=0) if isinstance(message, Timed) else message
