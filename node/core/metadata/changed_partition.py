"""Compute a partition after a PartitionChangeRecord (631-22).

The controller uses the function for answers before the record is applied to the whole image.
"""

from typing import Final

from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.records import metadata as records

UNCHANGED_LEADER: Final = -2
"""The leader of a PartitionChangeRecord that elects no leader."""


def changed_partition(was: Partition, record: records.PartitionChangeRecord) -> Partition:
    """Return the partition after the record; a named leader raises the leader epoch by one."""
    elects = record.leader != UNCHANGED_LEADER
    return Partition(
        topic_id=was.topic_id,
        index=was.index,
        replicas=_changed(was.replicas, record.replicas),
        isr=_changed(was.isr, record.isr),
        removing=_changed(was.removing, record.removing_replicas),
        adding=_changed(was.adding, record.adding_replicas),
        leader=NodeId(record.leader) if elects else was.leader,
        leader_epoch=Epoch(was.leader_epoch + 1) if elects else was.leader_epoch,
        partition_epoch=was.partition_epoch + 1,
        recovery_state=_changed_state(was.recovery_state, record.leader_recovery_state),
        directories=was.directories if record.directories is None else record.directories,
        eligible_leader_replicas=_changed(
            was.eligible_leader_replicas, record.eligible_leader_replicas
        ),
        last_known_elr=_changed(was.last_known_elr, record.last_known_elr),
        unknown_tags=was.unknown_tags,
    )


def nodes(ids: tuple[int, ...]) -> tuple[NodeId, ...]:
    """Return node ids of a record."""
    return tuple(map(NodeId, ids))


def _changed(was: tuple[NodeId, ...], now: tuple[int, ...] | None) -> tuple[NodeId, ...]:
    return was if now is None else nodes(now)


def _changed_state(was: int, now: int) -> int:
    return was if now < 0 else now
