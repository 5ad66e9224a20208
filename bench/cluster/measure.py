"""Measure one cluster of a system: start-up, topics a second, failover, memory.

All operations go through the clients of the system, which never repeat a request. Images are built
before the clock runs.
"""

import argparse
import re
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from kraftproof.cluster.protocol import Cluster, ClusterError, ClusterOptions, nodes_of
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.kafka.quorum import led_quorums
from kraftproof.cluster.systems.kafka.system import KafkaSystem, with_role
from kraftproof.cluster.systems.registry import make_system
from kraftproof.cluster.systems.system import Client, Outcome
from kraftproof.run.backends import make_backend, with_cluster

NS_PER_S = 1_000_000_000
RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
TRIES = 2_000
"""A bound for loops that wait for the cluster."""
PAUSE_NS = 5_000_000
TRY_EVERY_NS = 50_000_000
COME_BACK_NS = 60_000_000_000
"""Longest wait for a node that was killed and started again."""
FLIGHT = 10
WARM_UP = 200
"""Topics made before the rates are measured: a JVM compiles what runs often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured; times in seconds."""

    system: str
    backend: str
    nodes: str
    timeouts: str
    start_s: float
    first_topic_s: float
    in_series_per_s: float
    in_flight_per_s: float
    failover_s: list[float]
    failover_median_s: float
    memory_mb: list[float]


