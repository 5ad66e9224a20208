"""The final check of partitions: replicas are whole, equal, in their places, and not too long.

The clients of the background no longer produce. A follower may have to copy thousands of batches
over a slow link, one at a time, so the time counts from the last batch that any broker copied.
"""

from collections.abc import Iterator, Mapping, Sequence

from kraftproof.cluster.simulated.disk.partition_mirrors import (
    PartitionMirror,
    PartitionMirrors,
)
from kraftproof.cluster.simulated.invariants.partitions.replicas import NO_CONFIGS, TOPIC
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NO_NODE, NodeId, milliseconds
from kraftproof.node.core.metadata.image import MetadataImage, Partition

POLL_NS = milliseconds(100)
LIMIT_NS = milliseconds(15_000)
"""Time without a copied batch after which a partition must be whole."""
MOST_NS = milliseconds(900_000)
"""Time after which a partition must be whole, however slowly the followers copy."""
SHORT_INTERVAL_NS = milliseconds(5_000)
"""Longest interval of retention with a look at each log in the time of the final check."""
SPAN_BYTES = 2 * 4_096
"""Largest run of batches that retention removes at once, with room."""
STATEMENT = (
    "After the faults, each live replica is in the ISR with the bytes of the leader, each move to "
    "live brokers is complete, no log is larger than retention.bytes allows, and no broker has the "
    "log of another's replica."
)


async def judge_partitions(scope: SimulatedScope, world: World, core: Sequence[int]) -> None:
    """Wait until every partition is whole, and report a partition that is not in time."""
    begin_ns = moved_ns = scope.now()
    copied = _copied(world)
    while (fault := partition_fault(world, core)) is not None:
        if _copied(world) != copied:
            moved_ns, copied = scope.now(), _copied(world)
        if scope.now() >= min(moved_ns + LIMIT_NS, begin_ns + MOST_NS):
            node_id, detail = fault
            world.monitor.record(
                "PartitionsHeal", STATEMENT, detail, node=node_id, time_ns=scope.now()
            )
            return
        await scope.sleep(POLL_NS)


def _copied(world: World) -> int:
    """Return a number that changes with each copied batch."""
    logs = (machine.env.partitions for machine in world.machines.values())
    return sum(mirrors.of(log).end_offset for mirrors in logs for log in mirrors)


def partition_fault(world: World, core: Sequence[int]) -> tuple[int, str] | None:
    """Return a node and a description of a partition that is not whole; None without one."""
    processes = [world.machines[node_id].process for node_id in core]
    running = [process for process in processes if process is not None]
    if not running:
        return None
    image = max(running, key=_image_offset).image
    logs = {
        node_id: world.machines[node_id].env.partitions
        for node_id in core
        if world.machines[node_id].info.has("broker")
    }
    for partition in _partitions(image):
        detail = _lacks(image, partition, logs)
        if detail is None and world.replication.retention_interval_ns <= SHORT_INTERVAL_NS:
            detail = _surplus(image, partition, logs.get(partition.leader))
        if detail is not None:
            log = LogId(partition.topic_id, partition.index)
            return (partition.leader, f"log {log}: {detail}; {partition}")
    return _misplaced(image, logs)


def _image_offset(process: NodeProcess) -> int:
    return -1 if process.status is None else process.status.image_offset


def _partitions(image: MetadataImage) -> Iterator[Partition]:
    for topic_id in sorted(image.partitions):
        yield from image.partitions_of(topic_id)


def _lacks(
    image: MetadataImage, partition: Partition, logs: Mapping[int, PartitionMirrors]
) -> str | None:
    """Describe a partition that is not whole."""
    live = [node for node in logs if _is_active(image, node)]
    isr, leader = partition.isr, partition.leader
    if leader == NO_NODE:
        waiting = [member for member in isr if member in live]
        return f"member {waiting[0]} of the ISR is live, and no broker leads" if waiting else None
    outside = [node for node in partition.replicas if node in live and node not in isr]
    if outside:
        return f"replica {outside[0]} is not in the ISR"
    target = set(partition.replicas) - set(partition.removing)
    if partition.is_moving and target <= set(live):
        return "the move is not complete"
    log = LogId(partition.topic_id, partition.index)
    own = logs[leader].get(log) if leader in logs else None
    if own is None:
        return "the leader has no log"
    for member in isr:
        copy = logs[member].get(log) if member in logs else None
        if member in live and (copy is None or not _is_copy(copy, own)):
            held = "no log" if copy is None else f"offsets {copy.start_offset} to {copy.end_offset}"
            return f"replica {member} has {held}, not {own.start_offset} to {own.end_offset}"
    return None


def _surplus(
    image: MetadataImage, partition: Partition, own: PartitionMirrors | None
) -> str | None:
    """Describe a log that retention.bytes should have made shorter; see retention.py.

    What a start has recovered goes as a whole, segment by segment, so only the rest is judged.
    """
    topic = image.topics[partition.topic_id].name
    configs = image.configs.get((TOPIC, topic), NO_CONFIGS)
    limit = int(configs.get("retention.bytes") or -1)
    log = None if own is None else own.get(LogId(partition.topic_id, partition.index))
    if log is None or limit < 0 or "cleanup.policy" in configs:
        return None
    sizes = [batch.size for batch in log.batches if batch.next_offset > log.recovered_end]
    if sum(sizes) <= limit + SPAN_BYTES + max(sizes, default=0):
        return None
    return f"the log has {sum(sizes)} bytes, retention.bytes is {limit}"


def _is_copy(copy: PartitionMirror, own: PartitionMirror) -> bool:
    """Compare begin, end and last batch; LogMatching compares the batches before.

    The log of a member may begin later than the leader's: the leader before had raised the start,
    and this leader had not fetched the new start yet.
    """
    if copy.start_offset < own.start_offset or copy.end_offset != own.end_offset:
        return False
    if not copy.batches or not own.batches:
        return copy.start_offset == copy.end_offset or copy.batches == own.batches
    return copy.batches[-1].data == own.batches[-1].data


def _is_active(image: MetadataImage, node_id: int) -> bool:
    broker = image.brokers.get(NodeId(node_id))
    return broker is not None and broker.may_lead


def _misplaced(
    image: MetadataImage, logs: Mapping[int, PartitionMirrors]
) -> tuple[int, str] | None:
    """Return a broker with the log of a partition that has no replica there."""
    for node_id, mirrors in logs.items():
        for log in mirrors:
            partitions = image.partitions.get(log.topic_id)
            partition = None if partitions is None else partitions.get(log.partition)
            if partition is None or node_id not in partition.replicas:
                return (node_id, f"log {log}: the broker has no replica of the partition")
    return None
