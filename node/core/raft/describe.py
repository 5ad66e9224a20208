"""Answer DescribeQuorum from the leader's state (KIP-595 "DescribeQuorum"; 595-63 to 65)."""

from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, NodeId
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft.replicas import Replica
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.rpc import PARTITION, TOPIC
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.core.raft.stated import stated_high_watermark
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_quorum_request, describe_quorum_response
from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    PartitionData,
    ReplicaState,
)

FIRST_WITH_TIMESTAMPS: Final = 1
FIRST_WITH_NODES: Final = 2
CONTROLLER_LISTENER: Final = "CONTROLLER"
"""The name of the voters' listener in answers of a node without a controller listener."""


def receive(
    state: RaftState,
    event: Received,
    request: describe_quorum_request.DescribeQuorumRequest,
    now: Instant,
) -> None:
    """Answer each requested partition; a node that is not the leader answers with an error."""
    topics = tuple(
        describe_quorum_response.TopicData(
            topic_name=topic.topic_name,
            partitions=tuple(
                _partition(state, event.version, topic.topic_name, partition.partition_index, now)
                for partition in topic.partitions
            ),
        )
        for topic in request.topics
    )
    nodes = _nodes(state.config) if event.version >= FIRST_WITH_NODES else ()
    answer = describe_quorum_response.DescribeQuorumResponse(topics=topics, nodes=nodes)
    state.outbox.reply(event, answer)


def _partition(
    state: RaftState, version: int, topic: str, index: int, now: Instant
) -> PartitionData:
    if topic != TOPIC or index != PARTITION:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return PartitionData(partition_index=index, error_code=error)
    role = state.role
    if not isinstance(role, Leader):
        return PartitionData(
            partition_index=index,
            error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
            leader_id=state.leader,
            leader_epoch=state.epoch,
        )
    has_times = version >= FIRST_WITH_TIMESTAMPS
    voters = [*_states(role.replicas.voters, has_times=has_times)]
    voters.append(_ourselves(state, now, has_times=has_times))
    return PartitionData(
        partition_index=index,
        leader_id=state.node_id,
        leader_epoch=state.epoch,
        high_watermark=stated_high_watermark(state),
        current_voters=tuple(sorted(voters, key=lambda voter: voter.replica_id)),
        observers=_states(role.replicas.observers, has_times=has_times),
    )


def _ourselves(state: RaftState, now: Instant, *, has_times: bool) -> ReplicaState:
    now_ms = now.wall // NANOSECONDS_PER_MS if has_times else -1
    return ReplicaState(
        replica_id=state.node_id,
        log_end_offset=state.log.end_offset,
        last_fetch_timestamp=now_ms,
        last_caught_up_timestamp=now_ms,
    )


def _states(replicas: Mapping[NodeId, Replica], *, has_times: bool) -> tuple[ReplicaState, ...]:
    return tuple(
        ReplicaState(
            replica_id=replica_id,
            log_end_offset=replica.acknowledged,
            last_fetch_timestamp=replica.fetched_ms if has_times else -1,
            last_caught_up_timestamp=replica.caught_up_ms if has_times else -1,
        )
        for replica_id, replica in sorted(replicas.items())
    )


def _nodes(config: NodeConfig) -> tuple[describe_quorum_response.Node, ...]:
    names = [endpoint.name for endpoint in config.endpoints if endpoint.is_controller]
    name = names[0] if names else CONTROLLER_LISTENER
    return tuple(
        describe_quorum_response.Node(
            node_id=voter.node_id,
            listeners=(
                describe_quorum_response.Listener(name=name, host=voter.host, port=voter.port),
            ),
        )
        for voter in config.voters
    )
