"""The invariant of the pace of Fetches after failures and errors (595-56, 595-57).

Earliest times are true time, latest times running time of the process; see moments.py. A change of
the epoch, of the leader or of the fetched offset ends each wait.
"""

from typing import ClassVar, Final

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
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
)

FETCH: Final = fetch_request.FetchRequest
MOST_DOUBLINGS: Final = 16
Leadership = tuple[int, int]
"""An epoch and its leader as the status names them."""


class Pause(Struct, frozen=True, kw_only=True):
    """A wait before the next Fetch: its begin in true time, and its length by the node's clock."""

    since_ns: int
    wait_ns: int

    def earliest_ns(self, rate_error: float) -> int:
        """Return the earliest true time of its end, by the clock rates known at the next Fetch."""
        return int(self.since_ns + self.wait_ns * (1 - 2 * rate_error))


NO_PAUSE: Final = Pause(since_ns=0, wait_ns=0)


class FetchPace(Struct, kw_only=True):
    """The newest Fetch of a process, and the failures of earlier Fetches."""

    correlation: int = -1
    target: int = -1
    is_slice: bool = False
    """Whether the newest is a FetchSnapshot, which has retries of its own."""
    sent: Moment | None = None
    ended: Moment | None = None
    """When the newest Fetch or slice was answered or lost; None while one is in flight."""
    took_ns: int = 0
    leadership: Leadership = (-1, -1)
    """The leadership before the step of the newest Fetch."""
    failures: dict[int, tuple[int, Pause]]
    """The number of failures in a row, and the wait before the next Fetch, by target."""
    pause: Pause = NO_PAUSE
    """The wait before the next Fetch to any target."""
    fetch_offset: int = -1
    """The offset of the newest Fetch; another one after a snapshot was loaded."""
    doubt: str | None = None
    """A fault of the newest Fetch, unless its step has changed the leadership."""


class FetchesBackOff(Invariant):
    """A node waits before it repeats a failed Fetch, longer after each failure, but not for ever.

    A failed Fetch is lost or refused as a whole; another error is a reason to wait, too.
    """

    statement = (
        "A node repeats a failed Fetch to the same voter only after the back-off, and after a "
        "time-out if the failure took as long; an observer asks again within the longest of both."
    )
    requests: ClassVar[Requests] = (FETCH, fetch_snapshot_request.FetchSnapshotRequest)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._timeouts = config.timeouts
        self._voters = frozenset(config.voters)
        self._nodes: dict[int, FetchPace] = {}

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._nodes[process.node_id] = FetchPace(failures={})

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        pace = self._nodes[process.node_id]
        pace.failures.clear()
        pace.pause = NO_PAUSE
        pace.doubt = None

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        pace, status = self._nodes[process.node_id], process.status
        self._report_doubt(process, pace)
        now = moment(process)
        leadership = (-1, -1) if status is None else (status.epoch, status.leader)
        offset = _fetch_offset(effect.message) if isinstance(effect.message, FETCH) else None
        if leadership != pace.leadership:
            pace.failures.clear()
            pace.pause = NO_PAUSE
        elif offset is not None:
            if offset != pace.fetch_offset:
                pace.failures.clear()
                pace.pause = NO_PAUSE
            pace.doubt = self._fault(process, pace, effect.destination, now)
        if offset is not None:
            pace.fetch_offset = offset
        pace.correlation, pace.target = effect.correlation, effect.destination
        pace.is_slice = offset is None
        pace.sent, pace.ended, pace.leadership = now, None, leadership

    def _fault(self, process: ProcessView, pace: FetchPace, target: int, now: Moment) -> str | None:
        """Describe a Fetch that comes too early or too late; None if the time is right."""
        rate_error = self.monitor.rate_error
        times, pause = pace.failures.get(target, (0, NO_PAUSE))
        earliest_ns = max(pause.earliest_ns(rate_error), pace.pause.earliest_ns(rate_error))
        if now.true_ns < earliest_ns - ROUNDING_NS:
            early_ms = (earliest_ns - now.true_ns) / 1e6
            return f"a Fetch to node {target} after {times} failures, {early_ms:.0f} ms too early"
        if process.node_id in self._voters or pace.ended is None:
            return None  # a voter waits for its flush before a Fetch
        timeouts = self._timeouts
        longest_ns = max(min(pace.took_ns, _timeout_ns(timeouts)), timeouts.retry_backoff_max_ns)
        waited_ns = now.running_ns - pace.ended.running_ns
        if waited_ns > longest_ns * (1 + 2 * rate_error) + SLACK_NS:
            return f"a Fetch to node {target} only {waited_ns / 1e6:.0f} ms after the one before"
        return None

    def _report_doubt(self, process: ProcessView, pace: FetchPace) -> None:
        """Report the fault of an earlier step, whose leadership is known now."""
        doubt, pace.doubt = pace.doubt, None
        if doubt is None or process.status is None:
            return
        if (process.status.epoch, process.status.leader) == pace.leadership:
            self.monitor.report_violation(self, process, doubt)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        pace = self._nodes[process.node_id]
        self._report_doubt(process, pace)
        if request.correlation != pace.correlation or pace.sent is None:
            if isinstance(answer, fetch_response.FetchResponse) and not answer.error_code:
                pace.failures.pop(request.destination, None)  # the voter answers, if late
            return
        pace.ended = moment(process)
        pace.took_ns = pace.ended.true_ns - pace.sent.true_ns
        if not isinstance(answer, fetch_response.FetchResponse):
            return
        if answer.error_code:
            self._failed(pace, pace.ended)
            return
        pace.failures.pop(pace.target, None)
        partitions = answer.responses[0].partitions if answer.responses else ()
        if not partitions or partitions[0].error_code:
            wait_ns = self._timeouts.retry_backoff_ns
            pace.pause = Pause(since_ns=pace.ended.true_ns, wait_ns=wait_ns)

    @override
    def on_unanswered(self, process: ProcessView, correlation: int) -> None:
        pace = self._nodes[process.node_id]
        if correlation == pace.correlation and pace.sent is not None:
            pace.ended = moment(process)
            pace.took_ns = pace.ended.true_ns - pace.sent.true_ns
            if not pace.is_slice:
                self._failed(pace, pace.ended)

    def _failed(self, pace: FetchPace, now: Moment) -> None:
        timeouts, rate_error = self._timeouts, self.monitor.rate_error
        times, _ = pace.failures.get(pace.target, (0, 0))
        doubled_ns = timeouts.retry_backoff_ns << min(times, MOST_DOUBLINGS)
        wait_ns = min(doubled_ns, timeouts.retry_backoff_max_ns)
        if pace.took_ns > _timeout_ns(timeouts) * (1 + 2 * rate_error) + ROUNDING_NS:
            _, leader = pace.leadership
            own_ns = timeouts.fetch_ns if pace.target == leader else timeouts.election_ns
            wait_ns = max(wait_ns, min(timeouts.request_ns, own_ns))
        pause = Pause(since_ns=now.true_ns, wait_ns=wait_ns)
        pace.failures[pace.target] = (times + 1, pause)


def _timeout_ns(timeouts: Timeouts) -> int:
    """Return the longest time-out that a Fetch may have."""
    return max(min(timeouts.request_ns, timeouts.fetch_ns), timeouts.election_ns)


def _fetch_offset(message: fetch_request.FetchRequest) -> int:
    """Return the offset of the first partition; -1 without partitions."""
    has_partition = message.topics and message.topics[0].partitions
    return message.topics[0].partitions[0].fetch_offset if has_partition else -1
