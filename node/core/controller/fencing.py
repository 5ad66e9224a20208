"""Move partitions when a broker is fenced, unfenced or removed (KIP-631 "FenceBrokerRecord").

The PartitionChangeRecords are in the same batch as the broker's change, so no image shows a fenced
leader. See brokers.py and sessions.py for the cause of a fencing.
"""

from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.changed_partition import UNCHANGED_LEADER
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record


def fence(image: MetadataImage, broker: BrokerRegistration) -> tuple[Record, ...]:
    """Fence an active broker and move its leaderships."""
    record = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, fenced=1
    )
    return (record, *leave(image, broker.broker_id))


def unfence(image: MetadataImage, broker: BrokerRegistration) -> tuple[Record, ...]:
    """Unfence a broker and elect it for the leaderless partitions of its ISRs (631-54)."""
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
    """Remove a broker from every ISR and move its leaderships (631-53).

    The last member of an ISR stays in the ISR without a leader, since only its log is complete.
    """
    changes: list[Record] = []
    without: dict[tuple[NodeId, ...], tuple[NodeId, ...]] = {}
    """Each ISR and its other members; a broker has many partitions but few different ISRs."""
    for partition in image.in_isr(broker_id):
        others = without.get(partition.isr)
        if others is None:
            others = tuple(member for member in partition.isr if member != broker_id)
            without[partition.isr] = others
        if partition.leader == broker_id:
            leader = elect(image, partition.replicas, others)
            changes.append(_change(partition, isr=others or None, leader=leader))
        elif others:
            changes.append(_change(partition, isr=others))
    return tuple(changes)


def elect(image: MetadataImage, replicas: tuple[NodeId, ...], isr: tuple[NodeId, ...]) -> NodeId:
    """Return the first replica in preferred order that is in sync and may lead.

    -1 without a match.
    """
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
