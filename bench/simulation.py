"""How fast the simulation is: simulated seconds, events and committed operations a CPU-second.

`python -m bench.simulation` runs 3+3 whole nodes at the chaos time-outs, with heartbeats, faults
drawn from each seed and every invariant on, while clients create 20 and then 200 topics a second;
shows where the time goes; and runs one hour of virtual time to see what memory does. It prints the
page docs/benchmarks/simulation.md. The rival's number, 39 simulated seconds a CPU-second, is of
Kafka's own raft-only simulation (issue 4, FAULTS.md section H).
"""

import argparse
import cProfile
import gc
import platform
import pstats
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

from cluster.profiles import timeouts
from cluster.protocol import ClusterOptions
from cluster.simulated.collector import seldom_collected
from cluster.simulated.simulated_cluster import SimulatedCluster
from cluster.systems.system import make_system
from kraftproof.history import FaultRecorder, HistoryRecorder
from kraftproof.interpreter import Interpreted, Interpreter
from kraftproof.scenario import scenario
from nemesis.schedule import dense
from node.server.config_keys import SNAPSHOT_BYTES_KEY, SNAPSHOT_INTERVAL_KEY
from workloads.workload import Load, Outcome, Pacer, Session

RIVAL = 39.0
ROOT = Path(__file__).resolve().parent.parent
CLIENTS = 20
PARTS_SHOWN = 14
MEMORY_LOOKS = 12
BY_DEFAULT = ((SNAPSHOT_BYTES_KEY, str(20 << 20)), (SNAPSHOT_INTERVAL_KEY, "3600000"))
"""Snapshots as a node writes them that was told nothing else; a seed draws them smaller, too."""
OFTEN = ((SNAPSHOT_BYTES_KEY, "100000"),)
"""So that logs are cleaned, as in a node that has been up for long."""
NS_PER_S = 1_000_000_000


class Creates:
    """Nothing but createTopics, each of a name of its own, at the rate that is asked for."""

    name: ClassVar[str] = "topics"
    model: ClassVar[str] = "topics"

    def __init__(self, *, deletes: bool = False) -> None:
        self._made = 0
        self._deletes = deletes

    async def run(self, session: Session) -> None:
        """Let clients take turns until the session is ending."""
        pacer = Pacer(session.scope, session.random, session.load.rate)
        clients = [session.scope.spawn(self._client(session, pacer)) for _ in range(CLIENTS)]
        for client in clients:
            await client

    async def _client(self, session: Session, pacer: Pacer) -> None:
        process = session.process()
        while True:
            await pacer.turn()
            if session.ending:
                break
            self._made += 1
            name = f"topic-{self._made:07d}"
            await process.invoke("create", name)
            if self._deletes:
                await process.invoke("delete", name, {"by": "name"})
        process.close()

    async def final_reads(self, session: Session) -> int:
        """Nothing is judged by its history here."""
        del session
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run."""

    seed: int
    simulated_s: float
    cpu_s: float
    events: int
    committed: int


@contextmanager
def recorded() -> Iterator[tuple[Callable[[Callable[[], int]], HistoryRecorder], Path]]:
    """A directory for the history of a run, which nobody reads."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory)
        yield (lambda now: HistoryRecorder(path / "history.jsonl", now)), path


def run(
    seed: int,
    rate: float,
    time_limit_s: float,
    *,
    watch: Callable[[SimulatedCluster], None] | None = None,
    deletes: bool = False,
    node_config: tuple[tuple[str, str], ...] = BY_DEFAULT,
) -> Measured:
    """Simulate one cluster under one seed's faults, and judge it.

    Raises:
        InvariantViolatedError: something did not hold; then there is nothing to measure.
    """
    drawn = scenario(seed, Path("unused"), time_limit_s=time_limit_s, nodes=(3, 3)).options
    with recorded() as (history, directory):
        options = ClusterOptions(
            controllers=3,
            brokers=3,
            seed=seed,
            directory=directory,
            is_collected=False,
            node_config=node_config,
        )
        cluster = SimulatedCluster(options)
        system = make_system("reference")
        time_limit_ns = int(time_limit_s * NS_PER_S)
        schedule = dense(drawn.nemeses, cluster.nodes, Random(f"schedule {seed}"), time_limit_ns)
        interpreter = Interpreter(
            cluster,
            system,
            schedule,
            history(cluster.scope.now),
            FaultRecorder(directory / "faults.jsonl", cluster.scope.now),
        )
        load = Load(rate=rate, concurrency=CLIENTS, session_ns=timeouts("chaos").session_ns)

        async def main() -> Interpreted:
            await cluster.start()
            if watch is not None:
                watch(cluster)
            done = await interpreter.run(
                Creates(deletes=deletes), load, seed=seed, time_limit_ns=time_limit_ns
            )
            await cluster.quiesce()
            return done

        started_s = time.process_time()
        done = cluster.run(main())
        cpu_s = time.process_time() - started_s
        interpreter.history.close()
        interpreter.faults.close()
    return Measured(
        seed=seed,
        simulated_s=cluster.simulated_ns / NS_PER_S,
        cpu_s=cpu_s,
        events=cluster.events,
        committed=sum(one.outcome is Outcome.OK for one in done.operations),
    )


