"""Measure the replicas of one cluster."""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from typing_extensions import override

from bench.cluster.measure import NS_PER_S, resident_mb
from bench.replicas.clients import Clients
from kraftproof.cluster.protocol import Cluster, ClusterOptions, nodes_of
from kraftproof.cluster.systems.apache_kafka.system import ApacheKafka
from kraftproof.cluster.systems.kafka.system import KafkaSystem
from kraftproof.cluster.systems.registry import make_system
from kraftproof.cluster.systems.system import Deployment, Site
from kraftproof.run.backends import make_backend, with_cluster

QUICK_START = frozenset({"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Xms64m"})
"""Options of a JVM for chaos runs, which would slow Kafka's brokers down here."""
SERVER_HEAP = ("-Xmx512m", "-Xms512m", "-XX:+UseG1GC")
TOPIC = "bench"


class FastKafka(ApacheKafka):
    """Apache Kafka with both compilers of the JVM and a larger heap."""

    @override
    def deployment(self, site: Site) -> Deployment:
        found = super().deployment(site)
        java, *rest = (one for one in found.command if one not in QUICK_START)
        return replace(found, command=(java, *SERVER_HEAP, *rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured.

    Attributes:
        system, backend, nodes, timeouts: The cluster.
        p50_ms, p99_ms: Latency of one record of 1 KiB, acks=all, three replicas.
        produce_mb_s: Megabytes a second in batches of 64 KiB.
        consume_mb_s: Megabytes a second that one consumer reads.
        failover_s: Seconds from kill -9 of the partition's leader to the next acknowledgement.
        memory_mb: Resident memory of each broker.
    """

    system: str
    backend: str
    nodes: str
    timeouts: str
    p50_ms: float
    p99_ms: float
    produce_mb_s: float
    consume_mb_s: float
    failover_s: list[float]
    memory_mb: list[float]


def measured(name: str, options: argparse.Namespace, say: Callable[[str], None]) -> Figures:
    """Return the figures of one new cluster of a system.

    Raises:
        ClusterError: the cluster fails.
    """
    system = FastKafka() if name == ApacheKafka.name else make_system(name)
    assert isinstance(system, KafkaSystem), "the systems of this benchmark are Kafka's and ours"
    controllers, _, brokers = options.nodes.partition("+")
    with tempfile.TemporaryDirectory(prefix="kraftproof-bench-") as directory:
        wanted = ClusterOptions(
            nodes=nodes_of(controller=int(controllers), broker=int(brokers)),
            seed=1,
            directory=Path(directory),
            timeouts=options.timeouts,
        )
        backend = make_backend(options.backend)
        return backend.run(wanted, system, lambda cluster: _measure(cluster, system, options), say)


async def _measure(cluster: Cluster, system: KafkaSystem, options: argparse.Namespace) -> Figures:
    """Bring the cluster up and measure all."""

    async def inside() -> Figures:
        await system.prepare(cluster)
        clients = Clients(system.bootstrap(cluster))
        await asyncio.to_thread(clients.create, TOPIC)
        await asyncio.to_thread(clients.produce_in_series, TOPIC, options.warm_up)
        latencies = await asyncio.to_thread(clients.produce_in_series, TOPIC, options.series)
        await asyncio.to_thread(clients.create, "batches")
        produced = await asyncio.to_thread(clients.produce_in_batches, "batches", options.records)
        consumed = await asyncio.to_thread(clients.consume, "batches", options.records)
        memory = await _memory(cluster)
        failovers = [await _failover(cluster, clients) for _ in range(options.failovers)]
        ranks = statistics.quantiles(latencies, n=100)
        return Figures(
            system=system.name,
            backend=cluster.backend,
            nodes=options.nodes,
            timeouts=options.timeouts,
            p50_ms=round(ranks[49], 3),
            p99_ms=round(ranks[98], 3),
            produce_mb_s=round(produced, 2),
            consume_mb_s=round(consumed, 2),
            failover_s=[round(one, 2) for one in failovers],
            memory_mb=memory,
        )

    return await with_cluster(cluster, inside)


async def _memory(cluster: Cluster) -> list[float]:
    found = []
    for node in cluster.nodes:
        if node.has("broker"):
            process = await cluster.process_id(node.node_id)
            assert process is not None, "every node is up while memory is read"
            found.append(resident_mb(process))
    return found


async def _failover(cluster: Cluster, clients: Clients) -> float:
    """Return the seconds from kill -9 of the partition's leader to the next acknowledgement."""
    produce = await asyncio.to_thread(clients.ready_producer, TOPIC)
    leader = (await asyncio.to_thread(clients.placed, TOPIC)).leader
    begun = cluster.scope.now()
    await cluster.kill(leader)
    await asyncio.to_thread(produce)
    took = (cluster.scope.now() - begun) / NS_PER_S
    await cluster.start_node(leader)
    await asyncio.to_thread(clients.wait_whole, TOPIC)
    return took
