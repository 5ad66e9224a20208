"""The invariant that the status of a node is true.

Other invariants may then rely on the status. See evidence.py for the evidence.
"""

from collections.abc import Iterator

from typing_extensions import override

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
)
from kraftproof.cluster.simulated.invariants.quorum.evidence import (
    Leadership,
    NodeEvidence,
    QuorumEvidence,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.status import NodeStatus


class StatusIsAccurate(Invariant):
    """The status of a node is compared with its disk and messages, at each change of either."""

    statement = (
        "A node's status has the epoch, vote and leader of its disk, the ends of its log and "
        "snapshots, the image that it published, the role in which it acts, and a high watermark "
        "that follows from the Fetches and the flushes."
    )

    def __init__(self, config: ClusterConfig, evidence: QuorumEvidence) -> None:
        super().__init__()
        self._voters = config.voters
        self._majority = config.majority
        self._evidence = evidence
        self._judged: dict[int, NodeStatus] = {}
        self._known: dict[int, int] = {}
        """The high watermark of the last status, by node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._judged.pop(process.node_id, None)
        self._known.pop(process.node_id, None)

    @override
    def on_step(self, process: ProcessView) -> None:
        node, status = self._evidence.of(process), process.status
        if status is None:
            return
        judged = self._judged.get(process.node_id)
        if not node.has_news and (status is judged or status == judged):
            return
        self._judged[process.node_id] = status
        for fault in self._faults(process, node, status):
            self.monitor.report_violation(self, process, fault)
        node.has_news = node.has_led = False
        self._known[process.node_id] = status.high_watermark

    def _faults(
        self, process: ProcessView, node: NodeEvidence, status: NodeStatus
    ) -> Iterator[str]:
        disk, leads = node.disk, status.role == LEADER
        leader = disk.leader if leads or disk.leader != process.node_id else NO_NODE
        said = (status.epoch, status.voted_for, status.leader)
        if said != (disk.epoch, disk.voted_for, leader):
            yield f"epoch, vote and leader {said} as {status.role}, but the disk has {disk}"
        if leads and node.leadership is None:
            yield f"leads epoch {status.epoch}, which it has not won since its start"
        if node.has_led and not leads:
            yield f"has appended a record or served a Fetch in epoch {disk.epoch} as {status.role}"
        ends = (status.log_end, status.last_epoch, status.snapshot_end)
        if ends != (found := _ends(process.log)):
            yield f"end, last epoch and snapshot end {ends} of the log, which has {found}"
        if (status.image_offset, status.image_digest) != node.published and node.published[0]:
            yield f"image of offset {status.image_offset}, but published was {node.published[0]}"
        if (fault := self._high_watermark_fault(process, node, status)) is not None:
            yield fault

    def _high_watermark_fault(
        self, process: ProcessView, node: NodeEvidence, status: NodeStatus
    ) -> str | None:
        """Describe a high watermark that is too high or too low.

        The process has recovered its first high watermark from its disk.
        """
        end = status.high_watermark
        known = self._known.get(process.node_id, end)
        lower, upper = node.published[0], node.reported_high_watermark
        if node.leadership is not None:
            flushed, reached = self._committed(process, node.leadership)
            upper = max(upper, reached)
            if status.role == LEADER:
                lower = max(lower, flushed)
        least, most = max(known, lower), max(known, upper)
        if least <= end <= most:
            return None
        return f"high watermark {end}, but by the Fetches and flushes from {least} to {most}"

    def _committed(self, process: ProcessView, leadership: Leadership) -> tuple[int, int]:
        """Return the offsets that a majority has flushed, for sure and possibly.

        Offsets up to the start of the epoch count as 0. The process may not have heard of its last
        flush.
        """
        known_of = leadership.acknowledged.get
        acknowledged = [known_of(voter, 0) for voter in self._voters if voter != process.node_id]
        known, durable = leadership.flushed, process.log.durable_end
        lower = self._reached(leadership, known, acknowledged)
        if durable == known:
            return lower, lower
        return lower, self._reached(leadership, durable, acknowledged)

    def _reached(self, leadership: Leadership, own: int, acknowledged: list[int]) -> int:
        """Return the offset that a majority has flushed, if the leader has flushed its `own`."""
        end = sorted((own, *acknowledged), reverse=True)[self._majority - 1]
        return end if end > leadership.start_offset else 0


def _ends(log: LogMirror) -> tuple[int, int, int]:
    last_epoch = log.batches[-1].epoch if log.batches else log.start.epoch
    return log.end_offset, last_epoch, log.snapshots[-1].end_offset if log.snapshots else 0
