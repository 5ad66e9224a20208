"""Questions to a node on its quorum and its cluster: DescribeQuorum (KIP-836) and Metadata."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.connection import PORT, connect
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_quorum_request,
    describe_quorum_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.types import UUID_BYTES, Uuid, format_uuid

METADATA_VERSION: Final = 12
DESCRIBE_QUORUM_VERSION: Final = 1
ASK_TIMEOUT_NS: Final = 400_000_000
PREPARE_TIMEOUT_NS: Final = 5_000_000_000
ACTIVE: Final = "active-controller"
STANDBY: Final = "standby-controller"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedQuorum:
    """A quorum as its leader describes it.

    Attributes:
        leader_id: The node that answered.
        epoch: The epoch of its leadership.
        high_watermark: The first offset that is not known to be committed; -1 if unknown.
        log_ends: By node, the end of its log as far as the leader knows; voters and observers.
    """

    leader_id: int
    epoch: int
    high_watermark: int
    log_ends: Mapping[int, int]


async def led_quorum(cluster: Cluster, node_id: int, port: str = PORT) -> LedQuorum | None:
    """Return the quorum led by a node; None for a silent node or another role."""
    connection: Connection[Message] | None = None
    try:
        connection = await connect(cluster, node_id, ASK_TIMEOUT_NS, port=port)
        answer = await connection.call(_WHO_LEADS, DESCRIBE_QUORUM_VERSION, ASK_TIMEOUT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return None
    finally:
        if connection is not None:
            connection.close()
    assert isinstance(answer, describe_quorum_response.DescribeQuorumResponse)
    if answer.error_code != ErrorCode.NONE or not (answer.topics and answer.topics[0].partitions):
        return None
    partition = answer.topics[0].partitions[0]
    if partition.error_code != ErrorCode.NONE or partition.leader_id != node_id:
        return None
    replicas = (*partition.current_voters, *partition.observers)
    return LedQuorum(
        leader_id=node_id,
        epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        log_ends={one.replica_id: one.log_end_offset for one in replicas},
    )


async def led_quorums(
    cluster: Cluster, controllers: Iterable[int], port: str = PORT
) -> list[LedQuorum]:
    """Ask all controllers at once, and return the answers of leaders."""
    asked = [cluster.scope.spawn(led_quorum(cluster, one, port)) for one in controllers]
    answers = [await task for task in asked]
    return [answer for answer in answers if answer is not None]


def roles_of(led: Iterable[LedQuorum], controllers: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """Return the active controller, leader of the highest epoch, and the standby controllers."""
    leaders = list(led)
    if not leaders:
        return {}
    active = max(leaders, key=lambda one: one.epoch).leader_id
    standby = tuple(node_id for node_id in controllers if node_id != active)
    return {ACTIVE: (active,), STANDBY: standby or (active,)}


def cluster_id(seed: int) -> str:
    """Return the id of the cluster of a run, the same for the nodes of each system."""
    return format_uuid(Uuid(Random(seed).randbytes(UUID_BYTES)))


async def cluster_id_of(cluster: Cluster, broker: int) -> str:
    """Ask a broker for the id of its cluster.

    Raises:
        ConnectionFailed: the broker can't be reached.
        OutcomeUnknown: it does not answer.
    """
    connection = await connect(cluster, broker, PREPARE_TIMEOUT_NS)
    request = metadata_request.MetadataRequest(topics=())
    answer = await connection.call(request, METADATA_VERSION, PREPARE_TIMEOUT_NS)
    connection.close()
    assert isinstance(answer, metadata_response.MetadataResponse)
    return answer.cluster_id or ""


async def identity_of(cluster: Cluster, node_id: int) -> str | None:
    """Return the id of the cluster of a broker; None for a controller or without an answer."""
    if not any(node.node_id == node_id and node.has("broker") for node in cluster.nodes):
        return None
    try:
        return await cluster_id_of(cluster, node_id) or None
    except (ConnectionFailed, OutcomeUnknown):
        return None


_WHO_LEADS: Final = describe_quorum_request.DescribeQuorumRequest(
    topics=(
        describe_quorum_request.TopicData(
            topic_name="__cluster_metadata",
            partitions=(describe_quorum_request.PartitionData(partition_index=0),),
        ),
    )
)
