"""Translate Vote, BeginQuorumEpoch and EndQuorumEpoch between wire messages and values.

The schemas are from KIP-595, with the numbering of the Kafka releases. Requests are batched by
topic and partition, but __cluster_metadata-0 is the only partition (595-25).
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
    """The common part of the quorum's answers: error, known leader and epoch (595-55)."""

    error: int
    leader: NodeId
    epoch: Epoch
    vote_granted: bool = False
    is_top_level: bool = False
    """The receiver refused the whole request; leader and epoch are meaningless."""


def is_inconsistent_cluster(config: NodeConfig, cluster_id: str | None) -> bool:
    """Return whether the request names another cluster; a missing id is no conflict."""
    return bool(cluster_id) and bool(config.cluster_id) and cluster_id != config.cluster_id


def _only(partitions: tuple[_Partition, ...]) -> _Partition | None:
    match partitions:
        case (partition,) if partition.partition_index == PARTITION:
            return partition
    return None


# Vote


def vote(state: RaftState, voter: NodeId) -> vote_request.VoteRequest:
    """Return a Vote of the current epoch for the voter."""
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
    """Return the partition of a Vote; None unless exactly __cluster_metadata-0 is named."""
    match request.topics:
        case (topic,) if topic.topic_name == TOPIC:
            return _only(topic.partitions)
    return None


def vote_answer(
    state: RaftState, error: ErrorCode, *, granted: bool = False
) -> vote_response.VoteResponse:
    """Return the answer to a Vote."""
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
    """Return a BeginQuorumEpoch that announces the leader to the voter."""
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
    """Return the partition of a BeginQuorumEpoch; None if the request names another."""
    match request.topics:
        case (topic,) if topic.topic_name == TOPIC:
            return _only(topic.partitions)
    return None


def begin_answer(
    state: RaftState, error: ErrorCode
) -> begin_quorum_epoch_response.BeginQuorumEpochResponse:
    """Return the answer to a BeginQuorumEpoch."""
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
    """Return an EndQuorumEpoch with the preferred successors, best first."""
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
    """Return the partition of an EndQuorumEpoch; None if the request names another."""
    match request.topics:
        case (topic,) if topic.topic_name == TOPIC:
            return _only(topic.partitions)
    return None


def successors(partition: end_quorum_epoch_request.PartitionData) -> tuple[NodeId, ...]:
    """Return the preferred successors from either version of the request, best first."""
    if partition.preferred_candidates:
        return tuple(NodeId(info.candidate_id) for info in partition.preferred_candidates)
    return tuple(NodeId(node_id) for node_id in partition.preferred_successors)


def end_answer(
    state: RaftState, error: ErrorCode
) -> end_quorum_epoch_response.EndQuorumEpochResponse:
    """Return the answer to an EndQuorumEpoch."""
    partition = end_quorum_epoch_response.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=state.leader,
        leader_epoch=state.epoch,
    )
    topic = end_quorum_epoch_response.TopicData(topic_name=TOPIC, partitions=(partition,))
    return end_quorum_epoch_response.EndQuorumEpochResponse(topics=(topic,))


# Reading answers


def read_vote_answer(message: vote_response.VoteResponse) -> QuorumAnswer:
    """Return the content of a VoteResponse."""
    match message.topics:
        case (topic,) if topic.partitions and message.error_code == ErrorCode.NONE:
            partition = topic.partitions[0]
            return QuorumAnswer(
                error=partition.error_code,
                leader=NodeId(partition.leader_id),
                epoch=Epoch(partition.leader_epoch),
                vote_granted=partition.vote_granted,
            )
    return _top_level_error_answer(message.error_code)


def read_epoch_answer(
    message: begin_quorum_epoch_response.BeginQuorumEpochResponse
    | end_quorum_epoch_response.EndQuorumEpochResponse,
) -> QuorumAnswer:
    """Return the content of the answer to a BeginQuorumEpoch or an EndQuorumEpoch."""
    match message.topics:
        case (topic,) if topic.partitions and message.error_code == ErrorCode.NONE:
            partition = topic.partitions[0]
            return QuorumAnswer(
                error=partition.error_code,
                leader=NodeId(partition.leader_id),
                epoch=Epoch(partition.leader_epoch),
            )
    return _top_level_error_answer(message.error_code)


def _top_level_error_answer(error: int) -> QuorumAnswer:
    error = error or ErrorCode.INVALID_REQUEST
    return QuorumAnswer(error=error, leader=NodeId(-1), epoch=Epoch(0), is_top_level=True)
