"""Move partitions when a broker is fenced, unfenced or removed (KIP-631 "FenceBrokerRecord").

The PartitionChangeRecords are in the same batch as the broker's change, so no image shows a fenced
leader. See brokers.py and sessions.py for the cause of a fencing.
"""

from collections.abc import Collection, Iterable

from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.controller.partitions.change import (
    MayLead,
    Replicas,
    Target,
    change_partition,
    shrink_changes_epoch,
)
from kraftproof.node.core.controller.partitions.unclean import election_of
from kraftproof.node.core.metadata.changed_partition import UNCHANGED_LEADER
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.metadata import PartitionChangeRecord
from kraftproof.node.wire.types import Uuid

_Shape = tuple[Replicas, Replicas, NodeId, tuple[Uuid, ...]]
"""The replicas, the ISR, the leader and the directories of a partition."""


def fence(image: MetadataImage, broker: BrokerRegistration) -> tuple[Record, ...]:
    """Fence an active broker and move its leaderships."""
    record = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, fenced=1
    )
    return (record, *leave(image, broker.broker_id))


def unfence(image: MetadataImage, broker: BrokerRegistration) -> tuple[Record, ...]:
    """Unfence a broker and elect it for leaderless partitions, first of its ISRs (631-54)."""
    record = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, fenced=-1
    )

    def may_lead(node: NodeId) -> bool:
        return node == broker.broker_id or image.may_lead(node)

    return (record, *elections(image, image.without_leader(), may_lead))


def elections(
    image: MetadataImage, partitions: Iterable[Partition], may_lead: MayLead
) -> tuple[Record, ...]:
    """Elect leaders for partitions, unclean where the topic allows unclean elections."""
    changes = (
        change_partition(image, partition, may_lead, Target(election=election_of(image, partition)))
        for partition in partitions
    )
    return tuple(change for change in changes if change is not None)


def lose_directories(
    image: MetadataImage, broker: BrokerRegistration, failed: Collection[Uuid]
) -> tuple[Record, ...]:
    """Move the replicas in failed directories out of ISRs and leaderships (631-28, KIP-858)."""
    record = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch,
        log_dirs=tuple(entry for entry in broker.log_dirs if entry not in failed),
    )
    affected = [
        partition
        for partition in image.in_isr(broker.broker_id)
        if any(
            node == broker.broker_id and directory in failed
            for node, directory in zip(partition.replicas, partition.directories, strict=False)
        )
    ]
    return (*_leave(image, broker.broker_id, affected), record)


def leave(image: MetadataImage, broker_id: NodeId) -> tuple[Record, ...]:
    """Remove a broker from every ISR and move its leaderships (631-53)."""
    return _leave(image, broker_id, image.in_isr(broker_id))


def _leave(
    image: MetadataImage, broker_id: NodeId, partitions: Iterable[Partition]
) -> tuple[Record, ...]:
    """Remove a broker from the ISRs of partitions and move its leaderships.

    The last member of an ISR stays in the ISR without a leader, since only its log is complete,
    unless the topic allows unclean elections.
    """
    changes: list[Record] = []
    without: dict[Replicas, Replicas] = {}
    """Each ISR and its other members; a broker has many partitions but few different ISRs."""
    elected: dict[_Shape, int] = {}
    """The elected members in sync; partitions of one shape elect the same member."""

    def may_lead(node: NodeId) -> bool:
        return node != broker_id and image.may_lead(node)

    is_old = shrink_changes_epoch(image)
    for partition in partitions:
        isr, leader = partition.isr, partition.leader
        others = without.get(isr)
        if others is None:
            others = without[isr] = tuple(member for member in isr if member != broker_id)
        if partition.adding or partition.removing:
            changes += _change_of_isr(image, partition, may_lead, others)
            continue
        if leader in {broker_id, NO_NODE}:
            shape = (partition.replicas, isr, leader, partition.directories)
            elect = elected.get(shape)
            if elect is None:
                change = _change_of_isr(image, partition, may_lead, others)
                changes += change
                if change and change[0].leader in others:
                    elected[shape] = change[0].leader
                continue
        elif others:
            elect = leader if is_old else UNCHANGED_LEADER
        else:
            continue
        changes.append(
            PartitionChangeRecord(
                partition_id=partition.index, topic_id=partition.topic_id, isr=others, leader=elect
            )
        )
    return tuple(changes)


def _change_of_isr(
    image: MetadataImage, partition: Partition, may_lead: MayLead, isr: Replicas
) -> list[PartitionChangeRecord]:
    """Return the record that shrinks an ISR and elects a leader, if there is a change."""
    target = Target(isr=isr, election=election_of(image, partition))
    change = change_partition(image, partition, may_lead, target)
    return [] if change is None else [change]
