"""Rules for partitions when a broker leaves or returns (KIP-631 "FenceBrokerRecord"; 631-53, 54).

A broker that is fenced, shuts down, registers anew or is unregistered leaves every ISR and leads
nothing; the last member of an ISR stays in the ISR without a leader. A broker that is unfenced
leads the leaderless partitions of its ISRs. Every other partition stays as it was, and no partition
changes twice for one cause. A new leader is the first replica, in the order of the assignment, that
is in the ISR and may lead (Kafka's PartitionChangeBuilder).
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.ids import Id, show
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.partitions.change import (
    NO_LEADER,
    allows_unclean,
    is_on_disk,
    with_completed_reassignment,
)

NOTHING_LOST: Final[Mapping[int, frozenset[Id]]] = {}


def wrong_partition_changes(
    before: Image,
    after: Image,
    left: set[int],
    lost: Mapping[int, frozenset[Id]] = NOTHING_LOST,
) -> str | None:
    """Return why the partitions are wrong after brokers have left or returned, or None.

    Args:
        before: The image before the batch.
        after: The image after the batch.
        left: The brokers that left; every broker that may lead only afterwards has returned.
        lost: The log directories that brokers have lost: their replicas leave alike (KIP-858).
    """
    returned = {
        broker_id
        for broker_id, broker in after.brokers.items()
        if broker.may_lead and not before.may_lead(broker_id)
    }
    was = _partitions(before)
    now = _partitions(after)
    if was.keys() != now.keys():
        return "partitions appeared or disappeared"
    for key, partition in was.items():
        is_unclean = allows_unclean(after, after.topics[key[0]].name)
        gone = left | {
            node
            for node, place in zip(partition.replicas, partition.directories, strict=False)
            if place in lost.get(node, ())
        }
        wrong = _wrong_change(after, partition, now[key], gone, returned, is_unclean=is_unclean)
        if wrong is not None:
            return f"partition {key[1]} of {show(key[0])} {wrong}"
    return None


def _partitions(image: Image) -> Mapping[PartitionKey, Partition]:
    return {
        (topic_id, index): partition
        for topic_id, topic in image.topics.items()
        for index, partition in topic.partitions.items()
    }


def _wrong_change(
    after: Image,
    was: Partition,
    now: Partition,
    left: set[int],
    returned: set[int],
    *,
    is_unclean: bool,
) -> str | None:
    stays = tuple(member for member in was.isr if member not in left)
    base = was
    if stays and (now != was or left.intersection(was.isr)):
        base = with_completed_reassignment(replace(was, isr=stays))
    if (now.replicas, now.adding, now.removing) != (base.replicas, base.adding, base.removing):
        return f"has the replicas {now.replicas}, not {base.replicas}"
    if now.recovery_state != was.recovery_state or (is_unclean and now.leader not in base.isr):
        return _wrong_unclean(after, now, stays, returned, is_unclean=is_unclean)
    if len(left) > 1 and left.issuperset(was.isr):
        isr_is_right = len(now.isr) == 1 and now.isr[0] in was.isr  # the last one to leave
    else:
        isr_is_right = sorted(now.isr) == sorted(base.isr)
    if not isr_is_right:
        return f"has the ISR {now.isr} after {was.isr}, though {sorted(left)} left"
    wrong = _wrong_leader(after, was, now, returned)
    if wrong is not None:
        return wrong
    changes = now.partition_epoch - was.partition_epoch
    if (now == was) != (changes == 0) or changes > max(1, len(left & set(was.isr))):
        return f"changed {changes} times from {was} to {now}"
    return None


def _can_lead(after: Image, partition: Partition, node: int) -> bool:
    is_there = is_on_disk(after, partition.replicas, partition.directories, node)
    return is_there and after.may_lead(node)


def _wrong_unclean(
    after: Image,
    now: Partition,
    stays: tuple[int, ...],
    returned: set[int],
    *,
    is_unclean: bool,
) -> str | None:
    """Return why an election from outside the ISR, or the lack of such an election, is wrong."""
    able = [node for node in now.replicas if _can_lead(after, now, node)]
    if now.leader == NO_LEADER:
        must_lead = bool(able) and (not stays or bool(returned.intersection(able)))
        return f"has no leader, but {able} may lead" if must_lead else None
    if not is_unclean or any(_can_lead(after, now, member) for member in stays):
        return f"was given the leader {now.leader} from outside its ISR {stays}"
    if now.isr != (now.leader,) or now.recovery_state != 1 or [now.leader] != able[:1]:
        return f"is led by {now.leader} with the ISR {now.isr} after an unclean election"
    return None


def _wrong_leader(after: Image, was: Partition, now: Partition, returned: set[int]) -> str | None:
    eligible = [member for member in now.isr if _can_lead(after, now, member)]
    if now.leader != NO_LEADER and now.leader not in eligible:
        return f"is led by {now.leader}, but of its ISR {eligible} may lead"
    if was.leader in eligible:
        stays = now.leader == was.leader
        return None if stays else f"lost its leader {was.leader} to {now.leader} without a cause"
    preferred = next((member for member in now.replicas if member in eligible), NO_LEADER)
    if now.leader not in {NO_LEADER, was.leader, preferred}:
        return f"is led by {now.leader}, but {preferred} precedes it in {now.replicas}"
    if now.leader == NO_LEADER and (was.leader != NO_LEADER or returned.intersection(now.isr)):
        return f"has no leader, but of its ISR {eligible} may lead" if eligible else None
    return None
