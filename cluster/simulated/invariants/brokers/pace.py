"""The invariant of the pace of a broker's requests to the controller (KIP-631 "Broker Leases").

The latest times are running time of the process, without pauses and waits for its disk. See
sessions.py for the controller's side.
"""

from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import (
    ROUNDING_NS,
    SLACK_NS,
    Moment,
    moment,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_registration_request,
)

HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
RegistrationRequest = broker_registration_request.BrokerRegistrationRequest
MOST_DOUBLINGS = 16


class Contact(Struct, kw_only=True):
    """The newest request of a broker to the controller."""

    effect: Send
    sent: Moment
    answered: Moment | None = None
    error: int = ErrorCode.NONE
    failures: int = MOST_DOUBLINGS
    """Number of failures in a row before the request; the largest where the number is unknown,
    since without a controller a broker counts failures without requests."""


class BrokersKeepPace(Invariant):
    """A broker asks the controller again when the interval or the wait after a failure is over."""

    statement = (
        "A broker with a known controller sends a heartbeat each interval, and repeats a failed "
        "request after at most the longest back-off, never at once."
    )
    requests: ClassVar[Requests] = (HeartbeatRequest, RegistrationRequest)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._timeouts = config.timeouts
        self._contacts: dict[int, Contact] = {}
        self._turned_ns: dict[int, int] = {}
        """When each node turned to another leader, or away from a leader."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._contacts.pop(process.node_id, None)
        self._turned_ns.pop(process.node_id, None)

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is None or before.leader != after.leader:
            self._turned_ns[process.node_id] = process.running_ns()

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        contact = self._contacts.get(process.node_id)
        if contact is not None and contact.effect.correlation == request.correlation:
            contact.answered = moment(process)
            contact.error = getattr(answer, "error_code", ErrorCode.NONE)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        now = moment(process)
        before = self._contacts.get(process.node_id)
        contact = self._contacts[process.node_id] = Contact(effect=effect, sent=now)
        if before is None or process.status is None:
            return
        turned_ns = self._turned_ns.get(process.node_id, 0)
        if turned_ns < before.sent.running_ns:
            has_failed = before.answered is None or before.error != ErrorCode.NONE
            contact.failures = before.failures + 1 if has_failed else 0
        if process.status.leader not in {NO_NODE, effect.destination}:
            return  # the step that turns to another leader has not ended
        latest_ns = max(self._latest_ns(before), turned_ns) + SLACK_NS
        if now.running_ns > latest_ns:
            self._report(process, before, "too late")
        elif turned_ns < before.sent.running_ns and now.true_ns < self._earliest_ns(before, effect):
            self._report(process, before, "too early")

    def _latest_ns(self, before: Contact) -> int:
        """Return the latest running time of the request that follows another request."""
        timeouts = self._timeouts
        stretched = 1 + 2 * self.monitor.rate_error
        if before.answered is None:
            wait_ns = timeouts.request_ns + timeouts.retry_backoff_max_ns * stretched
            return int(before.sent.running_ns + wait_ns)
        if before.error:
            doubled_ns = timeouts.retry_backoff_ns << min(before.failures, MOST_DOUBLINGS)
            wait_ns = min(doubled_ns, timeouts.retry_backoff_max_ns) * stretched
            return int(before.answered.running_ns + wait_ns)
        if isinstance(before.effect.message, RegistrationRequest):
            return before.answered.running_ns
        interval_ns = timeouts.heartbeat_interval_ns * stretched
        return max(before.answered.running_ns, int(before.sent.running_ns + interval_ns))

    def _earliest_ns(self, before: Contact, effect: Send) -> int:
        """Return the earliest true time of a request that repeats the request before."""
        message, last = effect.message, before.effect.message
        if type(message) is not type(last) or before.answered is None:
            return 0
        if _wishes(message) != _wishes(last):
            return 0
        least_ns = self._timeouts.retry_backoff_ns // 2
        shortened = 1 - 2 * self.monitor.rate_error
        interval_ns = 0
        if isinstance(message, HeartbeatRequest) and isinstance(last, HeartbeatRequest):
            is_leaving = message.want_shut_down
            timeouts = self._timeouts
            interval_ns = (
                timeouts.retry_backoff_ns if is_leaving else timeouts.heartbeat_interval_ns
            )
        if before.error:
            return int(before.answered.true_ns + least_ns * shortened) - ROUNDING_NS
        return int(before.sent.true_ns + interval_ns * shortened) - ROUNDING_NS

    def _report(self, process: ProcessView, before: Contact, how: str) -> None:
        after_ms = (process.running_ns() - before.sent.running_ns) / 1e6
        name = type(before.effect.message).__name__
        answered = "no answer" if before.answered is None else f"answer {before.error}"
        detail = f"{how}: the next request {after_ms:.0f} ms after {name} ({answered})"
        self.monitor.report_violation(self, process, detail)


def _wishes(message: Message) -> tuple[object, ...]:
    """Return the news of a request; a new wish or a failed directory waits for no interval."""
    if isinstance(message, HeartbeatRequest):
        return message.want_fence, message.want_shut_down, message.offline_log_dirs
    return (message.log_dirs,) if isinstance(message, RegistrationRequest) else ()
