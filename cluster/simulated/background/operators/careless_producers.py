"""Producers that begin new epochs, break their sequences, or come to the end of the numbers.

A producer with an open error raises its epoch and begins at 0 again (KIP-360). A producer with a
bug begins elsewhere, leaves a number out, or writes with its old epoch: the leader must refuse
each of these. ProducersWriteInOrder judges the logs, and ProducersAreJudgedByTheLog the refusals.
A tool asks every replica for its producers meanwhile (KIP-664), which DescriptionsAreTrue judges.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.background.partition_clients import (
    NAME,
    NO_TIMESTAMP,
    PARTITIONS,
    Client,
)
from kraftproof.cluster.simulated.kernel.clock import START_OF_TIME_NS
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import describe_producers_request

SHARE: Final = 0.25
"""Share of the runs with a data plane that have such producers."""
LABEL: Final = "careless-producers-2740"
"""Source of the draw; by this label few seeds recorded for older mutants have such producers."""
LONGEST_REST_NS: Final = milliseconds(500)
LONGEST_LOOK_NS: Final = milliseconds(400)
SEQUENCES: Final = 1 << 31
NEAR_THE_END: Final = SEQUENCES - 4
"""A first sequence number from which few batches reach the last number, after which comes 0."""
OLD_MS: Final = 2 * 86_400_000
"""Age of the records of some producers: a producer is forgotten a day after its last batch came,
however old its records are."""
ACKS: Final = (-1, -1, 1)
DESCRIBE_VERSION: Final = 0

Producer = tuple[int, int, int]
"""Id, epoch and next sequence number."""


async def produce_carelessly(
    scope: SimulatedScope, world: World, random: Random, brokers: list[int]
) -> None:
    """Produce right and wrong batches until the final phase, and look at the producers."""
    client = Client(scope, world.network, Random(f"{random.random()}"), brokers)
    looking = scope.spawn(_look(scope, Random(f"{random.random()}"), client, brokers))
    while not world.is_in_final_phase:
        producer_id = await client.new_producer_id()
        producer = (producer_id, 0, random.choice((0, NEAR_THE_END)))
        time_ms = now_ms(scope) - random.choice((0, 0, OLD_MS))
        partition = random.randrange(PARTITIONS)
        for _ in range(random.randint(4, 20)):
            await scope.sleep(random.randrange(LONGEST_REST_NS))
            count = random.randint(1, 2)
            if not await client.repeat(batch_of(producer, count, time_ms), partition):
                break  # the log has lost the state of the producer, or a broker is wrong
            producer = after(producer, count)
            for wrong in wrong_batches(random, producer):
                await client.send(wrong, partition, random.choice(ACKS))
            if random.random() < 0.2:
                producer = (producer_id, producer[1] + 1, 0)
    await looking


async def _look(
    scope: SimulatedScope, random: Random, client: Client, brokers: Sequence[int]
) -> None:
    """Ask any replica for the producers of the topic, until the run ends."""
    module = describe_producers_request
    indexes = tuple(range(PARTITIONS))
    topic = module.TopicRequest(name=NAME, partition_indexes=indexes)
    request = module.DescribeProducersRequest(topics=(topic,))
    while True:
        await scope.sleep(random.randrange(LONGEST_LOOK_NS))
        await client.ask(random.choice(brokers), request, DESCRIBE_VERSION)


def now_ms(scope: SimulatedScope) -> int:
    """Return the time of a client with a right clock."""
    return (START_OF_TIME_NS + scope.now()) // milliseconds(1)


def batch_of(producer: Producer, count: int, time_ms: int = NO_TIMESTAMP) -> bytes:
    """Return the next batch of a producer."""
    values = [f"{producer}-{delta}".encode() for delta in range(count)]
    return client_batch(values, time_ms, producer)


def after(producer: Producer, count: int) -> Producer:
    """Return the producer after a batch of `count` records."""
    producer_id, epoch, sequence = producer
    return (producer_id, epoch, (sequence + count) % SEQUENCES)


def wrong_batches(random: Random, producer: Producer) -> list[bytes]:
    """Return batches that a leader must refuse, given the producer's next batch; often none."""
    producer_id, epoch, sequence = producer
    kind = random.random()
    if kind < 0.12:
        return [batch_of((producer_id, epoch, (sequence + 1) % SEQUENCES), 1)]
    if kind < 0.24:
        return [batch_of((producer_id, epoch + 1, random.choice((1, sequence or 7))), 1)]
    if kind < 0.36 and epoch:
        return [batch_of((producer_id, epoch - 1, random.choice((0, sequence))), 1)]
    return []
