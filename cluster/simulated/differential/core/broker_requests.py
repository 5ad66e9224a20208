"""Draw requests of a broker about the partitions of an image: ISR changes and directories."""

from collections.abc import Sequence
from copy import copy
from random import Random
from typing import Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.messages import (
    alter_partition_request,
    assign_replicas_to_dirs_request,
)
from kraftproof.node.wire.types import Uuid

_OFF: Final = (0, 0, 0, 0, 0, 0, 0, 0, -1, 1)
"""Distances of a proposed epoch from the epoch of the image."""


def _partitions(image: MetadataImage) -> list[Partition]:
    return [one for topic in image.sorted_topics() for one in image.partitions_of(topic.topic_id)]


def proposal(
    random: Random, image: MetadataImage, broker: int
) -> alter_partition_request.AlterPartitionRequest:
    """Return proposals of the broker, mostly for partitions that the broker leads."""
    module = alter_partition_request
    led = [one for one in _partitions(image) if one.leader == broker]
    if not led or random.random() < 0.1:
        led = _partitions(image)
    chosen = random.sample(led, min(len(led), random.choice((1, 1, 2))))
    topics = tuple(
        module.TopicData(topic_id=one.topic_id, partitions=(_proposed(random, image, broker, one),))
        for one in chosen
    )
    return module.AlterPartitionRequest(
        broker_id=broker, broker_epoch=_epoch(image, broker), topics=topics
    )


def _proposed(
    random: Random, image: MetadataImage, broker: int, partition: Partition
) -> alter_partition_request.PartitionData:
    module = alter_partition_request
    # A copy draws the epochs, so that recorded seeds keep their runs.
    chance = copy(random)
    isr = [one for one in partition.replicas if one == broker or random.random() < 0.6]
    return module.PartitionData(
        partition_index=partition.index,
        leader_epoch=partition.leader_epoch + chance.choice(_OFF),
        partition_epoch=partition.partition_epoch + chance.choice(_OFF),
        new_isr_with_epochs=tuple(
            module.BrokerState(
                broker_id=one, broker_epoch=random.choice((*(_epoch(image, one),) * 9, -1))
            )
            for one in isr
        ),
    )


def _epoch(image: MetadataImage, broker: int) -> int:
    registered = image.brokers.get(NodeId(broker))
    return -1 if registered is None else registered.epoch


def assignment(
    random: Random, image: MetadataImage, broker: int, directories: Sequence[Uuid]
) -> assign_replicas_to_dirs_request.AssignReplicasToDirsRequest:
    """Return the directories of a few replicas of the broker."""
    module = assign_replicas_to_dirs_request
    own = [one for one in _partitions(image) if broker in one.replicas]
    chosen = random.sample(own, min(len(own), random.choice((1, 2, 3))))
    topics = tuple(
        module.TopicData(
            topic_id=one.topic_id, partitions=(module.PartitionData(partition_index=one.index),)
        )
        for one in chosen
    )
    directory = random.choice((*directories, *directories, Uuid(random.randbytes(16))))
    return module.AssignReplicasToDirsRequest(
        broker_id=broker,
        broker_epoch=_epoch(image, broker),
        directories=(module.DirectoryData(id=directory, topics=topics),),
    )
