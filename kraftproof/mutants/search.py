"""Search for planted bugs, each search in a separate process.

A mutant must be planted before the node is imported, so each search is a process of `kraftproof
sim`. A violation counts if a property is violated, not for a crash, and if the unchanged node
passes the same seed (docs/scoreboard.md). Otherwise the violation is a false alarm, and the search
continues with the next seed. See scoreboard.py for the table.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from typing_extensions import override

from kraftproof.errors import UsageError
from kraftproof.mutants.sim_processes import SimProcesses

CLEAN = "clean"
"""Id of the unchanged node in place of a mutant's id."""
CRASHES = frozenset({"crash", "assertion"})
"""Kinds of violations without a violated property."""
STRIDE = 1000
"""Distance between the first seeds of two repetitions."""
Run = tuple[int, str | None]
"""A seed, and the workload in place of the seed's own."""


@dataclass(frozen=True, slots=True)
class SeedRange:
    """Seeds from `first` on, below `end` if `end` is set."""

    first: int
    end: int | None

    def behind(self, seed: int) -> "SeedRange":
        """Return the range after a seed."""
        return SeedRange(seed + 1, self.end)

    def from_first(self, first: int | None) -> "SeedRange":
        """Return the range of the same length that begins at a seed; None for this range."""
        if first is None:
            return self
        return SeedRange(first, None if self.end is None else first + self.end - self.first)

    def repeated(self, times: int) -> "tuple[SeedRange, ...]":
        """Return disjoint ranges of the same length, starting with this range."""
        stride = STRIDE if self.end is None else max(STRIDE, self.end - self.first)
        shifts = (stride * time for time in range(times))
        return tuple(
            SeedRange(self.first + shift, None if self.end is None else self.end + shift)
            for shift in shifts
        )

    @property
    def is_empty(self) -> bool:
        """Return whether the range has no seed."""
        return self.end is not None and self.end <= self.first

    @override
    def __str__(self) -> str:
        return f"{self.first}:" if self.end is None else f"{self.first}:{self.end}"


def parse_range(text: str) -> SeedRange:
    """Return the range of `A:` or `A:B` (A to B-1).

    Raises:
        UsageError: the text is no range, or the range is empty.
    """
    first, colon, end = text.partition(":")
    if not colon or not first.isdecimal() or (end and not end.isdecimal()):
        raise UsageError(f"--seeds {text}: A: or A:B is expected, for example 0:")
    seeds = SeedRange(int(first), int(end) if end else None)
    if seeds.is_empty:
        raise UsageError(f"--seeds {text}: no seed is in it; A:B is A to B-1, for example 0:200")
    return seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The result of a search."""

    seeds: SeedRange
    cpu_s: float
    """CPU seconds from the first seed to the violation or the end, without the start of Python."""
    searched: int = 0
    """Number of executed seeds."""
    seed: int | None = None
    """The seed that found the bug."""
    by: str | None = None
    """The detecting invariant or check."""
    false_alarms: tuple[int, ...] = ()
    """Seeds that the unchanged node does not pass either."""
    unknown: int = 0
    """Number of runs without a verdict."""
    crashes: tuple[int, ...] = ()
    """Seeds in which a node crashed without a violated property; a crash does not count."""

    @property
    def is_found(self) -> bool:
        """Return whether the search found a violation that the mutant causes."""
        return self.seed is not None


class Searcher:
    """Runs searches from any number of threads; `stop` ends the running searches.

    Args:
        budget_s: CPU seconds of a search.
        clean: Runs that the unchanged node is known to pass; they are not made again.
        is_bare: Whether a violation is not run again for its diagram.
    """

    def __init__(
        self, budget_s: float, *, clean: Iterable[Run] = (), is_bare: bool = False
    ) -> None:
        self._budget_s = budget_s
        self._bare = ("--bare",) if is_bare else ()
        self._processes = SimProcesses()
        self._is_clean: dict[Run, bool] = dict.fromkeys(clean, True)
        self._asking: defaultdict[Run, Lock] = defaultdict(Lock)
        self._lock = Lock()

    def find(self, mutant_id: str, seeds: SeedRange, workload: str | None = None) -> Search:
        """Search until the mutant is found, the seeds end or the budget is spent.

        A workload replaces the workloads that the seeds draw.

        Raises:
            SearchStoppedError: the search was stopped early.
            SearchFailedError: the search process failed.
        """
        left, spent_s, searched, unknown = seeds, 0.0, 0, 0
        false_alarms: list[int] = []
        crashes: dict[int, None] = {}
        while not left.is_empty and spent_s < self._budget_s:
            found = self._sim(mutant_id, left, workload, self._budget_s - spent_s)
            spent_s += found["cpu_seconds"]
            searched += found["seeds"]
            unknown += found.get("unknown", 0)
            crashed = [one for one in found["violations"] if one["kind"] in CRASHES]
            broken = [one for one in found["violations"] if one["kind"] not in CRASHES]
            if mutant_id == CLEAN:  # the unchanged node must neither crash nor violate a property
                broken += crashed
            else:
                crashes.update(dict.fromkeys(one["seed"] for one in crashed))
            if not broken:
                break
            violation = broken[0]
            seed: int = violation["seed"]
            if mutant_id != CLEAN and self._passes(seed, workload):
                if spent_s > self._budget_s:
                    break
                return Search(
                    seeds=seeds,
                    cpu_s=spent_s,
                    searched=searched,
                    seed=seed,
                    by=violation["invariant"],
                    false_alarms=tuple(false_alarms),
                    unknown=unknown,
                    crashes=tuple(crashes),
                )
            false_alarms.append(seed)
            left = left.behind(seed)
        return Search(
            seeds=seeds,
            cpu_s=min(spent_s, self._budget_s),
            searched=searched,
            false_alarms=tuple(false_alarms),
            unknown=unknown,
            crashes=tuple(crashes),
        )

    def stop(self) -> None:
        """Stop all running searches, and start no further search."""
        self._processes.stop()

    def _passes(self, seed: int, workload: str | None) -> bool:
        """Return whether the unchanged node passes a seed; each run is made once."""
        run = (seed, workload)
        with self._lock:
            asking = self._asking[run]
        with asking:
            if run not in self._is_clean:
                found = self._sim(CLEAN, SeedRange(seed, seed + 1), workload, None)
                self._is_clean[run] = not found["violations"] and not found.get("unknown", 0)
            return self._is_clean[run]

    def _sim(
        self, mutant_id: str, seeds: SeedRange, workload: str | None, budget_s: float | None
    ) -> dict[str, Any]:
        """Run `kraftproof sim`, and return the object of its last line."""
        arguments = ["--seeds", str(seeds), "--no-plan", *self._bare]
        arguments += [] if workload is None else ["--workload", workload]
        arguments += [] if budget_s is None else ["--budget-s", repr(budget_s)]
        arguments += [] if mutant_id == CLEAN else ["--mutant", mutant_id, "--past-crashes"]
        return self._processes.run(arguments, f"{mutant_id}, seeds {seeds}")
