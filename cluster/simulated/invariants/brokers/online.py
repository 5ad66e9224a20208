"""Find what clients reach by an image, for the answers that show leaders and replicas."""

from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition


def registered_listener(image: MetadataImage, node_id: int) -> str | None:
    """Return the first registered listener of a broker; None if the broker is not registered."""
    ours = image.brokers.get(NodeId(node_id))
    return ours.endpoints[0].name if ours is not None and ours.endpoints else None


def has_listener(image: MetadataImage, node: NodeId, listener: str | None) -> bool:
    """Return whether a broker is registered with a listener; None stands for any listener."""
    broker = image.brokers.get(node)
    if broker is None:
        return False
    return listener is None or any(one.name == listener for one in broker.endpoints)


def shown_leader(image: MetadataImage, partition: Partition, listener: str | None) -> NodeId:
    """Return the leader of a partition; NO_NODE for a leader without the listener."""
    return partition.leader if has_listener(image, partition.leader, listener) else NO_NODE


def is_active(image: MetadataImage, node: NodeId, listener: str | None) -> bool:
    """Return whether clients reach a broker: the broker is not fenced and has the listener."""
    return has_listener(image, node, listener) and not image.brokers[node].fenced


def offline_replicas(
    image: MetadataImage, partition: Partition, listener: str | None
) -> tuple[NodeId, ...]:
    """Return the replicas whose broker nobody reaches, or whose directory has failed."""
    return tuple(
        node
        for node in partition.replicas
        if not is_active(image, node, listener) or not _has_directory(image, partition, node)
    )


def _has_directory(image: MetadataImage, partition: Partition, node: NodeId) -> bool:
    places = dict(zip(partition.replicas, partition.directories, strict=False))
    directory = places.get(node, MIGRATING)
    if directory in {MIGRATING, UNASSIGNED}:
        return True
    working = image.brokers[node].log_dirs
    return directory != LOST and (not working or directory in working)
