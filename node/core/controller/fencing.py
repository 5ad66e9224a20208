"""What becomes of partitions when a broker comes or goes (KIP-631 "FenceBrokerRecord").

The moves are PartitionChangeRecords in the same batch as the change of the broker, so no image
ever shows a fenced leader. Not: when a broker is fenced (brokers.py, sessions.py).
"""

from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.apply import UNCHANGED_LEADER
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition
from kraftproof.node.wire.messages import metadata as records
from kraftproof.node.wire.messages.batch import Record


def fence(image: MetadataImage, broker: BrokerRegistration) -> tuple[Record, ...]:
    """Fence an active broker and give its partitions to others."""
    record = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, fenced=1
    )
    return (record, *leave(image, broker.broker_id))


def unfence(image: MetadataImage, broker: BrokerRegistration) -> tuple[Record, ...]:
    """Unfence a broker, which then leads again what only it can lead (631-54)."""
    record = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, fenced=-1
    )
    elections = tuple(
        _change(partition, leader=broker.broker_id)
        for partition in image.in_isr(broker.broker_id)
        if partition.leader == NO_NODE
    )
    return (record, *elections)


def leave(image: MetadataImage, broker_id: NodeId) -> tuple[Record, ...]:
    """Take a broker out of every ISR and move its leaderships (631-53).

    The last member of an ISR stays in it, without a leader: it alone has all that was written.
    """
    changes = (_without(image, partition, broker_id) for partition in image.in_isr(broker_id))
    return tuple(change for change in changes if change is not None)


def _without(
    image: MetadataImage, partition: Partition, broker_id: NodeId
) -> records.PartitionChangeRecord | None:
    others = tuple(member for member in partition.isr if member != broker_id)
    isr = others or None
    if partition.leader != broker_id:
        return None if isr is None else _change(partition, isr=isr)
    return _change(partition, isr=isr, leader=elect(image, partition.replicas, others))


def elect(image: MetadataImage, replicas: tuple[NodeId, ...], isr: tuple[NodeId, ...]) -> NodeId:
    """The first replica in preferred order that is in sync and may lead; -1 if none is."""
    for candidate in replicas:
        broker = image.brokers.get(candidate)
        if candidate in isr and broker is not None and broker.may_lead:
            return candidate
    return NO_NODE


def _change(
    partition: Partition, *, isr: tuple[NodeId, ...] | None = None, leader: int = UNCHANGED_LEADER
) -> records.PartitionChangeRecord:
    return records.PartitionChangeRecord(
        partition_id=partition.index, topic_id=partition.topic_id, isr=isr, leader=leader
    )
