"""Invariants that bound what a node keeps and copies (KIP-630; KIP-631 "Snapshots").

Each bound is a number, judged by the disk and the wire. See snapshots.py for the contents.
"""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    fetch_snapshot_request,
    fetch_snapshot_response,
)

MOST_SNAPSHOTS: Final = 2
"""Largest number of snapshots on a disk after a cleaning: the newest, and the log's start."""
COPIES: Final = 3
"""Largest number of bytes received for one snapshot, as a multiple of the file's size."""


class SnapshotsAreFew(Invariant):
    """Old snapshots are deleted with the log below the snapshots."""

    statement = f"A disk holds at most {MOST_SNAPSHOTS} snapshots after a cleaning."

    @override
    def on_log_cleaned(self, process: ProcessView) -> None:
        self._count(process)

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._count(process)

    def _count(self, process: ProcessView) -> None:
        kept = process.log.snapshots
        if len(kept) > MOST_SNAPSHOTS:
            self.monitor.report_violation(self, process, f"{len(kept)} snapshots: {kept}")


class SnapshotIsCopiedOnce(Invariant):
    """A download goes on where it was; lost slices and abandoned copies may repeat some bytes."""

    statement = (
        f"A process receives at most {COPIES} times the bytes of a snapshot from one leader."
    )
    requests: ClassVar[Requests] = (fetch_snapshot_request.FetchSnapshotRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._received: dict[int, dict[tuple[int, int, int], int]] = {}

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._received.pop(process.node_id, None)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if not isinstance(answer, fetch_snapshot_response.FetchSnapshotResponse):
            return
        for topic in answer.topics:
            for one in topic.partitions:
                leader = request.destination
                key = (leader, one.current_leader.leader_epoch, one.snapshot_id.end_offset)
                received = self._received.setdefault(process.node_id, {})
                received[key] = received.get(key, 0) + len(one.unaligned_records)
                if received[key] > COPIES * one.size:
                    detail = (
                        f"{received[key]} bytes of the snapshot {key[2]} from node {leader}, "
                        f"whose file has {one.size}"
                    )
                    self.monitor.report_violation(self, process, detail)
