"""Find the partitions with a replica on a broker."""

from collections.abc import Iterator, Sequence

from immutables import Map

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import PARTITIONS_A_MARK, MetadataImage
from kraftproof.node.wire.types import Uuid


def own_partitions(
    image: MetadataImage, node_id: NodeId, topic_ids: Sequence[Uuid] | None = None
) -> dict[Uuid, list[int]]:
    """Return the indexes of the partitions with a replica on a broker, by topic.

    Args:
        image: The image.
        node_id: The id of the broker.
        topic_ids: The topics to look at, in ascending order; by default every topic.
    """
    marked = image.by_broker.replicas.get(node_id, Map())
    ours: dict[Uuid, list[int]] = {}
    for topic_id, entry in sorted(marked) if topic_ids is None else _entries(image, topic_ids):
        bits, first = marked.get((topic_id, entry), 0), entry * PARTITIONS_A_MARK
        if bits == 1:  # the first alone, as of most topics
            ours.setdefault(topic_id, []).append(first)
        elif bits:
            indexes = range(first, first + bits.bit_length())
            found = [index for bit, index in enumerate(indexes) if bits >> bit & 1]
            ours.setdefault(topic_id, []).extend(found)
    return ours


def _entries(image: MetadataImage, topic_ids: Sequence[Uuid]) -> Iterator[tuple[Uuid, int]]:
    """Yield the entries that the marks of topics may have."""
    for topic_id in topic_ids:
        last = max(image.partitions.get(topic_id, ()), default=-1)
        for entry in range(last // PARTITIONS_A_MARK + 1):
            yield topic_id, entry
