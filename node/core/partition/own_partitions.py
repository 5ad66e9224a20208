"""Find the partitions with a replica on a broker."""

from immutables import Map

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import PARTITIONS_A_MARK, MetadataImage
from kraftproof.node.wire.types import Uuid


def own_indexes(image: MetadataImage, node_id: NodeId, topic_id: Uuid) -> list[int]:
    """Return the indexes of the partitions of a topic with a replica on a broker."""
    partitions = image.partitions.get(topic_id, Map())
    return sorted(index for index, each in partitions.items() if node_id in each.replicas)


def own_partitions(image: MetadataImage, node_id: NodeId) -> dict[Uuid, list[int]]:
    """Return the indexes of the partitions with a replica on a broker, by topic."""
    marked = image.by_broker.replicas.get(node_id, Map())
    ours: dict[Uuid, list[int]] = {}
    for topic_id, entry in sorted(marked):
        bits, first = marked[topic_id, entry], entry * PARTITIONS_A_MARK
        if bits == 1:  # the first alone, as of most topics
            ours.setdefault(topic_id, []).append(first)
            continue
        indexes = range(first, first + bits.bit_length())
        found = [index for bit, index in enumerate(indexes) if bits >> bit & 1]
        ours.setdefault(topic_id, []).extend(found)
    return ours
