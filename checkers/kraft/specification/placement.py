"""Rules for the replicas and leaders of a new topic (Kafka 4.3.0, ReplicaPlacer; KIP-631, KIP-36).

The chosen brokers are open. Required are distinct registered replicas, unfenced brokers before
fenced ones, as many racks as possible, and a number of leaderships that is even among the brokers
that may lead.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.ids import show, unassigned_like
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.rows import CreatableTopic, PartitionRecord

METADATA_VERSION: Final = "metadata.version"
LEVEL_OF_DIRECTORIES: Final = 17
DEFAULT: Final = -1
"""A number of partitions or replicas that asks for the default."""


def asked_partitions(topic: CreatableTopic, facts: Facts) -> int:
    """Return the number of partitions that a topic of a request asks for."""
    if topic.assignments:
        return len(topic.assignments)
    count = topic.num_partitions
    return facts.default_partitions if count == DEFAULT else count


def asked_factor(topic: CreatableTopic, facts: Facts) -> int:
    """Return the replication factor that a topic of a request asks for."""
    if topic.assignments:
        return len(topic.assignments[0].broker_ids)
    factor = topic.replication_factor
    return facts.default_replication_factor if factor == DEFAULT else factor


def wrong_partitions(
    image: Image, topic: CreatableTopic, facts: Facts, partitions: Sequence[PartitionRecord]
) -> str | None:
    """Return why the partitions of a new topic are wrong, or None."""
    count = asked_partitions(topic, facts)
    indexes = sorted(partition.partition_id for partition in partitions)
    if indexes != list(range(count)):
        return f"has the partitions {indexes}, but {count} were asked for"
    for partition in partitions:
        wrong = _wrong_partition(image, topic, facts, partition)
        wrong = wrong or wrong_directories(image, partition)
        if wrong is not None:
            return f"partition {partition.partition_id} {wrong}"
    return None if topic.assignments else _wrong_spread(image, partitions)


def _wrong_partition(
    image: Image, topic: CreatableTopic, facts: Facts, partition: PartitionRecord
) -> str | None:
    replicas, isr = partition.replicas, partition.isr
    factor = asked_factor(topic, facts)
    in_sync = tuple(replica for replica in replicas if image.may_lead(replica))
    if len(replicas) != factor:
        return f"has {len(replicas)} replicas, but {factor} were asked for"
    if len(set(replicas)) != len(replicas):
        return f"has a broker twice: {replicas}"
    if any(replica not in image.brokers for replica in replicas):
        return f"has a broker that is not registered: {replicas}"
    if sorted(isr) != sorted(in_sync):
        return f"has the ISR {isr}, but of its replicas {in_sync} may be in sync"
    if partition.leader not in isr:
        return f"is led by {partition.leader}, which is not in the ISR {isr}"
    if (partition.leader_epoch, partition.partition_epoch) != (0, 0):
        return f"has the epochs {partition.leader_epoch} and {partition.partition_epoch}, not 0"
    if partition.adding_replicas or partition.removing_replicas:
        return "is under reassignment"
    if topic.assignments:
        return _wrong_assignment(topic, partition, in_sync)
    return _wrong_choice(image, replicas, in_sync)


def wrong_directories(image: Image, partition: PartitionRecord) -> str | None:
    """Return why the log directories of a new partition are wrong, or None (KIP-858).

    A replica is in the only directory of its broker, or is unassigned until the broker tells.
    """
    places = partition.directories
    if image.features.get(METADATA_VERSION, 0) < LEVEL_OF_DIRECTORIES:
        return f"has the directories {places} before KIP-858" if places else None
    if len(places) != len(partition.replicas):
        return f"has {len(places)} directories for the replicas {partition.replicas}"
    for node, place in zip(partition.replicas, places, strict=True):
        own = image.brokers[node].log_dirs
        right = own[0] if len(own) == 1 else unassigned_like(place)
        if place != right:
            return f"has the directory {show(place)} on broker {node}, not {show(right)}"
    return None


def _wrong_assignment(
    topic: CreatableTopic, partition: PartitionRecord, in_sync: tuple[int, ...]
) -> str | None:
    asked = {entry.partition_index: entry.broker_ids for entry in topic.assignments}
    if partition.replicas != asked[partition.partition_id]:
        return f"has {partition.replicas}, but {asked[partition.partition_id]} were assigned"
    if partition.leader != in_sync[0]:
        return f"is led by {partition.leader}, but {in_sync[0]} comes first in {partition.replicas}"
    return None


def _wrong_choice(image: Image, replicas: tuple[int, ...], in_sync: tuple[int, ...]) -> str | None:
    """Check unfenced brokers and racks; a broker that shuts down counts as fenced (631-61)."""
    usable = [broker for broker in image.brokers.values() if broker.may_lead]
    most = min(len(replicas), len(usable))
    if len(in_sync) < most:
        return f"has the replicas {replicas}, of which {most} could be unfenced"
    racks = {broker.rack for broker in usable}
    used = {image.brokers[replica].rack for replica in in_sync}
    if len(used) < min(most, len(racks)):
        return f"has the replicas {in_sync} in {len(used)} of {len(racks)} racks"
    return None


def _wrong_spread(image: Image, partitions: Sequence[PartitionRecord]) -> str | None:
    """Check that no broker that may lead leads two partitions more than another."""
    led = Counter(partition.leader for partition in partitions)
    counts = [led[broker.broker_id] for broker in image.brokers.values() if broker.may_lead]
    if max(counts) - min(counts) > 1:
        return f"has its leaders spread unevenly: {dict(sorted(led.items()))}"
    return None
