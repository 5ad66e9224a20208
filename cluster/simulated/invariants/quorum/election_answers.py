"""The invariant of a voter's answers to Vote, BeginQuorumEpoch and EndQuorumEpoch (KIP-595).

The rules are stated here once more, apart from the node: the causes of a refusal, and the epoch and
leader after the request. A refused request may have several causes; each is a right answer.
"""

from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    vote_request,
    vote_response,
)

Vote = vote_request.VoteRequest
Begin = begin_quorum_epoch_request.BeginQuorumEpochRequest
End = end_quorum_epoch_request.EndQuorumEpochRequest
Answer = (
    vote_response.VoteResponse
    | begin_quorum_epoch_response.BeginQuorumEpochResponse
    | end_quorum_epoch_response.EndQuorumEpochResponse
)
Asked = (
    vote_request.PartitionData
    | begin_quorum_epoch_request.PartitionData
    | end_quorum_epoch_request.PartitionData
)
RESIGNED: Final = "resigned"


class Expected(Struct, frozen=True, kw_only=True):
    """The right result of a request."""

    errors: frozenset[int]
    """The causes of a refusal; none for a request that is accepted."""
    epoch: int
    """The epoch after the request."""
    is_granted: bool = False
    leader: int | None = None
    """The leader after the request; None if the request names none."""
    candidate_epoch: int | None = None
    """The epoch of the receiver's candidacy, if the request may start one."""


