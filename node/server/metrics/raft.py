"""Metrics of a node about its part in the quorum (KIP-595 "Monitoring", 595-70 to 74).

It watches the node from outside: the status after each step, and what the shell times. The names
are those of Kafka's group raft-metrics; `fsync-time`, `apply-time`, `high-watermark-time` and
`request-time` are ours (KIP-595 "Quorum Performance" asks for them without a name).
MetadataSnapshotOffsetLag is one of KIP-631's ("New Metrics", 631-103).
Simplification: apply time is the time of the core's whole step that applied something.
See exposition.py for the text, and catalogue.py for the names.
"""

import math
from collections import deque
from typing import Final

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, NO_NODE, Monotonic, Offset
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.metrics.sliding_windows import Window

WAITING_KEPT: Final = 10_000
"""Appends whose commit is timed at once; more than that many in flight are not timed."""
ROLES: Final = (
    "leader",
    "candidate",
    "voted",
    "follower",
    "unattached",
    "resigned",
    "observer",
)
LEADER: Final = "leader"
OBSERVER: Final = "observer"


class RaftMetrics:
    """The figures of one node, since its start."""

    __slots__ = (
        "_appended",
        "_apply_ms",
        "_began",
        "_candidate_since",
        "_commit_ms",
        "_committed",
        "_controllers",
        "_election_ms",
        "_fetched",
        "_flushed",
        "_fsync_ms",
        "_high_watermark_ms",
        "_idle_ns",
        "_request_ms",
        "_status",
        "_uncommitted",
        "_unreached",
    )

    def __init__(self, status: NodeStatus, now: Monotonic) -> None:
        self._status = status
        self._began = now
        self._candidate_since: Monotonic | None = None
        self._uncommitted: deque[tuple[Offset, Monotonic]] = deque()
        """End offset and time of each append of this leader that is not yet committed."""
        self._unreached: deque[tuple[Offset, Monotonic]] = deque()
        """End offset and time of each flush that the high watermark has not reached."""
        self._election_ms = Window(now)
        self._commit_ms = Window(now)
        self._committed = Window(now)
        self._controllers = int(status.leader != NO_NODE)
        self._high_watermark_ms = Window(now)
        self._request_ms = Window(now)
        self._fsync_ms = Window(now)
        self._apply_ms = Window(now)
        self._appended = Window(now)
        self._fetched = Window(now)
        self._idle_ns = Window(now)

    def observe(self, status: NodeStatus, now: Monotonic) -> None:
        """Take in what the node shows after a step."""
        before, self._status = self._status, status
        self._time_election(status, now)
        is_leader = status.role == LEADER
        if status.leader not in {NO_NODE, before.leader}:
            self._controllers += 1
        committed = status.high_watermark - before.high_watermark
        if committed > 0:
            self._committed.record(committed, now)
        if not is_leader:
            self._uncommitted.clear()
            self._unreached.clear()
        added = status.log_end - before.log_end
        if added > 0 and is_leader:
            self._appended.record(added, now)
            self._await(self._uncommitted, status.log_end, now)
        elif added > 0:
            self._fetched.record(added, now)
        if is_leader and status.flushed > before.flushed:
            self._await(self._unreached, status.flushed, now)
        self._reach(self._uncommitted, self._commit_ms, status.high_watermark, now)
        self._reach(self._unreached, self._high_watermark_ms, status.high_watermark, now)

    def _time_election(self, status: NodeStatus, now: Monotonic) -> None:
        """An election lasts from the first candidacy to a known leader, whoever that is."""
        if status.role == "candidate" and self._candidate_since is None:
            self._candidate_since = now
        if status.leader != NO_NODE and self._candidate_since is not None:
            _record_ms(self._election_ms, self._candidate_since, now)
            self._candidate_since = None

    @staticmethod
    def _await(waiting: "deque[tuple[Offset, Monotonic]]", offset: Offset, now: Monotonic) -> None:
        if len(waiting) < WAITING_KEPT:
            waiting.append((offset, now))

    @staticmethod
    def _reach(
        waiting: "deque[tuple[Offset, Monotonic]]",
        window: Window,
        high_watermark: Offset,
        now: Monotonic,
    ) -> None:
        while waiting and waiting[0][0] <= high_watermark:
            _, since = waiting.popleft()
            _record_ms(window, since, now)

    def answered(self, since: Monotonic, now: Monotonic) -> None:
        """Record the answer to an admin request of time `since`; its records have committed."""
        _record_ms(self._request_ms, since, now)

    def flushed(self, since: Monotonic, now: Monotonic) -> None:
        """An fsync has returned."""
        _record_ms(self._fsync_ms, since, now)

    def applied(self, since: Monotonic, now: Monotonic) -> None:
        """A step has applied what was committed."""
        _record_ms(self._apply_ms, since, now)

    def idled(self, since: Monotonic, now: Monotonic) -> None:
        """The node had nothing to do."""
        self._idle_ns.record(now - since, now)

    def gauges(self, now: Monotonic, unknown_voters: int) -> dict[str, float]:
        """Every figure by its name, but for the state, which is no number (595-71)."""
        status = self._status
        figures: dict[str, float] = {
            "current-leader": status.leader,
            "current-epoch": status.epoch,
            "current-vote": status.voted_for,
            "log-end-offset": status.log_end,
            "log-end-epoch": status.last_epoch,
            "high-watermark": status.high_watermark,
            "number-unknown-voter-connections": unknown_voters,
            "poll-idle-ratio-avg": self._idle_ratio(now),
        }
        times = {
            "election-latency": self._election_ms,
            "fsync-time": self._fsync_ms,
            "apply-time": self._apply_ms,
        }
        if status.role == LEADER:
            figures["append-records-rate"] = self._appended.rate(now)
            times["commit-latency"] = self._commit_ms
            times["high-watermark-time"] = self._high_watermark_ms
            times["request-time"] = self._request_ms
        elif status.role in {"follower", "observer"}:
            figures["fetch-records-rate"] = self._fetched.rate(now)
        for name, window in times.items():
            figures[f"{name}-avg"] = window.average(now)
            figures[f"{name}-max"] = window.largest(now)
        return figures

    def controller_gauges(self, now: Monotonic) -> dict[str, float]:
        """Return the metrics of KIP-631 for controllers; an observer has none of these."""
        status = self._status
        if status.role == OBSERVER:
            return {}
        figures: dict[str, float] = {
            "active-controller-count": int(status.role == LEADER),
            "new-active-controllers-count": self._controllers,
            "last-applied-record-offset": status.image_offset - 1,
            "last-committed-record-offset": status.high_watermark - 1,
            "metadata-lag": status.high_watermark - status.image_offset,
            "metadata-snapshot-offset-lag": status.high_watermark - status.snapshot_end,
        }
        if status.role == LEADER:
            figures["metadata-commit-latency-ms"] = self._commit_ms.average(now)
            figures["metadata-commit-rate-per-sec"] = self._committed.rate(now)
        return figures

    def broker_gauges(self) -> dict[str, float]:
        """Return the metrics of a broker; a node without a broker has none of these."""
        status = self._status
        if status.broker_state is None:
            return {}
        return {
            "broker-state": status.broker_state,
            "metadata-lag": status.high_watermark - status.image_offset,
            "broker-metadata-metrics-last-applied-record-offset": status.image_offset - 1,
        }

    def states(self) -> dict[str, bool]:
        """Each role, and whether it is the node's (current-state)."""
        return {role: role == self._status.role for role in ROLES}

    def _idle_ratio(self, now: Monotonic) -> float:
        """The share of its time that the node waited; it can't be told before any has passed."""
        if now <= self._began:
            return math.nan
        return min(1.0, self._idle_ns.rate(now) / 1_000_000_000)


def _record_ms(window: Window, since: Monotonic, now: Monotonic) -> None:
    window.record((now - since) / NANOSECONDS_PER_MS, now)