class Bench:
    """The measurements of one cluster."""

    def __init__(self, cluster: Cluster, system: KafkaSystem) -> None:
        self._cluster = cluster
        self._scope: Scope = cluster.scope
        self._system = system
        self._made = 0

    def client(self, number: int) -> Client:
        """Return a client; its number determines the broker."""
        return self._system.client(self._cluster, "topics", Random(number))

    async def first_topic(self) -> float:
        """Return how long the first topic took, from now."""
        begun = self._scope.now()
        await self._create_until_ok(self.client(0))
        return (self._scope.now() - begun) / NS_PER_S

    async def rate(self, clients: int, topics: int) -> float:
        """Return topics made a second, by so many clients at once."""
        opened = [self.client(number) for number in range(clients)]
        for client in opened:
            await client.open()
        begun = self._scope.now()
        tasks = [self._scope.spawn(self._make(client, topics // clients)) for client in opened]
        made = [await task for task in tasks]
        elapsed_ns = self._scope.now() - begun
        for client in opened:
            client.close()
        return sum(made) * NS_PER_S / elapsed_ns

    async def failover(self) -> float:
        """Return the time from kill -9 of the active controller to the next topic.

        A client that had asked the dead controller waits for its time-out, which measures the
        time-out; so a new client tries every few milliseconds, and the first ok counts.
        """
        active = await self._active()
        begun = self._scope.now()
        await self._cluster.kill(active)
        tries = [self._scope.spawn(self._try(0))]
        while not any([one.done and await one for one in tries]):
            if len(tries) > TRIES:
                raise ClusterError("no topic could be created after the active controller's death")
            await self._scope.sleep(TRY_EVERY_NS)
            tries.append(self._scope.spawn(self._try(len(tries))))
        took_ns = min(ended for ended in [await one for one in tries if one.done] if ended) - begun
        for one in tries:
            one.cancel()
        await self._cluster.start_node(active)
        await self._settled()
        return took_ns / NS_PER_S

    async def _settled(self) -> None:
        """Wait until every node has the log up to the high watermark, so that one may fail again.

        Raises:
            ClusterError: a node has not come back in time.
        """
        deadline_ns, wanted = self._scope.now() + COME_BACK_NS, -1
        controllers = with_role(self._cluster, "controller")
        nodes = [node.node_id for node in self._cluster.nodes]
        while self._scope.now() < deadline_ns:
            led = await led_quorums(self._cluster, controllers, self._system.controller_port)
            quorum = max(led, key=lambda one: one.epoch, default=None)
            if quorum is not None and quorum.high_watermark >= 0:
                wanted = quorum.high_watermark if wanted < 0 else wanted
                if min(quorum.log_ends.get(node_id, -1) for node_id in nodes) >= wanted:
                    return
            await self._scope.sleep(TRY_EVERY_NS)
        raise ClusterError("a node has not come back after the failover")

    async def _try(self, number: int) -> int:
        """Try to make one topic; return when it was made, or 0."""
        client = self.client(number)
        try:
            made = await self._create(client)
        except OSError:
            return 0  # that broker refused the connection
        finally:
            client.close()
        return self._scope.now() if made else 0

    async def memory(self) -> list[float]:
        """Return the resident memory of each node's process, in megabytes."""
        found = []
        for node in self._cluster.nodes:
            process = await self._cluster.process_id(node.node_id)
            assert process is not None, "every node is up while memory is read"
            found.append(resident_mb(process))
        return found

    async def _active(self) -> int:
        for _ in range(TRIES):
            active = (await self._system.roles(self._cluster)).get("active-controller", ())
            if active:
                return active[0]
            await self._scope.sleep(PAUSE_NS)
        raise ClusterError("no active controller was found")

    async def _make(self, client: Client, topics: int) -> int:
        made = 0
        for _ in range(topics):
            made += await self._create(client)
        return made

    async def _create(self, client: Client) -> bool:
        self._made += 1
        await client.open()
        done = await client.invoke("create", f"bench-{self._made}", None)
        return done.outcome is Outcome.OK

    async def _create_until_ok(self, client: Client) -> None:
        for _ in range(TRIES):
            try:
                if await self._create(client):
                    return
            except OSError:
                pass  # refused: the client turns to the next broker
            await self._scope.sleep(PAUSE_NS)
        raise ClusterError("no topic could be created")


def resident_mb(process: int) -> float:
    """Return the resident memory of a process."""
    match = RESIDENT.search(Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    assert match is not None, "the kernel tells every process's memory"
    return round(int(match[1]) / 1024, 1)


def measured(
    name: str, options: argparse.Namespace, kept: Path, say: Callable[[str], None]
) -> Figures:
    """Return the figures of one new cluster of a system, whose files stay in the folder `kept`.

    ext4 without a journal looks past each inode that was deleted in the last minutes. After a
    round whose files were deleted, the same nodes made topics at half the pace.

    Raises:
        ClusterError: the cluster fails.
    """
    system = make_system(name)
    assert isinstance(system, KafkaSystem), "the systems of this benchmark are Kafka's and ours"
    controllers, _, brokers = options.nodes.partition("+")
    wanted = ClusterOptions(
        nodes=nodes_of(controller=int(controllers), broker=int(brokers)),
        seed=1,
        directory=Path(tempfile.mkdtemp(prefix="kraftproof-bench-", dir=kept)),
        timeouts=options.timeouts,
    )
    backend = make_backend(options.backend)
    return backend.run(wanted, system, lambda cluster: _measure(cluster, system, options), say)


async def _measure(cluster: Cluster, system: KafkaSystem, options: argparse.Namespace) -> Figures:
    """Bring the cluster up and measure all."""
    scope = cluster.scope
    begun = scope.now()

    async def inside() -> Figures:
        start_s = (scope.now() - begun) / NS_PER_S
        await system.prepare(cluster)
        bench = Bench(cluster, system)
        first_s = start_s + await bench.first_topic()
        await bench.rate(FLIGHT, WARM_UP)
        series = await bench.rate(1, options.topics)
        flight = await bench.rate(FLIGHT, options.topics)
        memory = await bench.memory()
        failovers = [await bench.failover() for _ in range(options.failovers)]
        return Figures(
            system=system.name,
            backend=cluster.backend,
            nodes=options.nodes,
            timeouts=options.timeouts,
            start_s=round(start_s, 2),
            first_topic_s=round(first_s, 2),
            in_series_per_s=round(series, 1),
            in_flight_per_s=round(flight, 1),
            failover_s=[round(one, 2) for one in failovers],
            failover_median_s=round(statistics.median(failovers), 2),
            memory_mb=memory,
        )

    return await with_cluster(cluster, inside)
