"""Where the time of a run goes, and what memory does in a long one: tables of the page."""

import cProfile
import gc
import pstats
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.simulation.runs import NS_PER_S, OFTEN, run
from bench.simulation.workloads import Creates
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

ROOT = Path(__file__).resolve().parents[2]
PARTS_SHOWN = 14
MEMORY_LOOKS = 12


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

    one = run(2, 10.0, time_limit_s, watch=watch, workload=Creates(deletes=True), node_config=OFTEN)
    yield "| virtual time | resident |"
    yield "|---|---|"
    for at_s, resident_mb in looks:
        yield f"| {at_s:.0f} s | {resident_mb:.0f} MB |"
    yield ""
    yield f"{one.events:,} events, {one.committed:,} committed operations, {one.cpu_s:.0f} CPU-s."


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6