class ElectionAnswersAreRight(Invariant):
    """Voters judge requests of elections by the state before, and adopt newer epochs."""

    statement = (
        "A voter refuses a Vote, BeginQuorumEpoch or EndQuorumEpoch for a cause and with its "
        "error, accepts every other one, and has the epoch and the leader that follow from it."
    )
    requests: ClassVar[Requests] = (Vote, Begin, End)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config
        self._expected: dict[tuple[int, int], Expected] = {}
        """By node and token of a request."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for key in [key for key in self._expected if key[0] == process.node_id]:
            del self._expected[key]

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        status = process.status
        if status is not None and process.node_id in self._config.voters:
            expected = self._expect(process.node_id, status, event.message)
            self._expected[process.node_id, event.request] = expected

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        expected = self._expected.pop((process.node_id, event.request), None)
        if expected is None or process.status is None:
            return
        wrong = _wrong(expected, process.status, message)
        if wrong is not None:
            name = type(event.message).__name__
            self.monitor.report_violation(self, process, f"{name}: {wrong}")

    def _expect(self, node_id: int, status: NodeStatus, message: Message) -> Expected:
        named = getattr(message, "cluster_id", None)
        if named and self._config.cluster_id and named != self._config.cluster_id:
            return _refused(status, ErrorCode.INCONSISTENT_CLUSTER_ID)
        voters, asked = self._config.voters, _partition(message)
        match asked:
            case vote_request.PartitionData():
                expected = _of_vote(node_id, voters, status, asked)
            case begin_quorum_epoch_request.PartitionData():
                expected = _of_begin(node_id, voters, status, asked)
            case end_quorum_epoch_request.PartitionData():
                return _of_end(node_id, voters, status, asked)
            case _:
                return _refused(status, ErrorCode.INVALID_REQUEST)
        assert isinstance(message, Vote | Begin), "by the type of its partition"
        if message.voter_id in {NO_NODE, node_id}:
            return expected
        return _refused(status, *expected.errors, ErrorCode.INVALID_VOTER_KEY)


def _partition(message: Message) -> Asked | None:
    """Return the partition of the metadata log in a request; None if it asks about another log."""
    assert isinstance(message, Vote | Begin | End), "the types of the hook"
    if len(message.topics) != 1 or message.topics[0].topic_name != "__cluster_metadata":
        return None
    partitions = message.topics[0].partitions
    return partitions[0] if len(partitions) == 1 and not partitions[0].partition_index else None


def _refused(status: NodeStatus, *errors: int, epoch: int | None = None) -> Expected:
    return Expected(errors=frozenset(errors), epoch=status.epoch if epoch is None else epoch)


def _leader(node_id: int, status: NodeStatus) -> int:
    """Return the known leader of the epoch; a former leader is the leader of its epoch."""
    return node_id if status.role in {LEADER, RESIGNED} else status.leader


def _of_vote(
    node_id: int, voters: tuple[int, ...], status: NodeStatus, asked: vote_request.PartitionData
) -> Expected:
    """Judge a Vote (595-19 to 595-22)."""
    causes, epoch = set(), asked.replica_epoch
    if epoch < status.epoch:
        causes.add(ErrorCode.FENCED_LEADER_EPOCH)
    if asked.pre_vote:
        causes.add(ErrorCode.INVALID_REQUEST)
    is_newer = epoch > status.epoch
    if asked.replica_id not in voters:
        adopted = epoch if is_newer and not causes else status.epoch
        return _refused(status, *causes, ErrorCode.INCONSISTENT_VOTER_SET, epoch=adopted)
    if causes:
        return _refused(status, *causes)
    has_no_leader = _leader(node_id, status) == NO_NODE
    is_free = is_newer or (has_no_leader and status.voted_for in {NO_NODE, asked.replica_id})
    last = (asked.last_offset_epoch, asked.last_offset)
    is_granted = is_free and last >= (status.last_epoch, status.log_end)
    return Expected(errors=frozenset(), epoch=epoch, is_granted=is_granted)


def _of_leader(
    node_id: int, voters: tuple[int, ...], status: NodeStatus, leader: int, epoch: int
) -> set[int]:
    """Return the causes to refuse a message of a leader."""
    causes: set[int] = set()
    if leader not in {NO_NODE, *voters}:
        causes.add(ErrorCode.INCONSISTENT_VOTER_SET)
    if epoch < status.epoch:
        causes.add(ErrorCode.FENCED_LEADER_EPOCH)
    known = _leader(node_id, status)
    is_rival = epoch == status.epoch and known not in {NO_NODE, leader}
    if leader in {NO_NODE, node_id} or is_rival:
        causes.add(ErrorCode.INVALID_REQUEST)
    return causes


def _of_begin(
    node_id: int,
    voters: tuple[int, ...],
    status: NodeStatus,
    asked: begin_quorum_epoch_request.PartitionData,
) -> Expected:
    """Judge a BeginQuorumEpoch (595-34, 595-35)."""
    causes = _of_leader(node_id, voters, status, asked.leader_id, asked.leader_epoch)
    if asked.leader_id not in voters:
        causes.add(ErrorCode.INCONSISTENT_VOTER_SET)
    if causes:
        return _refused(status, *causes)
    return Expected(errors=frozenset(), epoch=asked.leader_epoch, leader=asked.leader_id)


def _of_end(
    node_id: int,
    voters: tuple[int, ...],
    status: NodeStatus,
    asked: end_quorum_epoch_request.PartitionData,
) -> Expected:
    """Judge an EndQuorumEpoch (595-39)."""
    causes = _of_leader(node_id, voters, status, asked.leader_id, asked.leader_epoch)
    named = [one.candidate_id for one in asked.preferred_candidates]
    successors = named or list(asked.preferred_successors)
    if node_id not in successors:
        causes.add(ErrorCode.INCONSISTENT_VOTER_SET)
    if causes:
        return _refused(status, *causes)
    is_first = successors[0] == node_id
    return Expected(
        errors=frozenset(),
        epoch=asked.leader_epoch,
        leader=asked.leader_id,
        candidate_epoch=asked.leader_epoch + 1 if is_first else None,
    )


def _wrong(expected: Expected, status: NodeStatus, message: Message) -> str | None:
    """Return what is wrong with an answer and the state after it, or None."""
    assert isinstance(message, Answer), "an answer of its request"
    errors = {int(message.error_code)}
    partitions = [one for topic in message.topics for one in topic.partitions]
    errors |= {int(one.error_code) for one in partitions}
    errors.discard(ErrorCode.NONE)
    if len(errors) != min(len(expected.errors), 1) or not errors <= expected.errors:
        return f"error {sorted(errors)}, the causes are {sorted(map(int, expected.errors))}"
    is_granted = any(getattr(one, "vote_granted", False) for one in partitions)
    if is_granted != expected.is_granted:
        return "a vote is granted" if is_granted else "a vote is refused"
    if status.epoch == expected.candidate_epoch:
        return None
    if status.epoch != expected.epoch:
        return f"epoch {status.epoch} after the request, not {expected.epoch}"
    if expected.leader is not None and status.leader != expected.leader:
        return f"leader {status.leader} after the request, not {expected.leader}"
    for one in partitions:
        if (one.leader_epoch, one.leader_id) != (status.epoch, status.leader):
            told = f"epoch {one.leader_epoch} and leader {one.leader_id}"
            return f"{told} in the answer, epoch {status.epoch} and leader {status.leader} after it"
    return None
