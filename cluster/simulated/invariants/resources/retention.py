"""The invariants of what a node keeps on its disk, and copies to catch up (KIP-630).

The files are judged by their names on the simulated disk, not by what the node says.
"""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Events,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received, SnapshotWritten
from kraftproof.node.core.log.log import RECORD_ESTIMATE_BYTES
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    fetch_snapshot_request,
    fetch_snapshot_response,
)

MOST_SNAPSHOTS: Final = 2
"""Number of snapshots that a node keeps."""
MOST_DURING_DOWNLOAD: Final = 10
"""Number of snapshots that a node keeps while a replica downloads one of them."""
DOWNLOAD_TIMEOUTS: Final = 2
"""Number of fetch time-outs for which a slice keeps a snapshot; clocks drift."""
MOST_UNFINISHED: Final = 2
"""A snapshot that the node writes, and a copy of a leader's snapshot."""
MOST_COPIES: Final = 4
"""Largest number of times that one process receives the bytes of one snapshot."""
LATE_NS: Final = milliseconds(5_000)
"""Time from the record that makes a snapshot due to the begin of the write."""
LONGEST_WRITE_NS: Final = milliseconds(30_000)
"""Longest time of a write, whose fsyncs wait for the disk, before the next snapshot is due."""
LOOK_NS: Final = milliseconds(1_000)
SNAPSHOT: Final = re.compile(r"(\d{20})-\d{10}\.checkpoint")
SEGMENT: Final = re.compile(r"(\d{20})\.log")


