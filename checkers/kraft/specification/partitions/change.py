"""Compute a partition after a change: completed reassignment, leader, epochs (KIP-631).

The rules are those of Kafka's PartitionChangeBuilder, without eligible leader replicas (KIP-966).
"""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.ids import Id, is_zero, unassigned_like
from kraftproof.checkers.kraft.specification.image import Image, Partition

NO_LEADER: Final = -1
RECOVERING: Final = 1
UNCLEAN: Final = "unclean.leader.election.enable"
BROKER_RESOURCE: Final = 4
METADATA_VERSION: Final = "metadata.version"
LEVEL_OF_KEPT_EPOCHS: Final = 12
"""3.6-IV0; below, a member that leaves an ISR changes the leader epoch."""


class Election(Enum):
    """The kind of an election."""

    USUAL = auto()
    PREFERRED = auto()
    UNCLEAN = auto()


def allows_unclean(image: Image, topic: str) -> bool:
    """Return whether elections of a topic may be unclean."""
    own = image.configs.get(topic, {}).get(UNCLEAN)
    text = image.configs_of(BROKER_RESOURCE, "").get(UNCLEAN) if own is None else own
    return text is not None and text.strip().lower() == "true"


def is_on_disk(
    image: Image, replicas: tuple[int, ...], directories: tuple[Id, ...], node: int
) -> bool:
    """Return whether the directory of a replica is one of its broker, or not known yet."""
    place = dict(zip(replicas, directories, strict=False)).get(node)
    if place is None or is_zero(place) or place == unassigned_like(place):
        return True
    return node in image.brokers and place in image.brokers[node].log_dirs


def after_change(
    image: Image,
    was: Partition,
    wanted: Partition,
    *,
    election: Election = Election.USUAL,
    may_lead: Callable[[int], bool] | None = None,
) -> Partition:
    """Return the state of a partition after a change to the wanted replicas and ISR.

    The leader and both epochs of `wanted` do not matter. The result is `was` if nothing changes.
    """
    named = may_lead or image.may_lead

    def is_able(node: int) -> bool:
        return named(node) and is_on_disk(image, was.replicas, wanted.directories, node)

    now = replace(wanted, isr=was.isr)
    if wanted.isr:
        now = with_completed_reassignment(wanted)
    in_sync = [node for node in now.replicas if node in wanted.isr and is_able(node)]
    leader, is_unclean = was.leader, False
    if election is Election.PREFERRED and in_sync[:1] == list(now.replicas[:1]) != []:
        leader = in_sync[0]
    elif was.leader not in in_sync:
        able = [node for node in now.replicas if is_able(node)]
        is_unclean = election is Election.UNCLEAN and not in_sync and bool(able)
        leader = (in_sync or (able if is_unclean else []) or [NO_LEADER])[0]
    if is_unclean:
        now = replace(now, isr=(leader,), recovery_state=RECOVERING)
    if now.replicas != was.replicas:
        places = dict(zip(was.replicas, wanted.directories, strict=False))
        now = replace(now, directories=_directories(image, places, now.replicas))
    lost = set(was.replicas) - set(now.replicas)
    if image.features.get(METADATA_VERSION, LEVEL_OF_KEPT_EPOCHS) < LEVEL_OF_KEPT_EPOCHS:
        lost |= set(was.isr) - set(now.isr)
    elects = leader != was.leader or bool(lost)
    now = replace(
        now,
        leader=leader,
        leader_epoch=was.leader_epoch + elects,
        partition_epoch=was.partition_epoch,
    )
    return now if now == was else replace(now, partition_epoch=was.partition_epoch + 1)


def _directories(image: Image, kept: Mapping[int, Id], replicas: tuple[int, ...]) -> tuple[Id, ...]:
    """Return the directories of new replicas: kept, the only one of the broker, or unassigned."""
    if not kept:
        return ()
    unassigned = unassigned_like(next(iter(kept.values())))
    places = []
    for node in replicas:
        broker = image.brokers.get(node)
        own = () if broker is None else broker.log_dirs
        places.append(kept.get(node) or (own[0] if len(own) == 1 else unassigned))
    return tuple(places)


def with_completed_reassignment(partition: Partition) -> Partition:
    """Return the partition without its removed replicas if every other replica is in sync."""
    stay = tuple(node for node in partition.replicas if node not in partition.removing)
    in_sync = tuple(node for node in partition.isr if node not in partition.removing)
    if not (partition.adding or partition.removing) or not stay or set(stay) - set(in_sync):
        return partition
    return replace(partition, replicas=stay, isr=in_sync, removing=(), adding=())
