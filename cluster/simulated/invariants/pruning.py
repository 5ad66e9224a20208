"""Prunes the committed log and the invariants' state, which bounds the memory of a long run.

Each invariant drops its own state in `on_pruned`.
"""

from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.metadata.image import MetadataImage


class CommittedLogPruner(Invariant):
    """Prunes batches below the start of every log; reports no violation."""

    statement = "No node needs a record below the start of every log."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log
        self._logs: dict[int, LogMirror] = {}
        self._below = 0

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._logs[process.node_id] = process.log

    @override
    def on_log_cleaned(self, process: ProcessView) -> None:
        self._look()

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._look()

    def _look(self) -> None:
        below = min((log.start.end_offset for log in self._logs.values()), default=0)
        if below <= self._below:
            return
        self._below = below
        for forgotten in self.monitor.on_pruned:
            forgotten(below)
        self._committed_log.forget(below)
