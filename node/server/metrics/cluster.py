"""Read the figures of the cluster from a committed image (KIP-631 "New Metrics")."""

from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.metadata.image import MetadataImage


def cluster_gauges(image: MetadataImage) -> dict[str, float]:
    """Return the figures of a controller about brokers, topics and partitions."""
    brokers = image.brokers.values()
    partitions = [one for indexed in image.partitions.values() for one in indexed.values()]
    return {
        "active-broker-count": sum(not broker.fenced for broker in brokers),
        "fenced-broker-count": sum(broker.fenced for broker in brokers),
        "controlled-shutdown-broker-count": sum(
            broker.in_controlled_shutdown and not broker.fenced for broker in brokers
        ),
        "global-topic-count": len(image.topics),
        "global-partition-count": len(partitions),
        "offline-partitions-count": sum(one.leader == NO_NODE for one in partitions),
        "preferred-replica-imbalance-count": sum(
            bool(one.replicas) and one.leader != one.replicas[0] for one in partitions
        ),
    }
