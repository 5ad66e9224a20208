"""Begin and end an epoch (KIP-595 "BeginQuorumEpoch", "EndQuorumEpoch"; 595-32 to 42).

A stopping leader announces the end of its epoch. A leader without a majority resigns silently
(progress.py).
"""

from functools import partial

from kraftproof.node.core.base.types import NO_NODE, Epoch, Instant, Monotonic, NodeId
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft import rpc
from kraftproof.node.core.raft.elections import Elections
from kraftproof.node.core.raft.peer_retries import retry_backoff_ns
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
)


class Announcements:
    """Send the leader's announcements and serve those of other leaders."""

    __slots__ = ("_elections", "_state", "_unanswered")

    def __init__(self, state: RaftState, elections: Elections) -> None:
        self._state = state
        self._elections = elections
        self._unanswered = 0

    @property
    def is_quiet(self) -> bool:
        """Return whether each EndQuorumEpoch has an answer or has timed out."""
        return self._unanswered == 0

    # As the leader

    def settle(self, now: Instant) -> None:
        """Send the due BeginQuorumEpochs to the voters that have not endorsed yet (595-33)."""
        state = self._state
        if not isinstance(state.role, Leader):
            return
        for voter in state.role.announcement.take_due(now.monotonic):
            state.outbox.send(
                voter,
                rpc.begin(state, voter),
                rpc.BEGIN_VERSION,
                state.timeouts.request_ns,
                partial(self._begin_answered, voter, state.epoch),
            )

    def deadline(self) -> Monotonic | None:
        """Return the time of the next BeginQuorumEpoch."""
        role = self._state.role
        return role.announcement.deadline() if isinstance(role, Leader) else None

    def _begin_answered(
        self, voter: NodeId, epoch: Epoch, message: Message | None, now: Instant
    ) -> None:
        state = self._state
        error: int | None = None
        if message is not None:
            assert isinstance(message, begin_quorum_epoch_response.BeginQuorumEpochResponse)
            answer = rpc.read_epoch_answer(message)
            state.on_epoch_info(answer.epoch, answer.leader, now)
            error = answer.error
        if not isinstance(state.role, Leader) or state.role.epoch != epoch:
            return
        if error == ErrorCode.NONE:
            state.role.announcement.done(voter)
        else:
            state.role.announcement.retry_later(voter, state.timeouts, now.monotonic)

    def end_epoch(self, now: Instant) -> None:
        """Tell each voter once that the leader stops; the best successor stands first (595-42)."""
        state = self._state
        assert isinstance(state.role, Leader), "only a leader ends its epoch"
        message = rpc.end(state, state.role.replicas.by_progress())
        for voter in state.peers:
            self._unanswered += 1
            state.outbox.send(
                voter, message, rpc.END_VERSION, state.timeouts.request_ns, self._end_answered
            )
        state.resign(now)

    def _end_answered(self, message: Message | None, _now: Instant) -> None:
        """Count the answer and ignore its content, since the node is leaving (595-41)."""
        self._unanswered -= 1

    # As a voter

    def receive_begin(
        self,
        event: Received,
        request: begin_quorum_epoch_request.BeginQuorumEpochRequest,
        now: Instant,
    ) -> None:
        """Endorse the leader of the current epoch or of a newer epoch."""
        state = self._state
        partition = rpc.begin_partition(request)
        if rpc.is_inconsistent_cluster(state.config, request.cluster_id):
            answer = begin_quorum_epoch_response.BeginQuorumEpochResponse(
                error_code=ErrorCode.INCONSISTENT_CLUSTER_ID
            )
        elif partition is None:
            answer = begin_quorum_epoch_response.BeginQuorumEpochResponse(
                error_code=ErrorCode.INVALID_REQUEST
            )
        else:
            error = self._begin_refusal(request, partition)
            if error is ErrorCode.NONE:
                state.on_epoch_info(Epoch(partition.leader_epoch), NodeId(partition.leader_id), now)
            answer = rpc.begin_answer(state, error)
        state.outbox.reply(event, answer)

    def _begin_refusal(
        self,
        request: begin_quorum_epoch_request.BeginQuorumEpochRequest,
        partition: begin_quorum_epoch_request.PartitionData,
    ) -> ErrorCode:
        state = self._state
        leader = partition.leader_id
        if request.voter_id not in (NO_NODE, state.node_id):
            return ErrorCode.INVALID_VOTER_KEY
        if not state.is_voter or leader not in state.voters:
            return ErrorCode.INCONSISTENT_VOTER_SET
        if partition.leader_epoch < state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if leader == state.node_id:
            return ErrorCode.INVALID_REQUEST
        is_known_epoch = partition.leader_epoch == state.epoch
        if is_known_epoch and state.durable.leader not in (NO_NODE, leader):
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE

    def receive_end(
        self,
        event: Received,
        request: end_quorum_epoch_request.EndQuorumEpochRequest,
        now: Instant,
    ) -> None:
        """Schedule a candidacy by the node's position among the preferred successors (595-39)."""
        state = self._state
        partition = rpc.end_partition(request)
        if rpc.is_inconsistent_cluster(state.config, request.cluster_id):
            answer = end_quorum_epoch_response.EndQuorumEpochResponse(
                error_code=ErrorCode.INCONSISTENT_CLUSTER_ID
            )
        elif partition is None:
            answer = end_quorum_epoch_response.EndQuorumEpochResponse(
                error_code=ErrorCode.INVALID_REQUEST
            )
        else:
            error = self._end_refusal(partition)
            if error is ErrorCode.NONE:
                state.on_epoch_info(Epoch(partition.leader_epoch), NodeId(partition.leader_id), now)
            answer = rpc.end_answer(state, error)
            state.outbox.reply(event, answer)
            if error is ErrorCode.NONE:
                self._schedule_candidacy(rpc.successors(partition).index(state.node_id), now)
            return
        state.outbox.reply(event, answer)

    def _end_refusal(self, partition: end_quorum_epoch_request.PartitionData) -> ErrorCode:
        state = self._state
        leader = partition.leader_id
        if not state.is_voter or leader not in (NO_NODE, *state.voters):
            return ErrorCode.INCONSISTENT_VOTER_SET
        if partition.leader_epoch < state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if leader in (NO_NODE, state.node_id):
            return ErrorCode.INVALID_REQUEST
        is_known_epoch = partition.leader_epoch == state.epoch
        if is_known_epoch and state.durable.leader not in (NO_NODE, leader):
            return ErrorCode.INVALID_REQUEST
        if state.node_id not in rpc.successors(partition):
            return ErrorCode.INCONSISTENT_VOTER_SET
        return ErrorCode.NONE

    def _schedule_candidacy(self, position: int, now: Instant) -> None:
        if self._state.is_stopping:
            return
        if position == 0:
            self._elections.become_candidate(now)
            return
        wait_ns = retry_backoff_ns(self._state.timeouts, position)
        self._state.on_leader_ended(Monotonic(now.monotonic + wait_ns))
