"""The requests of a reassignment that is cancelled after a new replica has come into sync."""

from collections.abc import Sequence
from random import Random

from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition, PartitionKey
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    alter_partition_request,
)

Reassignments = alter_partition_reassignments_request.AlterPartitionReassignmentsRequest


def partition_to_move(random: Random, image: MetadataImage) -> PartitionKey | None:
    """Return a partition with a leader; None without one."""
    led = [
        one.key
        for topic in image.sorted_topics()
        for one in image.partitions_of(topic.topic_id)
        if one.leader != NO_NODE
    ]
    return random.choice(led) if led else None


def begun(image: MetadataImage, key: PartitionKey, brokers: Sequence[int]) -> Reassignments:
    """Return the begin of a move to every registered broker."""
    replicas = _of(image, key).replicas
    added = [each for each in brokers if each in image.brokers and each not in replicas]
    return _reassignment(image, key, (*replicas, *added))


def joined(
    random: Random, image: MetadataImage, key: PartitionKey
) -> alter_partition_request.AlterPartitionRequest | None:
    """Return the leader's proposal of a new replica; None if no new replica may join."""
    module, partition = alter_partition_request, _of(image, key)
    joiners = [
        each
        for each in partition.adding
        if each not in partition.isr and each in image.brokers and image.may_lead(each)
    ]
    if not joiners or partition.leader == NO_NODE:
        return None
    members = (*partition.isr, random.choice(joiners))
    proposal = module.PartitionData(
        partition_index=partition.index,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=tuple(
            module.BrokerState(broker_id=each, broker_epoch=image.brokers[each].epoch)
            for each in members
        ),
    )
    topic = module.TopicData(topic_id=partition.topic_id, partitions=(proposal,))
    return module.AlterPartitionRequest(
        broker_id=partition.leader,
        broker_epoch=image.brokers[partition.leader].epoch,
        topics=(topic,),
    )


def cancelled(image: MetadataImage, key: PartitionKey) -> Reassignments:
    """Return the cancellation of a move."""
    return _reassignment(image, key, None)


def _reassignment(
    image: MetadataImage, key: PartitionKey, replicas: tuple[NodeId | int, ...] | None
) -> Reassignments:
    module = alter_partition_reassignments_request
    part = module.ReassignablePartition(partition_index=key[1], replicas=replicas)
    topic = module.ReassignableTopic(name=image.topics[key[0]].name, partitions=(part,))
    return module.AlterPartitionReassignmentsRequest(timeout_ms=1_000, topics=(topic,))


def _of(image: MetadataImage, key: PartitionKey) -> Partition:
    return image.partitions[key[0]][key[1]]
