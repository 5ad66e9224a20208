"""`python -m bench.simulation`: see the package. Exit codes: 0 measured, 3 the rival is missing."""

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.simulation import __doc__ as introduction
from bench.simulation import rival
from bench.simulation.looks import memory, profile
from bench.simulation.runs import Measured, run
from bench.simulation.workloads import CreatesAndProduces
from kraftproof.cluster.simulated.kernel.garbage_collection import seldom_collected

TO_REACH = 39.0
"""Simulated seconds a CPU-second that Kafka's own simulation reached in the first measurement."""
WITH_REPLICAS = 15.0
"""Simulated seconds a CPU-second to reach with replicas."""
PRODUCES = 100.0
"""Sends a second with acks=all in the runs with replicas."""
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kraftproof" / "bench"


def main() -> int:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=str(introduction).splitlines()[0])
    parser.add_argument("--seeds", type=int, default=9, help="runs at each rate")
    parser.add_argument("--time-limit", type=float, default=60.0, help="simulated seconds a run")
    parser.add_argument("--turns", type=int, default=3, help="of Kafka's simulation and ours")
    parser.add_argument("--rival-cpu-s", type=float, default=60.0, help="CPU-seconds of a turn")
    parser.add_argument("--hour", type=float, default=3600.0, help="simulated seconds of memory")
    given = parser.parse_args()
    try:
        for line in _page(given):
            print(line, flush=True)
    except rival.RivalError as error:
        sys.stderr.write(f"bench.simulation: {error}\n")
        return 3
    return 0


def _page(given: argparse.Namespace) -> Iterator[str]:
    folder = rival.build(CACHE)
    yield f"# The simulation's speed\n\n{introduction}"
    yield f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores."
    with seldom_collected():
        run(0, 20.0, 2.0)  # imports are no simulation
        for rate in (20.0, 200.0):
            yield f"\n## {rate:g} createTopics a second\n"
            yield from _table(list(_runs(range(given.seeds), rate, given.time_limit)), TO_REACH)
        yield f"\n## With replicas: 20 createTopics and {PRODUCES:g} produces a second\n"
        yield from _table(list(_replicated(range(given.seeds), given.time_limit)), WITH_REPLICAS)
        yield "\n## Beside Kafka's own\n"
        yield from _beside(folder, given)
        yield "\n## Where the time goes\n"
        yield from profile(given.time_limit)
        yield "\n## Memory over virtual time\n"
        yield from memory(given.hour)


def _runs(seeds: range, rate: float, time_limit_s: float) -> Iterator[Measured]:
    for seed in seeds:
        one = run(seed, rate, time_limit_s)
        print(f"{rate:g}/s, seed {seed}: {one.cpu_s:.1f} CPU-s", file=sys.stderr)
        yield one


def _replicated(seeds: range, time_limit_s: float) -> Iterator[Measured]:
    """Yields runs whose clients also produce with acks=all, to partitions of three replicas."""
    for seed in seeds:
        workload = CreatesAndProduces(produces=PRODUCES)
        one = run(seed, 20.0, time_limit_s, workload=workload)
        print(f"{PRODUCES:g} produces/s, seed {seed}: {one.cpu_s:.1f} CPU-s", file=sys.stderr)
        yield one


def _table(found: list[Measured], to_reach: float) -> Iterator[str]:
    yield "| seed | simulated s a CPU-s | events a CPU-s | committed operations a CPU-s |"
    yield "|---|---|---|---|"
    for one in found:
        yield _row(str(one.seed), [one])
    yield _row("median", found)
    speed = _median_speed(found)
    yield ""
    yield f"The median is {speed / to_reach:.2f} times the {to_reach:g} that is to be reached."


def _row(name: str, found: list[Measured]) -> str:
    events = statistics.median(one.events / one.cpu_s for one in found)
    committed = statistics.median(one.committed / one.cpu_s for one in found)
    return f"| {name} | {_median_speed(found):.1f} | {events:,.0f} | {committed:,.0f} |"


def _median_speed(found: list[Measured]) -> float:
    return statistics.median(one.simulated_s / one.cpu_s for one in found)


def _beside(folder: Path, given: argparse.Namespace) -> Iterator[str]:
    """Yields a table of turns of Kafka's simulation and ours, at 20 createTopics a second."""
    yield "| turn | Kafka's, all | Kafka's, warm | ours, median | ours to Kafka's, all | warm |"
    yield "|---|---|---|---|---|---|"
    runs = []
    for turn in range(given.turns):
        theirs = rival.measure(folder, turn, given.rival_cpu_s)
        runs.append(theirs)
        seeds = range(turn * given.seeds, (turn + 1) * given.seeds)
        ours = _median_speed(list(_runs(seeds, 20.0, given.time_limit)))
        yield (
            f"| {turn} | {theirs.speed:.1f} | {theirs.warm_speed:.1f} | {ours:.1f} |"
            f" {ours / theirs.speed:.2f} | {ours / theirs.warm_speed:.2f} |"
        )
    yield ""
    yield (
        "Simulated seconds a CPU-second. Kafka's: the properties of"
        f" RaftEventSimulationTest in turn, one to five voters and up to five observers of Raft"
        f" alone, arguments drawn from their ranges, {given.rival_cpu_s:g} CPU-s a turn; warm:"
        f" without the first {rival.WARM_UP_S:g} of them. Of {sum(one.runs for one in runs)} tries"
        f" {sum(one.failed for one in runs)} did not hold. Ours: as many seeds as above, other ones"
        " each turn."
    )


if __name__ == "__main__":
    sys.exit(main())
