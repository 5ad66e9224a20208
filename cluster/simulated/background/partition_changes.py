"""Operators and readers of the background topic: moves, elections, settings, deletions, look-ups.

A move, its cancellation and its replacement go through any broker, in a run with a data plane. The
invariants of partitions and of the controller judge the results. See partition_clients.py for the
records of the topic.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background import interrupted_proposals
from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.background.partition_clients import (
    NAME,
    NO_TIMESTAMP,
    PARTITIONS,
    Client,
)
from kraftproof.cluster.simulated.background.stale_fetches import StaleFetches
from kraftproof.cluster.simulated.background.wrong_proposals import WrongProposals
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_reassignments_request,
    alter_partition_request,
    create_partitions_request,
    delete_records_request,
    elect_leaders_request,
    fetch_request,
    incremental_alter_configs_request,
    list_offsets_request,
    offset_for_leader_epoch_request,
)

AlterPartition = alter_partition_request.AlterPartitionRequest
FetchRequest = fetch_request.FetchRequest
AlterReassignments = alter_partition_reassignments_request.AlterPartitionReassignmentsRequest
BURSTS_SHARE: Final = 0.4
"""Share of runs with bursts of records during moves."""
BURST: Final = 25
"""Number of batches of a client in a burst."""
LONGEST_PAUSE_NS: Final = milliseconds(15)
"""Longest time between two batches of a burst."""
NO_PRODUCER: Final = (-1, -1, -1)
LONGEST_REST_NS: Final = milliseconds(3_000)
"""Longest time between two changes."""
LONGEST_LOOK_NS: Final = milliseconds(500)
"""Longest time between two look-ups."""
TIMEOUT_MS: Final = 1_000
MOST_REPLICAS: Final = 3
MOST_PARTITIONS: Final = 4
CANCEL_SHARE: Final = 0.3
AGAIN_SHARE: Final = 0.4
"""Share of moves that a cancellation or another move follows at once."""
TOPIC_RESOURCE: Final = 2
RETENTION_BYTES: Final = ("-1", "2000", "600")
EARLIEST: Final = -2
LATEST: Final = -1
NO_REPLICA: Final = -1

Request = tuple[Message, int]
"""A request and its version."""


async def change_partitions(
    scope: SimulatedScope, world: World, random: Random, brokers: list[int], controllers: list[int]
) -> None:
    """Send changes and look-ups until the run ends."""
    own = [Random(f"{random.random()}") for _ in range(3)]
    clients = [Client(scope, world.network, each, brokers) for each in own]
    late = WrongProposals(scope, world, own[2], controllers)
    world.monitor.on_received[AlterPartition].append(late.on_received)
    apart = Random(f"{random.random()}")
    if apart.random() < interrupted_proposals.SHARE:
        client = Client(scope, world.network, apart, brokers)
        cuts = interrupted_proposals.InterruptedProposals(scope, world, apart, client)
        cuts.join(controllers)
    again = Random(f"{apart.random()}")
    stale = StaleFetches(scope, again, Client(scope, world.network, again, brokers))
    world.monitor.on_data_received[FetchRequest].append(stale.on_received)
    tasks = [
        scope.spawn(_change(scope, world, own[0], clients, brokers)),
        scope.spawn(_look_up(scope, own[1], clients[1], brokers)),
    ]
    for task in tasks:
        await task


async def _change(
    scope: SimulatedScope,
    world: World,
    random: Random,
    clients: Sequence[Client],
    brokers: Sequence[int],
) -> None:
    """Send changes until the final phase."""
    has_bursts = random.random() < BURSTS_SHARE
    while not world.is_in_final_phase:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        message, version = draw_change(random, brokers)
        await clients[0].ask(random.choice(brokers), message, version)
        if isinstance(message, AlterReassignments) and random.random() < AGAIN_SHARE:
            again = draw_move(random, message.topics[0].partitions[0].partition_index, brokers)
            await clients[0].ask(random.choice(brokers), *again)
        if has_bursts and isinstance(message, AlterReassignments):
            index = message.topics[0].partitions[0].partition_index
            writers = [scope.spawn(_burst(scope, random, client, index)) for client in clients]
            for writer in writers:
                await writer


async def _burst(scope: SimulatedScope, random: Random, client: Client, index: int) -> None:
    """Produce without rest while a new replica catches up: the replica joins amid writes."""
    for number in range(BURST):
        data = client_batch([f"burst-{number}".encode()], NO_TIMESTAMP, NO_PRODUCER)
        await client.send(data, index, acks=random.choice((1, -1)))
        await scope.sleep(random.randrange(LONGEST_PAUSE_NS))


async def _look_up(
    scope: SimulatedScope, random: Random, client: Client, brokers: Sequence[int]
) -> None:
    while True:
        await scope.sleep(random.randrange(LONGEST_LOOK_NS))
        message, version = draw_look(random)
        await client.ask(random.choice(brokers), message, version)


def draw_change(random: Random, brokers: Sequence[int]) -> Request:
    """Return a random change of the background topic."""
    index = random.randrange(PARTITIONS)
    kind = random.random()
    if kind < 0.45:
        return draw_move(random, index, brokers)
    if kind < 0.6:
        module = elect_leaders_request
        wanted = module.TopicPartitions(topic=NAME, partitions=tuple(range(PARTITIONS)))
        return (module.ElectLeadersRequest(topic_partitions=(wanted,), timeout_ms=TIMEOUT_MS), 2)
    if kind < 0.8:
        part = delete_records_request.DeleteRecordsPartition(
            partition_index=index, offset=random.choice((-1, random.randrange(200)))
        )
        topic = delete_records_request.DeleteRecordsTopic(name=NAME, partitions=(part,))
        request = delete_records_request.DeleteRecordsRequest(
            topics=(topic,), timeout_ms=TIMEOUT_MS
        )
        return (request, 2)
    if kind < 0.95:
        return _configure(random)
    more = create_partitions_request.CreatePartitionsTopic(
        name=NAME, count=random.randint(PARTITIONS, MOST_PARTITIONS), assignments=None
    )
    growth = create_partitions_request.CreatePartitionsRequest(
        topics=(more,), timeout_ms=TIMEOUT_MS
    )
    return (growth, 3)


def draw_move(random: Random, index: int, brokers: Sequence[int]) -> Request:
    """Return a move to random brokers, or the cancellation of a move."""
    module = alter_partition_reassignments_request
    size = random.randint(1, min(MOST_REPLICAS, len(brokers)))
    replicas = None if random.random() < CANCEL_SHARE else tuple(random.sample(brokers, size))
    part = module.ReassignablePartition(partition_index=index, replicas=replicas)
    topic = module.ReassignableTopic(name=NAME, partitions=(part,))
    request = module.AlterPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=(topic,))
    return (request, 0)


def _configure(random: Random) -> Request:
    module = incremental_alter_configs_request
    name, value = random.choice(
        (
            ("retention.bytes", random.choice(RETENTION_BYTES)),
            ("min.insync.replicas", random.choice(("1", "2"))),
        )
    )
    change = module.AlterableConfig(name=name, config_operation=0, value=value)
    resource = module.AlterConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=NAME, configs=(change,)
    )
    return (module.IncrementalAlterConfigsRequest(resources=(resource,)), 1)


def draw_look(random: Random) -> Request:
    """Return a request for an end of a log, or for the end of an epoch."""
    index = random.randrange(PARTITIONS)
    if random.random() < 0.5:
        part = list_offsets_request.ListOffsetsPartition(
            partition_index=index, timestamp=random.choice((EARLIEST, LATEST, LATEST))
        )
        topic = list_offsets_request.ListOffsetsTopic(name=NAME, partitions=(part,))
        listing = list_offsets_request.ListOffsetsRequest(replica_id=NO_REPLICA, topics=(topic,))
        return (listing, 7)
    module = offset_for_leader_epoch_request
    wanted = module.OffsetForLeaderPartition(partition=index, leader_epoch=random.randrange(15))
    of_topic = module.OffsetForLeaderTopic(topic=NAME, partitions=(wanted,))
    return (module.OffsetForLeaderEpochRequest(replica_id=NO_REPLICA, topics=(of_topic,)), 4)
