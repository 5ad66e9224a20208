"""Find the leader of a requested partition, or the error of the request.

The order of the checks is Kafka's: the topic in the image, then the role of this broker, then the
leader epoch that the client knows (KIP-320).
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.types import ZERO_UUID, Uuid

NO_EPOCH: Final = -1
"""The leader epoch of a client that does not want a check."""


class LedPartition(Struct, frozen=True):
    """A partition under the leadership of this broker."""

    replica: Replica
    leader: Leader


def topic_id_of(image: MetadataImage, name: str, topic_id: Uuid, *, has_id: bool) -> Uuid | None:
    """Return the id of a topic that a request names by id or by name; None if unknown."""
    if has_id:
        return topic_id if topic_id in image.topics and topic_id != ZERO_UUID else None
    return image.topic_ids.get(name)


def unknown_topic(*, has_id: bool) -> ErrorCode:
    """Return the error for a topic that the image lacks."""
    return ErrorCode.UNKNOWN_TOPIC_ID if has_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def partition_of(image: MetadataImage, log: LogId) -> Partition | None:
    """Return the state of a partition in the image, if any."""
    partitions = image.partitions.get(log.topic_id)
    return None if partitions is None else partitions.get(log.partition)


def find_replica(image: MetadataImage, replicas: Replicas, log: LogId) -> Replica | ErrorCode:
    """Return this broker's replica of a partition."""
    if partition_of(image, log) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    replica = replicas.by_log.get(log)
    if replica is None and log in replicas.offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if replica is None else replica


def find_leader(
    image: MetadataImage, replicas: Replicas, log: LogId, known_epoch: int = NO_EPOCH
) -> LedPartition | ErrorCode:
    """Return the partition if this broker leads it in the epoch that the client knows."""
    replica = find_replica(image, replicas, log)
    if isinstance(replica, ErrorCode):
        return replica
    error = check_epoch(replica, known_epoch)
    if error is not ErrorCode.NONE:
        return error
    if replica.leader is None:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return LedPartition(replica, replica.leader)


def check_epoch(replica: Replica, known_epoch: int) -> ErrorCode:
    """Compare the leader epoch of a client with that of the replica (KIP-320)."""
    if known_epoch == NO_EPOCH or replica.partition is None:
        return ErrorCode.NONE
    if known_epoch < replica.partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if known_epoch > replica.partition.leader_epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    return ErrorCode.NONE


def leader_in(image: MetadataImage, log: LogId) -> tuple[NodeId, Epoch] | None:
    """Return the leader and epoch to which a client should turn (KIP-951); None if unknown."""
    partition = partition_of(image, log)
    return None if partition is None else (partition.leader, partition.leader_epoch)


def endpoint_of(
    image: MetadataImage, node: NodeId, listener: str
) -> tuple[str, int, str | None] | None:
    """Return host, port and rack of an active broker on a listener."""
    broker = image.brokers.get(node)
    if broker is None or broker.fenced:
        return None
    for endpoint in broker.endpoints:
        if endpoint.name == listener:
            return (endpoint.host, endpoint.port, broker.rack)
    return None


class Range(Struct, frozen=True):
    """The offsets of a partition that a reader may see."""

    start_offset: Offset
    end_offset: Offset
