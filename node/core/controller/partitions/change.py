"""Build the record of a partition's change: reassignment, election and leader epoch (KIP-497, 631).

Every change of a partition goes through `change_partition`, whatever the cause: AlterPartition, a
fenced broker, an election, a reassignment. The function therefore completes a reassignment at the
first change that allows the completion. See isr.py for the proposals of
leaders.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.directory_ids import MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.changed_partition import UNCHANGED_LEADER
from kraftproof.node.core.metadata.default_directory import default_directory
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.core.metadata.version import METADATA_VERSION
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

Replicas = tuple[NodeId, ...]
MayLead = Callable[[NodeId], bool]
"""Whether a replica may lead, apart from its membership in the ISR."""

RECOVERED: Final = 0
RECOVERING: Final = 1
"""The leader recovery state after an unclean election, until the leader has recovered (KIP-704)."""
_UNCHANGED_STATE: Final = -1
_SHRINK_KEEPS_EPOCH: Final = 12
"""The level of metadata.version (3.6-IV0) from which a smaller ISR keeps the leader epoch."""


class Election(Enum):
    """The rule for the choice of a leader."""

    USUAL = auto()
    """Keep the leader, else elect the first replica in sync."""
    PREFERRED = auto()
    """Elect the first replica if the replica is in sync."""
    UNCLEAN = auto()
    """Elect a replica that is not in sync if no replica is in sync; records may be lost."""


class Target(Struct, frozen=True, kw_only=True):
    """The wanted state of a partition; None keeps the present value."""

    isr: Replicas | None = None
    replicas: Replicas | None = None
    removing: Replicas | None = None
    adding: Replicas | None = None
    recovery_state: int | None = None
    directories: tuple[Uuid, ...] | None = None
    """The directory of each replica; the directories follow new replicas by themselves."""
    election: Election = Election.USUAL


NO_TARGET: Final = Target()


class _Draft(Struct, kw_only=True):
    """The assignment and the ISR after the change."""

    replicas: Replicas
    isr: Replicas
    removing: Replicas
    adding: Replicas


def change_partition(
    image: MetadataImage, partition: Partition, may_lead: MayLead, target: Target = NO_TARGET
) -> records.PartitionChangeRecord | None:
    """Return the record that brings a partition to the target; None without a change.

    A target with an empty ISR keeps the members of the ISR, since only their logs are complete.
    """
    draft = _Draft(
        replicas=_given(target.replicas, partition.replicas),
        isr=_given(target.isr, partition.isr),
        removing=_given(target.removing, partition.removing),
        adding=_given(target.adding, partition.adding),
    )
    _complete_reassignment(draft)
    places = partition.directories if target.directories is None else target.directories
    if places:
        may_lead = _with_directory(
            image, dict(zip(partition.replicas, places, strict=False)), may_lead
        )
    leader, is_unclean = _elect(partition, draft, may_lead, target.election)
    recovery_state = partition.recovery_state
    if target.recovery_state is not None:
        recovery_state = target.recovery_state
    if is_unclean:
        draft.isr, recovery_state = (leader,), RECOVERING
    is_new_isr = bool(draft.isr) and draft.isr != partition.isr
    elects = leader != partition.leader or _fences_followers(image, partition, draft)
    record = records.PartitionChangeRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        isr=draft.isr if is_new_isr else None,
        leader=leader if elects else UNCHANGED_LEADER,
        replicas=_if_changed(draft.replicas, partition.replicas),
        removing_replicas=_if_changed(draft.removing, partition.removing),
        adding_replicas=_if_changed(draft.adding, partition.adding),
        leader_recovery_state=(
            _UNCHANGED_STATE if recovery_state == partition.recovery_state else recovery_state
        ),
        directories=_directories(image, partition, draft.replicas, target.directories),
    )
    return None if record == _no_change(partition) else record


def _directories(
    image: MetadataImage,
    partition: Partition,
    replicas: Replicas,
    wanted: tuple[Uuid, ...] | None,
) -> tuple[Uuid, ...] | None:
    """Return the directories of the replicas if they change; None keeps them.

    The wanted directories are those of the present replicas, of which a completed reassignment
    drops some. A partition without directories gets none. The directory of a new replica is the
    only one of its broker, or else unassigned until the broker tells (KIP-858).
    """
    if wanted is None:
        wanted = partition.directories
    if replicas != partition.replicas and wanted:
        known = dict(zip(partition.replicas, wanted, strict=False))
        wanted = tuple(known.get(node) or default_directory(image, node) for node in replicas)
    return None if wanted == partition.directories else wanted


def _with_directory(image: MetadataImage, places: dict[NodeId, Uuid], may_lead: MayLead) -> MayLead:
    """Return `may_lead` for replicas whose directory is online only (KIP-858)."""

    def may_lead_from_disk(node: NodeId) -> bool:
        directory = places.get(node, UNASSIGNED)
        broker = image.brokers.get(node)
        known = () if broker is None else broker.log_dirs
        return may_lead(node) and directory in {MIGRATING, UNASSIGNED, *known}

    return may_lead_from_disk


def _given(wanted: Replicas | None, present: Replicas) -> Replicas:
    return present if wanted is None else wanted


def _if_changed(wanted: Replicas, present: Replicas) -> Replicas | None:
    return None if wanted == present else wanted


def _no_change(partition: Partition) -> records.PartitionChangeRecord:
    return records.PartitionChangeRecord(partition_id=partition.index, topic_id=partition.topic_id)


def _complete_reassignment(draft: _Draft) -> None:
    """Drop the replicas to be removed once every remaining replica is in the ISR (631-73)."""
    if not draft.removing and not draft.adding:
        return
    replicas = tuple(node for node in draft.replicas if node not in draft.removing)
    isr = tuple(node for node in draft.isr if node not in draft.removing)
    if replicas and set(replicas) <= set(isr):
        draft.replicas, draft.isr, draft.removing, draft.adding = replicas, isr, (), ()


def _elect(
    partition: Partition, draft: _Draft, may_lead: MayLead, election: Election
) -> tuple[NodeId, bool]:
    """Return the leader, and whether the leader was not in sync; -1 if no replica may lead."""
    order = (partition.leader, *draft.replicas)
    if election is Election.PREFERRED:
        order = (*draft.replicas[:1], *order)
    for candidate in order:
        if candidate in draft.isr and may_lead(candidate):
            return candidate, False
    if election is Election.UNCLEAN:
        for candidate in draft.replicas:
            if may_lead(candidate):
                return candidate, True
    return NO_NODE, False


def _fences_followers(image: MetadataImage, partition: Partition, draft: _Draft) -> bool:
    """Return whether the leader epoch must change though the leader stays.

    A removed replica must no longer be able to fetch. Below metadata.version 3.6 a member that
    left the ISR must not, either.
    """
    if not set(partition.replicas) <= set(draft.replicas):
        return True
    has_left = bool(draft.isr) and not set(partition.isr) <= set(draft.isr)
    return has_left and shrink_changes_epoch(image)


def shrink_changes_epoch(image: MetadataImage) -> bool:
    """Return whether a member that leaves an ISR changes the leader epoch, as before Kafka 3.6."""
    return image.features.get(METADATA_VERSION, _SHRINK_KEEPS_EPOCH) < _SHRINK_KEEPS_EPOCH