class OldFilesAreDeleted(Invariant):
    """Segments that a kept snapshot covers, and old snapshots, would fill the disk.

    The cleaning after a write may wait for a flush. The next write shows whether it was done.
    """

    statement = (
        f"When a node has written a snapshot, it has {MOST_SNAPSHOTS} others at most "
        f"({MOST_DURING_DOWNLOAD} while a replica downloads one), {MOST_UNFINISHED} unfinished "
        "ones at most, and no segment that the write before covers; a start removes unfinished "
        "snapshots."
    )

    requests: ClassVar[Requests] = (fetch_snapshot_request.FetchSnapshotRequest,)
    step_events: ClassVar[Events] = (SnapshotWritten,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._download_ns = DOWNLOAD_TIMEOUTS * config.timeouts.fetch_ns
        self._start: dict[int, int] = {}
        """The start of the log for which the newest write has asked, by node."""
        self._served_ns: dict[int, int] = {}
        """The running time at which a node served the last slice."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for each in (self._start, self._served_ns):
            each.pop(process.node_id, None)
        unfinished = [name for name in process.log_files() if name.endswith(".part")]
        if unfinished:
            detail = f"{unfinished[0]} of an earlier process is still there after the start"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        assert isinstance(message, fetch_snapshot_response.FetchSnapshotResponse)
        answered = [one for topic in message.topics for one in topic.partitions]
        if answered and not answered[0].error_code:
            self._served_ns[process.node_id] = process.running_ns()

    def _most(self, process: ProcessView) -> int:
        served_ns = self._served_ns.get(process.node_id)
        if served_ns is None or process.running_ns() - served_ns > self._download_ns:
            return MOST_SNAPSHOTS
        return MOST_DURING_DOWNLOAD

    @override
    def on_step(self, process: ProcessView) -> None:
        most = self._most(process)
        names = process.log_files()
        snapshots = _offsets(SNAPSHOT, names)
        unfinished = sum(name.endswith(".part") for name in names)
        start = self._start.pop(process.node_id, 0)
        covered = sum(following <= start for _, following in pairwise(_offsets(SEGMENT, names)))
        problem = None
        if len(snapshots) > most + 1:
            problem = f"{len(snapshots)} snapshots, which end at {snapshots}"
        elif unfinished > MOST_UNFINISHED:
            problem = f"{unfinished} unfinished snapshots"
        elif covered:
            problem = f"{covered} segments below the snapshot that ends at {start}"
        if problem is not None:
            self.monitor.report_violation(self, process, problem)
        if len(snapshots) >= MOST_SNAPSHOTS:
            self._start[process.node_id] = snapshots[max(0, len(snapshots) - most)]


def _offsets(name: re.Pattern[str], names: Iterable[str]) -> list[int]:
    return sorted(int(match[1]) for match in map(name.fullmatch, names) if match is not None)


class SnapshotsKeepUp(Invariant):
    """A log that no snapshot follows grows without a bound."""

    statement = (
        "A node writes a snapshot within 5 s once it has applied as many records since the newest "
        "snapshot as its configuration allows."
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._most_records = -(-config.snapshots.bytes_between // RECORD_ESTIMATE_BYTES)
        self._due: dict[int, int] = {}
        """Running time at which a snapshot of the process became due, by node."""
        self._begun: dict[int, int] = {}
        """Running time at which the process began the write under way, by node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._due.pop(process.node_id, None)
        self._begun.pop(process.node_id, None)

    @override
    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._begun[process.node_id] = process.running_ns()

    @override
    def on_snapshot_completed(
        self, process: ProcessView, stored: StoredSnapshot, read: Callable[[], bytes]
    ) -> None:
        self._begun.pop(process.node_id, None)
        self._due.pop(process.node_id, None)

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        newest = process.log.snapshots[-1].end_offset if process.log.snapshots else 0
        if after.image_offset - newest < self._most_records:
            self._due.pop(process.node_id, None)
            return
        running_ns = process.running_ns()
        begun_ns = self._begun.get(process.node_id, running_ns - LONGEST_WRITE_NS)
        if running_ns - begun_ns < LONGEST_WRITE_NS:
            return
        due_ns = self._due.setdefault(process.node_id, running_ns)
        if running_ns - due_ns > LATE_NS:
            self._due[process.node_id] = running_ns
            count = after.image_offset - newest
            detail = f"{count} records since the snapshot that ends at {newest}, "
            detail += f"{self._most_records} make a snapshot due"
            self.monitor.report_violation(self, process, detail)


class CatchUpIsBounded(Invariant):
    """A snapshot that is copied again and again takes the bandwidth of the cluster.

    A slice that is refused, or of another place, is a cause for one more copy.
    """

    statement = (
        f"A process receives the bytes of one snapshot at most {MOST_COPIES} times, and once more "
        "for each refused slice."
    )
    requests: ClassVar[Requests] = (fetch_snapshot_request.FetchSnapshotRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._received: dict[int, dict[tuple[int, int], int]] = {}
        """Bytes that the node's process has received, by node, then end and epoch of a snapshot."""
        self._refused: dict[int, int] = {}
        """Number of refused slices of the node's process, by node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._received[process.node_id] = {}
        self._refused[process.node_id] = 0

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        assert isinstance(answer, fetch_snapshot_response.FetchSnapshotResponse)
        asked = request.message
        assert isinstance(asked, fetch_snapshot_request.FetchSnapshotRequest)
        partitions = answer.topics[0].partitions if answer.topics else ()
        if not partitions or partitions[0].position != asked.topics[0].partitions[0].position:
            self._refused[process.node_id] += 1
        elif partitions[0].unaligned_records:
            self._count(process, partitions[0])
        else:
            self._refused[process.node_id] += 1

    def _count(self, process: ProcessView, one: fetch_snapshot_response.PartitionSnapshot) -> None:
        key = (one.snapshot_id.end_offset, one.snapshot_id.epoch)
        received = self._received[process.node_id]
        received[key] = received.get(key, 0) + len(one.unaligned_records)
        if received[key] > (MOST_COPIES + self._refused[process.node_id]) * one.size:
            detail = f"{received[key]} bytes of the snapshot {key}, whose size is {one.size}"
            self.monitor.report_violation(self, process, detail)
            received[key] = 0
