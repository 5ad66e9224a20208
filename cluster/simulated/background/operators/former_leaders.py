"""Leaders that are cut off from the controllers, and serve on while another broker leads (KIP-320).

A leader of the background topic is cut from every controller until its session has expired, and a
while longer. Followers and clients still reach it. An idempotent producer writes to it with
acks=1, so that the records go to the old leader alone. After the heal the producer sends the lost
batches to the present leader, and some of them again later: the former leader truncates its copies
of the batches, and must forget their sequence numbers, too.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.background.operators.cuts import (
    cut_links,
    heal_links,
    links_between,
)
from kraftproof.cluster.simulated.background.partition_clients import (
    NAME,
    NO_TIMESTAMP,
    PRODUCE_VERSION,
    Client,
    produce_to,
)
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.metadata.image import MetadataImage, Partition

SHARE: Final = 0.2
"""Share of the runs with a data plane that have such leaders."""
LABEL: Final = "zombie-leaders-1610"
"""Source of the draw; by this label few seeds recorded for older mutants have such leaders."""
SHORTEST_REST_NS, LONGEST_REST_NS = milliseconds(2_000), milliseconds(9_000)
"""Time between two cuts."""
LONGEST_EXTRA_NS: Final = milliseconds(2_000)
"""Longest time of a cut after the end of the session."""
LONGEST_PAUSE_NS: Final = milliseconds(120)
"""Longest time between two batches for the former leader."""
LONGEST_LATER_NS: Final = milliseconds(6_000)
"""Longest time until the batches come again."""
REPEATED: Final = 5
"""Number of last batches that the producer repeats; a broker knows as many."""
ACKS_LEADER, ACKS_ALL = 1, -1


async def isolate_leaders(
    scope: SimulatedScope, world: World, random: Random, brokers: list[int]
) -> None:
    """Cut leaders off from the controllers, one at a time, until the final phase."""
    client = Client(scope, world.network, Random(f"{random.random()}"), brokers)
    producer_id, sequence = await client.new_producer_id(), 0
    while not world.is_in_final_phase:
        await scope.sleep(random.randrange(SHORTEST_REST_NS, LONGEST_REST_NS))
        if world.is_in_final_phase:
            return
        partition = _replicated(world, random, brokers)
        links = [] if partition is None else _links(world, partition.leader)
        if partition is None or not links:
            continue
        cut_links(world, links)
        until_ns = scope.now() + world.timeouts.session_ns + random.randrange(LONGEST_EXTRA_NS)
        sent, writers = list[bytes](), []
        while scope.now() < until_ns and not world.is_in_final_phase:
            value = f"zombie-{sequence}".encode()
            sent.append(client_batch([value], NO_TIMESTAMP, (producer_id, 0, sequence)))
            sequence += 1
            request = produce_to(sent[-1], partition.index, ACKS_LEADER)
            asking = client.ask(partition.leader, request, PRODUCE_VERSION)
            writers.append(scope.spawn(asking))
            await scope.sleep(random.randrange(LONGEST_PAUSE_NS))
        heal_links(world, links)
        for writer in writers:
            await writer
        for _ in range(2):
            for data in sent[-REPEATED:]:
                await client.send(data, partition.index, ACKS_ALL)
            await scope.sleep(random.randrange(LONGEST_LATER_NS))


def _replicated(world: World, random: Random, brokers: Sequence[int]) -> Partition | None:
    """Return a partition of the background topic whose leader has another member in sync."""
    images = [
        machine.process.image for machine in world.machines.values() if machine.process is not None
    ]
    image = max(images, key=_version_of, default=None)
    topic_id = None if image is None else image.topic_ids.get(NAME)
    if image is None or topic_id is None:
        return None
    found = [
        each
        for each in image.partitions_of(topic_id)
        if each.leader in brokers and len(each.isr) > 1
    ]
    return random.choice(found) if found else None


def _version_of(image: MetadataImage) -> int:
    """Return a number that grows with the image: the sum of its partitions' epochs."""
    topic_id = image.topic_ids.get(NAME)
    if topic_id is None:
        return -1
    return sum(each.partition_epoch for each in image.partitions_of(topic_id))


def _links(world: World, leader: int) -> list[Link]:
    """Return the links between a leader and the controllers; none if a cut is there already."""
    links = links_between(leader, world.voters)
    return [] if any(world.links.is_cut(link) for link in links) else links
