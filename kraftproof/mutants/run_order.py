"""Order the runs of a search for a bug by what each run executes of the edited code.

The search knows the place of the edit and what runs of the unchanged node execute. A run is worth
its executions of the place, by their logarithm: the hundredth execution adds little to the first
ninety-nine. The runs of one workload are alike, so each workload counts apart.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import Final, Generic, Self, TypeVar

from typing_extensions import override

from kraftproof.errors import UsageError

SHORT_S: Final = 20.0
"""Simulated seconds of a short run: the cost is a third of that of a run in full length."""
SHORT_IN_TURN: Final = 3
"""Number of short runs before each run in full length."""
NEW_SEEDS: Final = range(20_000, 20_040)
"""Seeds that follow where a plan of few runs ends before the budget."""
LEAST_S: Final = 0.1
"""Least CPU seconds that a run is rated with."""

Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A seed of a search, with its workload and length."""

    seed: int
    workload: str | None = None
    """None for the workload that the seed draws."""
    time_limit_s: float | None = None
    """Simulated seconds; None for those of the command."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the run of `SEED`, `SEED:WORKLOAD` or `SEED:WORKLOAD:SECONDS`.

        Raises:
            UsageError: the text is no run.
        """
        seed, workload, seconds = [*text.split(":"), "", ""][:3]
        is_number = seconds.replace(".", "", 1).isdecimal()
        if text.count(":") > 2 or not seed.isdecimal() or not (is_number or not seconds):
            raise UsageError(f"--runs {text}: SEED:WORKLOAD:SECONDS is expected")
        return cls(int(seed), workload or None, float(seconds) if seconds else None)

    @override
    def __str__(self) -> str:
        seconds = "" if self.time_limit_s is None else f"{self.time_limit_s:g}"
        return f"{self.seed}:{self.workload or ''}:{seconds}".rstrip(":")


@dataclass(frozen=True, slots=True)
class Executed(Generic[Place]):
    """What a run of the unchanged node executes."""

    run: PlannedRun
    cpu_s: float
    counts: Mapping[Place, float]
    """Number of executions of each place."""


def by_gain(runs: Sequence[Executed[Place]], weights: Mapping[Place, float]) -> list[PlannedRun]:
    """Return the runs that execute one of the places, each time the best one per CPU second.

    The best run adds most to the sum of the logarithms of executions, by place and workload, each
    with the weight of the place. A seed has the same load beside each workload, so a seed that was
    taken already is worth half as much, then a third.
    """
    left = [one for one in runs if any(one.counts.get(place) for place in weights)]
    so_far: defaultdict[tuple[str | None, Place], float] = defaultdict(float)
    seeds: Counter[int] = Counter()

    def gain(one: Executed[Place]) -> float:
        total = 0.0
        for place, weight in weights.items():
            count = one.counts.get(place, 0)
            if count:
                before = 1 + so_far[one.run.workload, place]
                total += weight * log2((before + count) / before)
        return total / max(one.cpu_s, LEAST_S) / (1 + seeds[one.run.seed])

    ordered = []
    while left:
        best = max(range(len(left)), key=lambda i: gain(left[i]))
        taken = left.pop(best)
        for place in weights:
            so_far[taken.run.workload, place] += taken.counts.get(place, 0)
        seeds[taken.run.seed] += 1
        ordered.append(taken.run)
    return ordered


def short_and_full(runs: Sequence[PlannedRun], full_s: float) -> list[PlannedRun]:
    """Return the runs, most of them short and some in full length; then the others in full length.

    A bug that shows at once costs little in short runs. Other bugs need what a long run collects:
    snapshots, deletions, ends of tokens.
    """
    if full_s <= SHORT_S:
        return [replace(one, time_limit_s=full_s) for one in runs]
    turn = SHORT_IN_TURN + 1
    first = [
        replace(one, time_limit_s=full_s if place % turn == SHORT_IN_TURN else SHORT_S)
        for place, one in enumerate(runs)
    ]
    again = [replace(one, time_limit_s=full_s) for one in first if one.time_limit_s == SHORT_S]
    return first + again


def with_new_seeds(runs: Sequence[PlannedRun], full_s: float) -> list[PlannedRun]:
    """Return a plan, and then new seeds with the workloads of the plan, in turns."""
    workloads = dict.fromkeys(one.workload for one in runs)
    new = [PlannedRun(seed, workload, full_s) for seed in NEW_SEEDS for workload in workloads]
    return [*runs, *new]
