"""Start the load beside the workload: each kind in a share of the runs, with its own randomness."""

from random import Random
from typing import Final

from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.simulated.background import (
    access_clients,
    background_topics,
    broker_visitors,
    dated_topic,
    large_topics,
    many_observers,
    mistaken_requests,
    partition_changes,
    partition_clients,
    random_requests,
    stale_requests,
)
from kraftproof.cluster.simulated.background.operators import (
    administrators,
    careless_producers,
    departing_brokers,
    describers,
    former_leaders,
    unclean_topic,
)
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope, SimulatedTask
from kraftproof.cluster.simulated.world import World

DRAWN_DATA_LOADS: Final = (
    (dated_topic, dated_topic.use_dated_topic),
    (former_leaders, former_leaders.isolate_leaders),
    (careless_producers, careless_producers.produce_carelessly),
    (departing_brokers, departing_brokers.stop_and_start_brokers),
)
"""Loads of the data plane; the module has the share of the runs, and the source of the draw."""


def start(
    scope: SimulatedScope, world: World, options: ClusterOptions
) -> list[SimulatedTask[None]]:
    """Start the background load of a run, and return its tasks."""
    nodes, network, machines = options.nodes, world.network, world.machines
    tasks: list[SimulatedTask[None]] = []
    random = Random(f"{options.seed}/strangers")
    if random.random() < stale_requests.SHARE:
        controllers = {n.node_id: machines[n.node_id] for n in nodes if n.has("controller")}
        task = stale_requests.send_stale_requests(scope, network, random, controllers)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/tenants")
    brokers = {n.node_id: machines[n.node_id] for n in nodes if n.has("broker")}
    if random.random() < background_topics.SHARE and brokers:
        task = background_topics.create_and_delete_topics(scope, network, random, brokers)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/requests")
    if random.random() < random_requests.SHARE and not options.owns_settings:
        task = random_requests.send_random_requests(scope, world, nodes, random)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/observers")
    if random.random() < many_observers.SHARE:
        task = many_observers.fetch_as_many_observers(scope, world, nodes, random)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/mistakes")
    if random.random() < mistaken_requests.SHARE:
        asked = [node.node_id for node in nodes if node.has("controller")]
        task = mistaken_requests.send_mistaken_requests(scope, world, random, asked)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/visitors")
    if random.random() < broker_visitors.SHARE:
        task = broker_visitors.send_registrations(scope, world, random, nodes)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/large-topics")
    large = large_topics.create_and_delete_large_topics
    tasks += _start_for_partitions(scope, world, options)
    if random.random() < large_topics.SHARE and brokers:
        tasks.append(scope.spawn(large(scope, network, random, sorted(brokers))))
    return tasks


def _start_for_partitions(
    scope: SimulatedScope, world: World, options: ClusterOptions
) -> list[SimulatedTask[None]]:
    """Start the load of the data plane, of the authorizer, and of settings."""
    nodes, network = options.nodes, world.network
    brokers = sorted(node.node_id for node in nodes if node.has("broker"))
    tasks: list[SimulatedTask[None]] = []
    if options.has_data and brokers:
        random = Random(f"{options.seed}/partition-clients")
        task = partition_clients.produce_and_fetch(scope, world, random, brokers)
        tasks.append(scope.spawn(task))
        random = Random(f"{options.seed}/partition-changes")
        asked = [node.node_id for node in nodes if node.has("controller")]
        task = partition_changes.change_partitions(scope, world, random, brokers, asked)
        tasks.append(scope.spawn(task))
        for module, load in DRAWN_DATA_LOADS:
            random = Random(f"{options.seed}/{module.LABEL}")
            if random.random() < module.SHARE:
                tasks.append(scope.spawn(load(scope, world, random, brokers)))
    if world.authorizer is not None:
        random = Random(f"{options.seed}/access-clients")
        task = access_clients.send_with_principals(scope, network, random, nodes)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/{unclean_topic.LABEL}")
    if random.random() < unclean_topic.SHARE and brokers:
        task = unclean_topic.change_settings(scope, network, random, brokers)
        tasks.append(scope.spawn(task))
    random = Random(f"{options.seed}/{describers.LABEL}")
    if random.random() < describers.SHARE and brokers:
        asking = describers.describe(scope, network, random, brokers, has_data=options.has_data)
        tasks.append(scope.spawn(asking))
    random = Random(f"{options.seed}/{administrators.LABEL}")
    if random.random() < administrators.SHARE and not options.owns_settings:
        tasks.append(scope.spawn(administrators.administrate(scope, world, random, nodes)))
    return tasks