def rates(seeds: int, rate: float, time_limit_s: float) -> Iterator[str]:
    """Yield a table of runs at one rate, the medians last."""
    yield "| seed | simulated s a CPU-s | events a CPU-s | committed operations a CPU-s |"
    yield "|---|---|---|---|"
    found = []
    for seed in range(seeds):
        one = run(seed, rate, time_limit_s)
        found.append(one)
        yield _row(str(seed), [one])
        print(f"{rate:g}/s, seed {seed}: {one.cpu_s:.1f} CPU-s", file=sys.stderr)
    yield _row("median", found)
    median = statistics.median(one.simulated_s / one.cpu_s for one in found)
    yield ""
    yield f"At {rate:g} createTopics a second: {median / RIVAL:.2f} times Kafka's {RIVAL:g}."


def _row(name: str, found: list[Measured]) -> str:
    simulated = statistics.median(one.simulated_s / one.cpu_s for one in found)
    events = statistics.median(one.events / one.cpu_s for one in found)
    committed = statistics.median(one.committed / one.cpu_s for one in found)
    return f"| {name} | {simulated:.1f} | {events:,.0f} | {committed:,.0f} |"


def profile(time_limit_s: float) -> Iterator[str]:
    """Yield a table of the packages in which a run spends its time, built-in calls included."""
    profiler = cProfile.Profile()
    profiler.enable()
    run(1, 20.0, time_limit_s)
    profiler.disable()
    spent: Counter[str] = Counter()
    # cProfile keeps (file, line, name) -> (calls, ..., own time, total time, callers).
    for (file, _, _), (*_, own_s, _, callers) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        if file == "~":
            for (caller, _, _), (_, _, share_s, _) in callers.items():
                spent[_part(caller)] += share_s
        else:
            spent[_part(file)] += own_s
    total = sum(spent.values())
    yield "| part | share of the time (under cProfile) |"
    yield "|---|---|"
    for part, seconds in spent.most_common(PARTS_SHOWN):
        yield f"| {part} | {seconds / total:.1%} |"


def _part(file: str) -> str:
    path = Path(file)
    if not path.is_relative_to(ROOT) or ".venv" in path.parts:
        return "libraries"
    inside = path.relative_to(ROOT)
    return str(inside if inside.parent.name == "simulated" else inside.parent)


def memory(time_limit_s: float) -> Iterator[str]:
    """Yield a table of the memory resident during one long run; topics come and go."""
    looks: list[tuple[float, float]] = []

    def watch(cluster: SimulatedCluster) -> None:
        scheduler = cluster.world.scheduler

        def look() -> None:
            gc.collect()
            looks.append((scheduler.now_ns / NS_PER_S, _resident_mb()))
            scheduler.after(int(time_limit_s / MEMORY_LOOKS * NS_PER_S), look)

        look()

    one = run(2, 10.0, time_limit_s, watch=watch, deletes=True, node_config=OFTEN)
    yield "| virtual time | resident |"
    yield "|---|---|"
    for at_s, resident_mb in looks:
        yield f"| {at_s:.0f} s | {resident_mb:.0f} MB |"
    yield ""
    yield f"{one.events:,} events, {one.committed:,} committed operations, {one.cpu_s:.0f} CPU-s."


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=9, help="runs at each rate")
    parser.add_argument("--time-limit", type=float, default=60.0, help="simulated seconds a run")
    parser.add_argument("--hour", type=float, default=3600.0, help="simulated seconds of memory")
    given = parser.parse_args()
    python = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"# The simulation's speed\n\n{__doc__}\n{python}.")
    with seldom_collected():
        run(0, 20.0, 2.0)  # imports are no simulation
        for rate in (20.0, 200.0):
            print(f"\n## {rate:g} createTopics a second\n")
            print("\n".join(rates(given.seeds, rate, given.time_limit)), flush=True)
        print("\n## Where the time goes\n")
        print("\n".join(profile(given.time_limit)), flush=True)
        print("\n## Memory over virtual time\n")
        print("\n".join(memory(given.hour)), flush=True)


if __name__ == "__main__":
    main()
