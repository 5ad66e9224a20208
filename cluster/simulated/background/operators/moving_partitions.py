"""Draw requests about partitions as they are: moves, cancels, growth and elections of one topic.

The image tells what partitions there are, so that most requests are right, and meet a partition
that is moving, or that has no leader.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_reassignments_request,
    create_partitions_request,
    elect_leaders_request,
    list_partition_reassignments_request,
)

TIMEOUT_MS: Final = 2_000
CANCEL_SHARE: Final = 0.2
MOST_REPLICAS: Final = 4
MOST_PARTITIONS: Final = 30
"""Number of partitions above which a topic is not enlarged."""


def draw_of_partitions(
    random: Random, names: Sequence[str], image: MetadataImage
) -> Message | None:
    """Return a request about a topic that exists; None if there is none, or none to ask."""
    topic = image.topic_named(random.choice(names))
    if topic is None:
        return None
    partitions = list(image.partitions_of(topic.topic_id))
    match random.randrange(7):
        case 0 | 1 | 2:
            return _move(random, topic.name, random.choice(partitions), image)
        case 3 | 4:
            return _growth(random, topic.name, len(partitions))
        case 5:
            return _election(random, topic.name, partitions)
        case _:
            return _listing(random, topic.name, partitions)


def _move(random: Random, name: str, partition: Partition, image: MetadataImage) -> Message | None:
    """Return the move of a partition, or the cancel of a move, at times of one that does not.

    Return None without a registered broker.
    """
    module = alter_partition_reassignments_request
    brokers = [int(broker.broker_id) for broker in image.sorted_brokers()]
    if not brokers:
        return None
    replicas: tuple[int, ...] | None = tuple(
        random.sample(brokers, random.randint(1, min(MOST_REPLICAS, len(brokers))))
    )
    if random.random() < CANCEL_SHARE:
        replicas = None
    asked = module.ReassignablePartition(partition_index=partition.index, replicas=replicas)
    topic = module.ReassignableTopic(name=name, partitions=(asked,))
    return module.AlterPartitionReassignmentsRequest(
        topics=(topic,),
        timeout_ms=TIMEOUT_MS,
        allow_replication_factor_change=random.random() < 0.8,
    )


def _growth(random: Random, name: str, count: int) -> Message | None:
    if count >= MOST_PARTITIONS:
        return None
    module = create_partitions_request
    topic = module.CreatePartitionsTopic(name=name, count=count + random.choice((0, 1, 1, 2)))
    return module.CreatePartitionsRequest(
        topics=(topic,), timeout_ms=TIMEOUT_MS, validate_only=random.random() < 0.2
    )


def _election(random: Random, name: str, partitions: Sequence[Partition]) -> Message:
    module = elect_leaders_request
    indexes = tuple(partition.index for partition in partitions)
    topic = module.TopicPartitions(topic=name, partitions=indexes)
    return module.ElectLeadersRequest(
        election_type=random.choice((0, 0, 1)), topic_partitions=(topic,), timeout_ms=TIMEOUT_MS
    )


def _listing(random: Random, name: str, partitions: Sequence[Partition]) -> Message:
    module = list_partition_reassignments_request
    indexes = tuple(partition.index for partition in partitions)
    named = module.ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
    return module.ListPartitionReassignmentsRequest(
        topics=random.choice((None, (named,))), timeout_ms=TIMEOUT_MS
    )
