"""The invariants of the times of snapshots: none too early, none later than the interval (KIP-631).

A snapshot is due after so many records, or so much time with news, since the one before, the start
or a downloaded snapshot. See retention.py for the records that make a snapshot late.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct, field
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, Invariant, ProcessView
from kraftproof.cluster.simulated.invariants.resources.retention import LATE_NS, LONGEST_WRITE_NS
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.log.log import RECORD_ESTIMATE_BYTES
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus

SLACK_NS: Final = 1_000_000
"""Difference of two readings of a clock in one step."""


class Counted(Struct, kw_only=True):
    """What counts towards the next snapshot of a process."""

    end: int = 0
    """The offset from which records count."""
    since_ns: int
    """The earliest true time from which the interval counts."""
    stepped_ns: int
    """The true time at which a step changed the status last: no later than the present step."""
    reached: deque[tuple[int, int]] = field(default_factory=deque)
    """The later offsets of the image, each with a true time before the step that got there."""


class SnapshotsAreDue(Invariant):
    """A snapshot costs a pass over the image and the disk."""

    statement = (
        "A node begins a snapshot only after as many records, or as much time, as its "
        "configuration names since the snapshot before, a downloaded snapshot or the start."
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._records = -(-config.snapshots.bytes_between // RECORD_ESTIMATE_BYTES)
        self._interval_ns = config.snapshots.interval_ns
        self._counted: dict[int, Counted] = {}
        """By node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        now_ns = process.now_ns()
        self._counted[process.node_id] = Counted(since_ns=now_ns, stepped_ns=now_ns)

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        """Count from the snapshot; the effect may wait for a disk after its step."""
        stepped_ns = self._counted[process.node_id].stepped_ns
        self._counted[process.node_id] = Counted(
            end=snapshot.end_offset, since_ns=stepped_ns, stepped_ns=stepped_ns
        )

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        counted = self._counted[process.node_id]
        if before is None or before.image_offset != after.image_offset:
            counted.reached.append((after.image_offset, counted.stepped_ns))
        counted.stepped_ns = process.now_ns()

    @override
    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        """Judge a snapshot whose end was chosen at some time since the image reached the end."""
        counted, now_ns, end = self._counted[process.node_id], process.now_ns(), snapshot.end_offset
        records, waited_ns = end - counted.end, now_ns - counted.since_ns
        wait_ns = self._interval_ns * (1 - 2 * self.monitor.rate_error) - SLACK_NS
        if records < self._records and (not self._interval_ns or waited_ns < wait_ns):
            detail = (
                f"a snapshot after {records} records and {waited_ns / 1e9:.3f} s; "
                f"{self._records} records or {self._interval_ns / 1e9:g} s make one due"
            )
            self.monitor.report_violation(self, process, detail)
        counted.since_ns = counted.stepped_ns
        while counted.reached and counted.reached[0][0] <= end:
            _, counted.since_ns = counted.reached.popleft()
        counted.end = end


class SnapshotsKeepTheInterval(Invariant):
    """A cluster with few changes has a recent snapshot, too."""

    statement = (
        "A node with committed records above its newest snapshot begins another one within the "
        "configured interval, and 5 s more."
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._interval_ns = config.snapshots.interval_ns
        self._since: dict[int, int] = {}
        """Running time of the begin of the last snapshot, a download or the start, by node."""
        self._news: dict[int, int] = {}
        """Running time since which the image has records above the newest snapshot, by node."""
        self._is_writing: dict[int, bool] = {}

    def _count(self, process: ProcessView, *, is_writing: bool = False) -> None:
        self._since[process.node_id] = process.running_ns()
        self._is_writing[process.node_id] = is_writing
        self._news.pop(process.node_id, None)

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._count(process)

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._count(process)

    @override
    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._count(process, is_writing=True)

    @override
    def on_snapshot_completed(
        self, process: ProcessView, stored: StoredSnapshot, read: Callable[[], bytes]
    ) -> None:
        self._is_writing[process.node_id] = False

    @override
    def on_look(self, process: ProcessView) -> None:
        status, node = process.status, process.node_id
        if status is None or not self._interval_ns:
            return
        newest = process.log.snapshots[-1].end_offset if process.log.snapshots else 0
        if status.image_offset <= newest or process.image.before is not None:
            self._news.pop(node, None)
            return
        running_ns = process.running_ns()
        news_ns = running_ns - self._news.setdefault(node, running_ns)
        slow = 1 + 2 * self.monitor.rate_error
        late_ns = self._interval_ns * slow + LATE_NS
        if self._is_writing[node]:
            late_ns += LONGEST_WRITE_NS
        waited_ns = running_ns - self._since[node]
        if waited_ns > late_ns and news_ns > LATE_NS:
            self._since[node] = running_ns
            detail = f"no snapshot for {waited_ns / 1e9:.1f} s, the newest one ends at {newest}"
            self.monitor.report_violation(self, process, detail)
