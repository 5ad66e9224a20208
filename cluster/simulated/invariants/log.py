"""What must hold of the log and the high watermark at every moment (KIP-595 "Fetch").

Each class is one property with its sentence. They judge by effects, disks and messages, and use a
node's word about itself only as the claim that is to be tested. Not: elections
(election_invariants.py), metadata (metadata_invariants.py).
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
from kraftproof.node.wire.messages.batch import Batch


class HighWatermarkNeverFalls(Invariant):
    """Per incarnation of a process; it is learned anew after a restart."""

    sentence = "The high watermark of a process never falls, nor is its log cut below it."

    @override
    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        if before is not None and after.high_watermark < before.high_watermark:
            detail = f"high watermark {after.high_watermark} after {before.high_watermark}"
            self.monitor.report_violation(self, process, detail)
        if after.high_watermark > process.log.end_offset:
            end = process.log.end_offset
            detail = f"high watermark {after.high_watermark} is past the log's end {end}"
            self.monitor.report_violation(self, process, detail)

    @override
    def truncated(self, process: ProcessView, end_offset: int) -> None:
        status = process.status
        if status is not None and end_offset < status.high_watermark:
            detail = f"log cut to {end_offset}, below the high watermark {status.high_watermark}"
            self.monitor.report_violation(self, process, detail)


class CommitNeedsMajority(Invariant):
    """Durability of what is committed."""

    sentence = "What is below a high watermark is on the disks of a majority of voters."

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config
        self._voters: dict[int, ProcessView] = {}
        self._proved = 0

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        if process.node_id in self._config.voters:
            self._voters[process.node_id] = process

    @override
    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
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
                self, process, f"commits up to {end}, which is durable on {sorted(holders)} only"
            )


def _holds_durably(voter: ProcessView, end: int, batch: Batch | None) -> bool:
    if end <= voter.log.start.end_offset:
        return True  # in its snapshot, which is compared elsewhere
    if voter.log.durable_end < end:
        return False
    theirs = voter.log.ending_at(end)
    return batch is None or (theirs is not None and theirs.epoch == batch.epoch)


class AcknowledgedIsFlushed(Invariant):
    """What a node claims to have flushed, to others by its Fetches and to itself."""

    sentence = "A voter vouches for nothing that a loss of power would take from it."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config

    @override
    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        if after.flushed > process.log.durable_end:
            detail = f"flushed {after.flushed}, durable {process.log.durable_end}"
            self.monitor.report_violation(self, process, detail)

    @override
    def sent(self, process: ProcessView, effect: Send) -> None:
        message = effect.message
        if process.node_id not in self._config.voters:
            return
        if not isinstance(message, fetch_request.FetchRequest):
            return
        offset = message.topics[0].partitions[0].fetch_offset
        if offset > process.log.durable_end:
            detail = f"fetches at {offset}, durable {process.log.durable_end}"
            self.monitor.report_violation(self, process, detail)


class FlushedIsNeverLost(Invariant):
    """What storage has called durable, by what a start finds after a loss of power."""

    sentence = "A start finds everything that was durable when the last process ended."

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        log = process.log
        if log.end_offset < log.promised_end:
            detail = f"the log ends at {log.end_offset}, was durable to {log.promised_end}"
            self.monitor.report_violation(self, process, detail)


class CommittedIsNeverCut(Invariant):
    """A follower's log as its leader's diverging epochs leave it (KIP-595 "Fetch response")."""

    sentence = "No log that holds a committed record is cut below it."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log

    @override
    def truncated(self, process: ProcessView, end_offset: int) -> None:
        for batch in reversed(process.log.batches):
            if batch.next_offset <= end_offset:
                return
            if self._committed_log.at(batch.base_offset) == batch:
                detail = f"cut to {end_offset}, below {batch.last_offset} of epoch {batch.epoch}"
                self.monitor.report_violation(self, process, detail)


class LogMatching(Invariant):
    """Log matching, by induction over each append."""

    sentence = "Two logs with a record of one offset and epoch are equal up to it."

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[tuple[int, int], tuple[Batch, tuple[int, int] | None]] = {}

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        for first, second in pairwise(process.log.batches):
            self._see(process, second, (first.base_offset, first.epoch))
        if process.log.start == LOG_BEGIN and process.log.batches:
            self._see(process, process.log.batches[0], None)

    @override
    def appended(self, process: ProcessView, batch: Batch) -> None:
        batches = process.log.batches
        before = batches[-2] if len(batches) > 1 else None
        if before is None and process.log.start != LOG_BEGIN:
            return  # what it follows is in a snapshot
        self._see(process, batch, None if before is None else (before.base_offset, before.epoch))

    def _see(self, process: ProcessView, batch: Batch, before: tuple[int, int] | None) -> None:
        key = (batch.base_offset, batch.epoch)
        first = self._first.setdefault(key, (batch, before))
        if (first[0] is not batch and first[0] != batch) or first[1] != before:
            detail = f"offset {key[0]}, epoch {key[1]}, after {before} and after {first[1]}"
            self.monitor.report_violation(self, process, detail)

    @override
    def forgotten(self, below: int) -> None:
        for key in list(takewhile(lambda key: key[0] < below, self._first)):
            del self._first[key]


class StateMachineSafety(Invariant):
    """State machine safety, with the committed_log of what was committed first."""

    sentence = "A committed record is never changed, on any node."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log

    @override
    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        start = before.high_watermark if before is not None else 0
        if after.high_watermark <= start:
            return
        for batch in process.log.between(start, after.high_watermark):
            known = self._committed_log.commit(batch, after.epoch, process.now_ns())
            if known is not batch and known != batch:
                detail = f"offset {batch.base_offset}: epoch {batch.epoch}, was {known.epoch}"
                self.monitor.report_violation(self, process, detail)


class LeaderCompleteness(Invariant):
    """Leader completeness."""

    sentence = "A leader's log holds every record committed in an earlier epoch."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log

    @override
    def turned(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        leads = after.role == LEADER
        if not leads or (before is not None and before.role == LEADER):
            return
        last = self._committed_log.last_before(after.epoch)
        if last is None or last.next_offset <= process.log.start.end_offset:
            return
        ours = process.log.ending_at(last.next_offset)
        if ours is not last and ours != last:
            detail = f"epoch {after.epoch} lacks offset {last.last_offset} of epoch {last.epoch}"
            self.monitor.report_violation(self, process, detail)


class CommitOnlyOwnEpoch(Invariant):
    """The extra condition on commitment, without which Raft's Figure 8 loses data."""

    sentence = "A leader commits up to a record of its own epoch, never to an older one alone."

    @override
    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        if after.role != LEADER or before is None or before.role != LEADER:
            return
        if after.high_watermark == before.high_watermark:
            return
        last = process.log.ending_at(after.high_watermark)
        if last is None or last.epoch != after.epoch:
            epoch = None if last is None else last.epoch
            detail = f"epoch {after.epoch}: {after.high_watermark} ends with epoch {epoch}"
            self.monitor.report_violation(self, process, detail)
