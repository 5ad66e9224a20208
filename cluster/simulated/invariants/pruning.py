"""Lets the invariants forget what no log holds any more, so that a long run's memory is bounded.

Not: what each of them keeps, nor what of it can go (their own `forgotten`).
"""

from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.metadata.image import MetadataImage


class CommittedLogPruner(Invariant):
    """Watches where the logs start; it objects to nothing."""

    sentence = "What lies below the start of every log is not asked for again."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log
        self._logs: dict[int, LogMirror] = {}
        self._below = 0

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        self._logs[process.node_id] = process.log

    @override
    def cleaned(self, process: ProcessView) -> None:
        self._look()

    @override
    def loaded(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        self._look()

    def _look(self) -> None:
        below = min((log.start.end_offset for log in self._logs.values()), default=0)
        if below <= self._below:
            return
        self._below = below
        for forgotten in self.monitor.on_pruned:
            forgotten(below)
        self._committed_log.forget(below)
