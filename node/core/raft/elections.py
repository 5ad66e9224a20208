"""Vote, stand for election and win (KIP-595 "Vote", "Gridlocked Elections"; 595-12 to 28)."""

from functools import partial

from msgspec.structs import replace

from kraftproof.node.core.base.types import (
    LARGEST_EPOCH,
    NANOSECONDS_PER_MS,
    NO_NODE,
    Epoch,
    Instant,
    Monotonic,
    NodeId,
    Offset,
)
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft import rpc
from kraftproof.node.core.raft.quorum import VoteResult, vote_result
from kraftproof.node.core.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Observer,
    Resigned,
    Role,
    Unattached,
    Voted,
)
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, vote_request, vote_response
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.control import LeaderChange, LeaderChangeVoter

_NEVER_CANDIDATES = (Observer, Leader)


class Elections:
    """A voter's two sides of an election: voter and candidate."""

    __slots__ = ("_state",)

    def __init__(self, state: RaftState) -> None:
        self._state = state

    # As a voter

    def receive(self, event: Received, request: vote_request.VoteRequest, now: Instant) -> None:
        """Answer a Vote after the state behind the answer is persisted."""
        state = self._state
        partition = rpc.vote_partition(request)
        if rpc.is_inconsistent_cluster(state.config, request.cluster_id):
            answer = vote_response.VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
        elif partition is None:
            answer = vote_response.VoteResponse(error_code=ErrorCode.INVALID_REQUEST)
        else:
            error = self._refusal(request, partition, now)
            granted = error is ErrorCode.NONE and self._grant_or_refuse(partition, now)
            answer = rpc.vote_answer(state, error, granted=granted)
        state.outbox.reply(event, answer)

    def _refusal(
        self,
        request: vote_request.VoteRequest,
        partition: vote_request.PartitionData,
        now: Instant,
    ) -> ErrorCode:
        state = self._state
        epoch = Epoch(partition.replica_epoch)
        if not state.is_voter:
            return ErrorCode.INCONSISTENT_VOTER_SET
        if request.voter_id not in (NO_NODE, state.node_id):
            return ErrorCode.INVALID_VOTER_KEY
        if partition.pre_vote:
            return ErrorCode.INVALID_REQUEST
        if epoch < state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if partition.replica_id not in state.voters:
            if epoch > state.epoch:
                state.enter_epoch_to_campaign(epoch, now)
            return ErrorCode.INCONSISTENT_VOTER_SET
        return ErrorCode.NONE

    def _grant_or_refuse(self, partition: vote_request.PartitionData, now: Instant) -> bool:
        """Grant or refuse the vote; in both cases enter the candidate's epoch (595-20, 595-22)."""
        state = self._state
        candidate, epoch = NodeId(partition.replica_id), Epoch(partition.replica_epoch)
        granted = self._has_vote_for(candidate, epoch) and self._is_up_to_date(
            Epoch(partition.last_offset_epoch), Offset(partition.last_offset)
        )
        is_repeated = (epoch, candidate) == (state.epoch, state.durable.voted_for)
        if granted and not is_repeated:
            state.vote_for(candidate, epoch, now)
        elif epoch > state.epoch:
            state.enter_epoch(epoch, NO_NODE, now)
        return granted

    def _has_vote_for(self, candidate: NodeId, epoch: Epoch) -> bool:
        """Return whether the vote of this epoch is free or already belongs to the candidate."""
        durable = self._state.durable
        if epoch > durable.epoch:
            return True
        if durable.leader != NO_NODE:
            return False
        return durable.voted_for in (NO_NODE, candidate)

    def _is_up_to_date(self, last_epoch: Epoch, end_offset: Offset) -> bool:
        """Return whether the candidate's log is up to date (Raft's election restriction)."""
        log = self._state.log
        return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)

    # As a candidate

    def tick(self, now: Instant) -> None:
        """At the deadline, become a candidate; a candidate gives up instead."""
        role = self._state.role
        if isinstance(role, _NEVER_CANDIDATES) or not self._can_time_out(role):
            return
        if now.monotonic < role.election_deadline:
            return
        match role:
            case Candidate():
                self._state.step_down(now)
            case Unattached() | Voted() | Follower() | Resigned():
                self.become_candidate(now)

    def deadline(self) -> Monotonic | None:
        """Return the election deadline, or an earlier time at which a Vote has to be repeated."""
        role = self._state.role
        if isinstance(role, _NEVER_CANDIDATES) or not self._can_time_out(role):
            return None
        again = role.retries.deadline() if isinstance(role, Candidate) else None
        return role.election_deadline if again is None else min(again, role.election_deadline)

    def _can_time_out(self, role: Role) -> bool:
        """Return whether a deadline can change the role; the last epoch has no successor."""
        if self._state.is_stopping:
            return False
        return self._state.epoch < LARGEST_EPOCH or isinstance(role, Candidate)

    def become_candidate(self, now: Instant) -> None:
        """Become a candidate in the next epoch, if there is one; a sole voter wins at once."""
        if self._state.epoch == LARGEST_EPOCH:
            return
        candidate = self._state.become_candidate(now)
        self._check_result(candidate, now)

    def settle(self, now: Instant) -> None:
        """Send the due Votes."""
        state = self._state
        if type(state.role) is not Candidate:
            return
        for voter in state.role.retries.take_due(now.monotonic):
            state.outbox.send(
                voter,
                rpc.vote(state, voter),
                rpc.VOTE_VERSION,
                state.timeouts.request_ns,
                partial(self._answered, voter, state.epoch),
            )

    def _answered(self, voter: NodeId, epoch: Epoch, message: Message | None, now: Instant) -> None:
        state = self._state
        answer = None
        if message is not None:
            assert isinstance(message, vote_response.VoteResponse), "an answer of its request"
            answer = rpc.read_vote_answer(message)
            state.on_epoch_info(answer.epoch, answer.leader, now)
        role = state.role
        if not isinstance(role, Candidate) or role.epoch != epoch:
            return
        if answer is None:
            role.retries.retry_later(voter, state.timeouts, now.monotonic)
            return
        role.retries.done(voter)
        self._count_vote(role, voter, now, granted=answer.vote_granted)

    def _count_vote(self, role: Candidate, voter: NodeId, now: Instant, *, granted: bool) -> None:
        if voter in role.granted or voter in role.refused:
            return
        if granted:
            role = replace(role, granted=tuple(sorted((*role.granted, voter))))
        else:
            role = replace(role, refused=tuple(sorted((*role.refused, voter))))
        self._state.record_vote(role)
        self._check_result(role, now)

    def _check_result(self, candidate: Candidate, now: Instant) -> None:
        match vote_result(len(self._state.voters), len(candidate.granted), len(candidate.refused)):
            case VoteResult.WON:
                self._open_epoch(candidate, now)
            case VoteResult.LOST:
                self._state.step_down(now)
            case VoteResult.PENDING:
                pass

    def _open_epoch(self, candidate: Candidate, now: Instant) -> None:
        """Become leader and append the LeaderChange record, the first of the epoch (595-26)."""
        state = self._state
        state.become_leader(now)
        change = LeaderChange(
            leader_id=state.node_id,
            voters=tuple(LeaderChangeVoter(voter_id=voter) for voter in state.voters),
            granting_voters=tuple(LeaderChangeVoter(voter_id=v) for v in candidate.granted),
        )
        state.append(
            Batch(
                base_offset=state.log.end_offset,
                epoch=state.epoch,
                timestamp_ms=now.wall // NANOSECONDS_PER_MS,
                is_control=True,
                records=(change,),
            )
        )
        state.flush()
