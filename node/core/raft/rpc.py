"""The quorum's RPCs between their wire messages and what the roles need of them.

KIP-595 "Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "Fetch" schemas, released numbering. All
of them are batched by topic and partition; only __cluster_metadata-0 exists (595-25).
Not: any decision.
"""

from typing import Final, TypeVar

from msgspec import Struct

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    vote_request,
    vote_response,
)

TOPIC: Final = "__cluster_metadata"
PARTITION: Final = 0
VOTE_VERSION: Final = 1
BEGIN_VERSION: Final = 1
END_VERSION: Final = 1


_Partition = TypeVar(
    "_Partition",
    vote_request.PartitionData,
    begin_quorum_epoch_request.PartitionData,
    end_quorum_epoch_request.PartitionData,
)


class QuorumAnswer(Struct, frozen=True, kw_only=True):
    """What every answer of the quorum says: the error, and the leader and epoch known (595-55)."""

    error: int
    leader: NodeId
    epoch: Epoch
    vote_granted: bool = False
    is_top_level: bool = False
    """The request was refused as a whole, so that leader and epoch say nothing."""


def is_inconsistent_cluster(config: NodeConfig, cluster_id: str | None) -> bool:
    """Whether a request names another cluster; not knowing it on either side is no conflict."""
    return bool(cluster_id) and bool(config.cluster_id) and cluster_id != config.cluster_id


def _only(partitions: tuple[_Partition, ...]) -> _Partition | None:
    match partitions:
        case (partition,) if partition.partition_index == PARTITION:
            return partition
    return None


# Vote


def vote(state: RaftState, voter: NodeId) -> vote_request.VoteRequest:
    """Ask this voter for its vote in the current epoch."""
    partition = vote_request.PartitionData(
        partition_index=PARTITION,
        replica_epoch=state.epoch,
        replica_id=state.node_id,
        last_offset_epoch=state.log.last_epoch,
        last_offset=state.log.end_offset,
    )
    topic = vote_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return vote_request.VoteRequest(
        cluster_id=state.config.cluster_id, voter_id=voter, topics=(topic,)
    )


def vote_partition(request: vote_request.VoteRequest) -> vote_request.PartitionData | None:
    """The one partition that a Vote may name."""
    match request.topics:
        case (topic,) if topic.topic_name == TOPIC:
            return _only(topic.partitions)
    return None


def vote_answer(
    state: RaftState, error: ErrorCode, *, granted: bool = False
) -> vote_response.VoteResponse:
    """Answer a Vote."""
    partition = vote_response.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=state.leader,
        leader_epoch=state.epoch,
        vote_granted=granted,
    )
    topic = vote_response.TopicData(topic_name=TOPIC, partitions=(partition,))
    return vote_response.VoteResponse(topics=(topic,))


# BeginQuorumEpoch


def begin(state: RaftState, voter: NodeId) -> begin_quorum_epoch_request.BeginQuorumEpochRequest:
    """Tell this voter that we lead the current epoch."""
    partition = begin_quorum_epoch_request.PartitionData(
        partition_index=PARTITION, leader_id=state.node_id, leader_epoch=state.epoch
    )
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(
        cluster_id=state.config.cluster_id,
        voter_id=voter,
        topics=(begin_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,)),),
        leader_endpoints=tuple(
            begin_quorum_epoch_request.LeaderEndpoint(
                name=endpoint.name, host=endpoint.host, port=endpoint.port
            )
            for endpoint in state.config.endpoints
            if endpoint.is_controller
        ),
    )


def begin_partition(
    request: begin_quorum_epoch_request.BeginQuorumEpochRequest,
) -> begin_quorum_epoch_request.PartitionData | None:
    """The one partition that a BeginQuorumEpoch may name."""
    match request.topics:
        case (topic,) if topic.topic_name == TOPIC:
            return _only(topic.partitions)
    return None


def begin_answer(
    state: RaftState, error: ErrorCode
) -> begin_quorum_epoch_response.BeginQuorumEpochResponse:
    """Answer a BeginQuorumEpoch."""
    partition = begin_quorum_epoch_response.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=state.leader,
        leader_epoch=state.epoch,
    )
    topic = begin_quorum_epoch_response.TopicData(topic_name=TOPIC, partitions=(partition,))
    return begin_quorum_epoch_response.BeginQuorumEpochResponse(topics=(topic,))


# EndQuorumEpoch


def end(
    state: RaftState, successors: tuple[NodeId, ...]
) -> end_quorum_epoch_request.EndQuorumEpochRequest:
    """Tell the voters that we stop leading, and who should follow, best first."""
    partition = end_quorum_epoch_request.PartitionData(
        partition_index=PARTITION,
        leader_id=state.node_id,
        leader_epoch=state.epoch,
        preferred_candidates=tuple(
            end_quorum_epoch_request.ReplicaInfo(candidate_id=successor) for successor in successors
        ),
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return end_quorum_epoch_request.EndQuorumEpochRequest(
        cluster_id=state.config.cluster_id, topics=(topic,)
    )


def end_partition(
    request: end_quorum_epoch_request.EndQuorumEpochRequest,
) -> end_quorum_epoch_request.PartitionData | None:
    """The one partition that an EndQuorumEpoch may name."""
    match request.topics:
        case (topic,) if topic.topic_name == TOPIC:
            return _only(topic.partitions)
    return None


def successors(partition: end_quorum_epoch_request.PartitionData) -> tuple[NodeId, ...]:
    """The preferred successors, best first, of either version."""
    if partition.preferred_candidates:
        return tuple(NodeId(info.candidate_id) for info in partition.preferred_candidates)
    return tuple(NodeId(node_id) for node_id in partition.preferred_successors)


def end_answer(
    state: RaftState, error: ErrorCode
) -> end_quorum_epoch_response.EndQuorumEpochResponse:
    """Answer an EndQuorumEpoch."""
    partition = end_quorum_epoch_response.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=state.leader,
        leader_epoch=state.epoch,
    )
    topic = end_quorum_epoch_response.TopicData(topic_name=TOPIC, partitions=(partition,))
    return end_quorum_epoch_response.EndQuorumEpochResponse(topics=(topic,))


# Answers read


def read_vote_answer(message: vote_response.VoteResponse) -> QuorumAnswer:
    """What a VoteResponse says."""
    match message.topics:
        case (topic,) if topic.partitions and message.error_code == ErrorCode.NONE:
            partition = topic.partitions[0]
            return QuorumAnswer(
                error=partition.error_code,
                leader=NodeId(partition.leader_id),
                epoch=Epoch(partition.leader_epoch),
                vote_granted=partition.vote_granted,
            )
    return _refused_whole(message.error_code)


def read_epoch_answer(
    message: begin_quorum_epoch_response.BeginQuorumEpochResponse
    | end_quorum_epoch_response.EndQuorumEpochResponse,
) -> QuorumAnswer:
    """What the answer to a Begin- or EndQuorumEpoch says."""
    match message.topics:
        case (topic,) if topic.partitions and message.error_code == ErrorCode.NONE:
            partition = topic.partitions[0]
            return QuorumAnswer(
                error=partition.error_code,
                leader=NodeId(partition.leader_id),
                epoch=Epoch(partition.leader_epoch),
            )
    return _refused_whole(message.error_code)


def _refused_whole(error: int) -> QuorumAnswer:
    error = error or ErrorCode.INVALID_REQUEST
    return QuorumAnswer(error=error, leader=NodeId(-1), epoch=Epoch(0), is_top_level=True)
