"""Invariants of BeginQuorumEpoch, EndQuorumEpoch and of requests from old epochs (KIP-595).

See elections.py for the leaders of epochs and for Fetches.
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
    """Requests with an old epoch are fenced (595-18, 595-34, 595-40, 631-34)."""

    statement = "A node refuses each quorum request of an epoch below its own."
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
    def on_received(self, process: ProcessView, event: Received) -> None:
        epoch = _epoch_of(event.message)
        if process.status is not None and 0 <= epoch < process.status.epoch:
            self._late[process.node_id, process.incarnation, event.request] = process.status.epoch

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        epoch = self._late.pop((process.node_id, process.incarnation, event.request), None)
        if epoch is not None and not _is_error(message):
            name, late = type(event.message).__name__, _epoch_of(event.message)
            self.monitor.report_violation(
                self, process, f"grants a {name} of epoch {late} in epoch {epoch}"
            )


class SuccessorsHoldWhatCommitted(Invariant):
    """The preferred successor of a resigning leader can win the election (595-38).

    A majority of voters has acknowledged the records that the leader committed in its epoch, so
    the voter with the longest log holds these records.
    """

    statement = "The log of a leader's preferred successor reaches the leader's high watermark."
    requests: ClassVar[Requests] = (end_quorum_epoch_request.EndQuorumEpochRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._logs: dict[int, LogMirror] = {}

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._logs[process.node_id] = process.log

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        status, message = process.status, effect.message
        assert isinstance(message, end_quorum_epoch_request.EndQuorumEpochRequest)
        partition = message.topics[0].partitions[0]
        named = [one.candidate_id for one in partition.preferred_candidates]
        first, *_ = (*named, *partition.preferred_successors, NO_NODE)
        if status is None or first not in self._logs:
            return
        committed = process.log.ending_at(status.high_watermark)
        if committed is None or committed.epoch != partition.leader_epoch:
            return  # the leader does not know which voters hold records of earlier epochs
        end_offset = self._logs[first].end_offset
        if end_offset < status.high_watermark:
            detail = (
                f"the log of the preferred successor {first} ends at {end_offset}, below the high "
                f"watermark {status.high_watermark}"
            )
            self.monitor.report_violation(self, process, detail)


class LeadersSayThatTheyStop(Invariant):
    """A leader that shuts down lets the voters elect a successor at once (595-38)."""

    statement = "A leader that shuts down sends EndQuorumEpoch to every other voter as it resigns."
    requests: ClassVar[Requests] = (end_quorum_epoch_request.EndQuorumEpochRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._told: dict[tuple[int, int], set[int]] = {}

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        self._told.setdefault((process.node_id, process.incarnation), set()).add(effect.destination)

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is not None and isinstance(process.event, Stop):
            self._judge(process, before)

    @override
    def on_exited(self, process: ProcessView) -> None:
        if process.status is not None:
            self._judge(process, process.status)

    def _judge(self, process: ProcessView, before: NodeStatus) -> None:
        told = self._told.pop((process.node_id, process.incarnation), set())
        untold = sorted(self._voters - told - {process.node_id})
        if before.role == LEADER and untold:
            self.monitor.report_violation(
                self, process, f"resigns epoch {before.epoch} without EndQuorumEpoch to {untold}"
            )


def _epoch_of(message: Message) -> int:
    """Return the epoch of a request, or -1 if the request has no epoch."""
    match message:
        case vote_request.VoteRequest(topics=(vote_request.TopicData(partitions=(vote, *_)), *_)):
            return vote.replica_epoch
        case (
            begin_quorum_epoch_request.BeginQuorumEpochRequest(
                topics=(begin_quorum_epoch_request.TopicData(partitions=(word, *_)), *_)
            )
            | end_quorum_epoch_request.EndQuorumEpochRequest(
                topics=(end_quorum_epoch_request.TopicData(partitions=(word, *_)), *_)
            )
        ):
            return word.leader_epoch
        case fetch_snapshot_request.FetchSnapshotRequest(
            topics=(fetch_snapshot_request.TopicSnapshot(partitions=(part, *_)), *_)
        ):
            return part.current_leader_epoch
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
            refused = any(one.error_code for topic in topics for one in topic.partitions)
            return bool(code) or refused
        case _:
            return False
