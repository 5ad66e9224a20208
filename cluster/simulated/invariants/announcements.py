"""What must hold of the words by which epochs begin and end (KIP-595 Begin-, EndQuorumEpoch).

Not: who leads an epoch (election_invariants.py), Fetches (there, too).
"""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received, Stop
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
    vote_response,
)


class OlderEpochsAreRefused(Invariant):
    """Who comes late has no say (595-18, 595-34, 595-40, 631-34)."""

    sentence = "What is asked for in an epoch that is over is refused."
    requests: ClassVar[Requests] = (
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
        vote_request.VoteRequest,
    )

    def __init__(self) -> None:
        super().__init__()
        self._late: dict[tuple[int, int, int], int] = {}

    @override
    def received(self, process: ProcessView, event: Received) -> None:
        epoch = _epoch_of(event.message)
        if process.status is not None and 0 <= epoch < process.status.epoch:
            self._late[process.node_id, process.incarnation, event.request] = process.status.epoch

    @override
    def replying(self, process: ProcessView, event: Received, message: Message) -> None:
        epoch = self._late.pop((process.node_id, process.incarnation, event.request), None)
        if epoch is not None and not _is_error(message):
            name, late = type(event.message).__name__, _epoch_of(event.message)
            self.monitor.report_violation(
                self, process, f"in epoch {epoch} it grants the {name} of {late}"
            )


class SuccessorsHoldWhatCommitted(Invariant):
    """Who is to stand at once must be one that can win (595-38).

    A leader has heard that a majority holds what it has committed in its epoch. So whoever holds
    most of the others holds that.
    """

    sentence = "The successor that a leader prefers holds all that the leader knows as committed."
    requests: ClassVar[Requests] = (end_quorum_epoch_request.EndQuorumEpochRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._logs: dict[int, LogMirror] = {}

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        self._logs[process.node_id] = process.log

    @override
    def sent(self, process: ProcessView, effect: Send) -> None:
        status, message = process.status, effect.message
        assert isinstance(message, end_quorum_epoch_request.EndQuorumEpochRequest)
        partition = message.topics[0].partitions[0]
        named = [one.candidate_id for one in partition.preferred_candidates]
        first, *_ = (*named, *partition.preferred_successors, NO_NODE)
        if status is None or first not in self._logs:
            return
        committed = process.log.ending_at(status.high_watermark)
        if committed is None or committed.epoch != partition.leader_epoch:
            return  # of what committed before it led, it has heard from nobody who holds it
        end_offset = self._logs[first].end_offset
        if end_offset < status.high_watermark:
            detail = f"{first} ends at {end_offset}, committed is {status.high_watermark}"
            self.monitor.report_violation(self, process, detail)


class LeadersSayThatTheyStop(Invariant):
    """Others need not wait for a leader that is told to stop (595-38)."""

    sentence = "A leader that stops in order tells every other voter, in the step that it resigns."
    requests: ClassVar[Requests] = (end_quorum_epoch_request.EndQuorumEpochRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._told: dict[tuple[int, int], set[int]] = {}

    @override
    def sent(self, process: ProcessView, effect: Send) -> None:
        self._told.setdefault((process.node_id, process.incarnation), set()).add(effect.destination)

    @override
    def turned(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        if before is not None and isinstance(process.event, Stop):
            self._judge(process, before)

    @override
    def exited(self, process: ProcessView) -> None:
        if process.status is not None:
            self._judge(process, process.status)

    def _judge(self, process: ProcessView, before: NodeStatus) -> None:
        told = self._told.pop((process.node_id, process.incarnation), set())
        untold = sorted(self._voters - told - {process.node_id})
        if before.role == LEADER and untold:
            self.monitor.report_violation(
                self, process, f"stops leading epoch {before.epoch} and does not tell {untold}"
            )


def _epoch_of(message: Message) -> int:
    """Return the epoch that a request names, -1 if none."""
    match message:
        case vote_request.VoteRequest(topics=(votes, *_)):
            return votes.partitions[0].replica_epoch
        case (
            begin_quorum_epoch_request.BeginQuorumEpochRequest(topics=(word, *_))
            | end_quorum_epoch_request.EndQuorumEpochRequest(topics=(word, *_))
        ):
            return word.partitions[0].leader_epoch
        case fetch_snapshot_request.FetchSnapshotRequest(topics=(slices, *_)):
            return slices.partitions[0].current_leader_epoch
        case _:
            return -1


def _is_error(message: Message) -> bool:
    match message:
        case (
            vote_response.VoteResponse(error_code=code, topics=topics)
            | begin_quorum_epoch_response.BeginQuorumEpochResponse(error_code=code, topics=topics)
            | end_quorum_epoch_response.EndQuorumEpochResponse(error_code=code, topics=topics)
            | fetch_snapshot_response.FetchSnapshotResponse(error_code=code, topics=topics)
        ):
            return bool(code or (topics and topics[0].partitions[0].error_code))
        case _:
            return False
