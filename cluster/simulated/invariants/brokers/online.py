"""Find the replicas of an image that serve nobody, for the answers that show them."""

from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition


def offline_replicas(image: MetadataImage, partition: Partition) -> tuple[NodeId, ...]:
    """Return the replicas whose broker is absent or fenced, or whose directory has failed."""
    return tuple(node for node in partition.replicas if not _is_online(image, partition, node))


def _is_online(image: MetadataImage, partition: Partition, node: NodeId) -> bool:
    broker = image.brokers.get(node)
    if broker is None or broker.fenced:
        return False
    places = dict(zip(partition.replicas, partition.directories, strict=False))
    directory = places.get(node, MIGRATING)
    if directory in {MIGRATING, UNASSIGNED}:
        return True
    return directory != LOST and (not broker.log_dirs or directory in broker.log_dirs)
