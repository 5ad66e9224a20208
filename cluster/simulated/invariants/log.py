"""Invariants of the log and the high watermark (KIP-595 "Fetch").

Each class is one property with its statement. The invariants judge a node by its effects, disk
and messages; a node's own status is only the claim under test.
"""

from itertools import pairwise, takewhile
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN
from kraftproof.node.core.effects import Send
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import fetch_request
from kraftproof.node.wire.records.batch import Batch


class HighWatermarkNeverFalls(Invariant):
    """The high watermark of one process; a restarted process learns the high watermark anew."""

    statement = "A process's high watermark never falls, and its log is never cut below."

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is not None and after.high_watermark < before.high_watermark:
            detail = f"high watermark fell from {before.high_watermark} to {after.high_watermark}"
            self.monitor.report_violation(self, process, detail)
        if after.high_watermark > process.log.end_offset:
            end = process.log.end_offset
            detail = f"high watermark {after.high_watermark} is above the log end {end}"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_truncated(self, process: ProcessView, end_offset: int) -> None:
        status = process.status
        if status is not None and end_offset < status.high_watermark:
            detail = f"log cut to {end_offset}, below the high watermark {status.high_watermark}"
            self.monitor.report_violation(self, process, detail)


class CommitNeedsMajority(Invariant):
    """Committed records are durable on a majority."""

    statement = "Records below a high watermark are on the disks of a majority of voters."

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config
        self._voters: dict[int, ProcessView] = {}
        self._proved = 0

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        if process.node_id in self._config.voters:
            self._voters[process.node_id] = process

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        end = after.high_watermark
        if end <= self._proved:
            return
        self._proved = end
        ours = process.log.ending_at(end)
        holders = [
            voter.node_id for voter in self._voters.values() if _holds_durably(voter, end, ours)
        ]
        if len(holders) < self._config.majority:
            self.monitor.report_violation(
                self, process, f"commits offset {end}, durable on nodes {sorted(holders)} only"
            )


def _holds_durably(voter: ProcessView, end: int, batch: Batch | None) -> bool:
    if end <= voter.log.start.end_offset:
        return True  # in the voter's snapshot, which SnapshotMatchesLog compares
    if voter.log.durable_end < end:
        return False
    theirs = voter.log.ending_at(end)
    return batch is None or (theirs is not None and theirs.epoch == batch.epoch)


class AcknowledgedIsFlushed(Invariant):
    """A voter acknowledges flushed records only, by its status and by its Fetches."""

    statement = "A voter acknowledges no record that a loss of power could remove from its disk."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if after.flushed > process.log.durable_end:
            detail = f"claims {after.flushed} flushed, durable is {process.log.durable_end}"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        message = effect.message
        if process.node_id not in self._config.voters:
            return
        if not isinstance(message, fetch_request.FetchRequest):
            return
        offset = message.topics[0].partitions[0].fetch_offset
        if offset > process.log.durable_end:
            detail = f"fetches at {offset}, durable is {process.log.durable_end}"
            self.monitor.report_violation(self, process, detail)


class FlushedIsNeverLost(Invariant):
    """Flushed records survive a loss of power, by the log that the next start finds."""

    statement = "A starting process finds every record that was durable at the last process's end."

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        log = process.log
        if log.end_offset < log.promised_end:
            detail = f"the log ends at {log.end_offset}, but was durable to {log.promised_end}"
            self.monitor.report_violation(self, process, detail)


class CommittedIsNeverCut(Invariant):
    """A truncation by a diverging epoch keeps committed records (KIP-595 "Fetch response")."""

    statement = "A truncation never removes a committed record from a log."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log

    @override
    def on_truncated(self, process: ProcessView, end_offset: int) -> None:
        for batch in reversed(process.log.batches):
            if batch.next_offset <= end_offset:
                return
            if self._committed_log.at(batch.base_offset) == batch:
                detail = f"cut to {end_offset}, below {batch.last_offset} of epoch {batch.epoch}"
                self.monitor.report_violation(self, process, detail)


class LogMatching(Invariant):
    """Raft's Log Matching, by induction over each append."""

    statement = "Two logs that agree on offset and epoch of a record are equal up to the record."

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[tuple[int, int], tuple[Batch, tuple[int, int] | None]] = {}

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for first, second in pairwise(process.log.batches):
            self._see(process, second, (first.base_offset, first.epoch))
        if process.log.start == LOG_BEGIN and process.log.batches:
            self._see(process, process.log.batches[0], None)

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        batches = process.log.batches
        before = batches[-2] if len(batches) > 1 else None
        if before is None and process.log.start != LOG_BEGIN:
            return  # the previous batch is in a snapshot
        self._see(process, batch, None if before is None else (before.base_offset, before.epoch))

    def _see(self, process: ProcessView, batch: Batch, before: tuple[int, int] | None) -> None:
        key = (batch.base_offset, batch.epoch)
        first = self._first.setdefault(key, (batch, before))
        if (first[0] is not batch and first[0] != batch) or first[1] != before:
            detail = f"offset {key[0]}, epoch {key[1]}: differs, after {before} and {first[1]}"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_pruned(self, below: int) -> None:
        for key in list(takewhile(lambda key: key[0] < below, self._first)):
            del self._first[key]


class StateMachineSafety(Invariant):
    """Raft's State Machine Safety: each node commits the batches of the committed log."""

    statement = "Every node commits the same record at an offset."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        start = before.high_watermark if before is not None else 0
        if after.high_watermark <= start:
            return
        for batch in process.log.between(start, after.high_watermark):
            known = self._committed_log.commit(batch, after.epoch, process.now_ns())
            if known is not batch and known != batch:
                detail = (
                    f"commits epoch {batch.epoch} at offset {batch.base_offset}, where epoch "
                    f"{known.epoch} had committed"
                )
                self.monitor.report_violation(self, process, detail)


class LeaderCompleteness(Invariant):
    """Raft's Leader Completeness."""

    statement = "A leader's log holds every record committed in an earlier epoch."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        leads = after.role == LEADER
        if not leads or (before is not None and before.role == LEADER):
            return
        last = self._committed_log.last_before(after.epoch)
        if last is None or last.next_offset <= process.log.start.end_offset:
            return
        ours = process.log.ending_at(last.next_offset)
        if ours is not last and ours != last:
            detail = (
                f"leads epoch {after.epoch} without the committed offset {last.last_offset} of "
                f"epoch {last.epoch}"
            )
            self.monitor.report_violation(self, process, detail)


class CommitOnlyOwnEpoch(Invariant):
    """Raft's rule against Figure 8: the last committed record is of the leader's epoch."""

    statement = "A leader commits records of older epochs only with a record of its own epoch."

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if after.role != LEADER or before is None or before.role != LEADER:
            return
        if after.high_watermark == before.high_watermark:
            return
        last = process.log.ending_at(after.high_watermark)
        if last is None or last.epoch != after.epoch:
            epoch = None if last is None else last.epoch
            detail = (
                f"commits up to {after.high_watermark} in epoch {after.epoch}, where the last "
                f"record has epoch {epoch}"
            )
            self.monitor.report_violation(self, process, detail)
