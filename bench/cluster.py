"""How fast a whole cluster is: start-up, topics a second, failover, memory.

`python -m bench.cluster` runs the reference node in containers at the chaos time-outs, through
the harness's own client, and prints a table and a JSON object. What it is not: a comparison; a
rival joins by the same client protocol (cluster/systems). Images are built before the clock runs.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from kraftproof.cluster.protocol import Cluster, ClusterError, ClusterOptions, nodes_of
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.registry import make_system
from kraftproof.cluster.systems.system import Client, Outcome, System
from kraftproof.run.backends import make_backend, with_cluster

NS_PER_S = 1_000_000_000
RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
TRIES = 2_000
"""A bound for loops that wait for the cluster."""
PAUSE_NS = 5_000_000
TRY_EVERY_NS = 50_000_000
SETTLE_NS = 3_000_000_000
FLIGHT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured; times in seconds."""

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

    def __init__(self, cluster: Cluster, system: System) -> None:
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
        await self._scope.sleep(SETTLE_NS)
        return took_ns / NS_PER_S

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


async def measure(cluster: Cluster, options: argparse.Namespace) -> Figures:
    """Bring the cluster up and measure all."""
    scope = cluster.scope
    begun = scope.now()

    async def inside() -> Figures:
        start_s = (scope.now() - begun) / NS_PER_S
        system = make_system("reference")
        await system.prepare(cluster)
        bench = Bench(cluster, system)
        first_s = start_s + await bench.first_topic()
        series = await bench.rate(1, options.topics)
        flight = await bench.rate(FLIGHT, options.topics)
        memory = await bench.memory()
        failovers = [await bench.failover() for _ in range(options.failovers)]
        return Figures(
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


def table(figures: Figures) -> str:
    """Return the figures for people."""
    memory = figures.memory_mb
    rows = (
        ("cluster", f"{figures.nodes} nodes, {figures.backend}, {figures.timeouts} time-outs"),
        ("start to every broker unfenced", f"{figures.start_s:.2f} s"),
        ("start to the first topic", f"{figures.first_topic_s:.2f} s"),
        ("createTopics RF 3, in series", f"{figures.in_series_per_s:.1f}/s"),
        (f"createTopics RF 3, {FLIGHT} in flight", f"{figures.in_flight_per_s:.1f}/s"),
        (
            "failover after kill -9",
            f"{figures.failover_median_s:.2f} s median of {figures.failover_s}",
        ),
        ("resident memory a node", f"{min(memory):.0f} to {max(memory):.0f} MB"),
    )
    return "\n".join(f"{name:<34} {value}" for name, value in rows)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description="Measure.")
    parser.add_argument("--backend", default="docker", choices=("docker", "local"))
    parser.add_argument("--nodes", default="3+3", help="controllers+brokers (default 3+3)")
    parser.add_argument("--timeouts", default="chaos", choices=("chaos", "default"))
    parser.add_argument("--topics", type=int, default=500, help="made in each way (default 500)")
    parser.add_argument("--failovers", type=int, default=5, help="how many (default 5)")
    parser.add_argument("--json", type=Path, help="also write the JSON object here")
    options = parser.parse_args()
    if re.fullmatch(r"[1-9]\d*\+[1-9]\d*", options.nodes) is None:
        parser.error(f"--nodes {options.nodes}: controllers+brokers is expected, such as 3+3")
    if options.topics < FLIGHT or options.failovers < 1:
        parser.error(f"--topics of at least {FLIGHT} and --failovers of at least 1 are needed")
    return options


def say(line: str) -> None:
    """Tell what is going on, apart from the figures."""
    print(line, file=sys.stderr)


def main() -> int:
    """Measure and print; 1 and one line if the cluster fails."""
    options = parse()
    controllers, _, brokers = options.nodes.partition("+")
    try:
        if options.backend == "docker":
            from kraftproof.images.build import ensure_reference_image

            ensure_reference_image(progress=say)
        with tempfile.TemporaryDirectory(prefix="kraftproof-bench-") as directory:
            wanted = ClusterOptions(
                nodes=nodes_of(controller=int(controllers), broker=int(brokers)),
                seed=1,
                directory=Path(directory),
                timeouts=options.timeouts,
            )
            backend = make_backend(options.backend)
            figures = backend.run(
                wanted, make_system("reference"), lambda cluster: measure(cluster, options), say
            )
    except (ClusterError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(table(figures))
    line = json.dumps(asdict(figures))
    print(line)
    if options.json is not None:
        options.json.write_text(line + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
