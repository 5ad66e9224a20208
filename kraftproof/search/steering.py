"""Which seed a search runs next: one whose scenario promises what is not yet covered.

A seed stays what it is, one run that replays alone; only the order is steered. The features of a
scenario (its workload, its nodes, the kinds of its faults and of those in pairs) are known before
it runs. A feature's promise is how many new cells an event brought in the runs that had it; that
of a feature never tried is the best there has been. Not: what a cell is (coverage.py).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice

from kraftproof.search.scenario import Scenario

WINDOW = 48
"""So many seeds are looked at to choose one of them; those not chosen stay candidates."""
MEMORY = 0.8
"""What a feature has brought counts for so much less with each run that has it."""


class Steering:
    """An iterator over seeds that learns between them; in order if it is not to steer."""

    def __init__(
        self, seeds: Iterable[int], make: Callable[[int], Scenario], *, is_steered: bool
    ) -> None:
        self._seeds = iter(seeds)
        self._make = make
        self._window = WINDOW if is_steered else 1
        self._candidates: list[tuple[Scenario, frozenset[str]]] = []
        self._new: defaultdict[str, float] = defaultdict(float)
        self._events: defaultdict[str, float] = defaultdict(float)
        self._best = 0.0
        self._taken = 0

    def __iter__(self) -> Iterator[Scenario]:
        """Yield the scenarios in the order in which to run them."""
        while True:
            missing = self._window - len(self._candidates)
            for seed in islice(self._seeds, missing):
                one = self._make(seed)
                self._candidates.append((one, _features(one)))
            if not self._candidates:
                return
            yield self._next()

    def _next(self) -> Scenario:
        """Take the oldest candidate or, every other time, the one that promises most.

        What is rare has its turn by age: one feature never tried hardly lifts the mean of many.
        """
        self._taken += 1
        best = max(
            range(len(self._candidates)), key=lambda i: self._promise(self._candidates[i][1])
        )
        return self._candidates.pop(0 if self._taken % 2 else best)[0]

    def learn(self, one: Scenario, new_cells: int, events: int) -> None:
        """Take in what a run has brought, for how many events."""
        for feature in sorted(_features(one)):
            self._new[feature] = MEMORY * self._new[feature] + new_cells
            self._events[feature] = MEMORY * self._events[feature] + events
        self._best = max(self._best, new_cells / max(events, 1))

    def _promise(self, features: frozenset[str]) -> float:
        promises = (
            self._new[feature] / self._events[feature] if feature in self._events else self._best
            for feature in sorted(features)
        )
        return sum(promises) / len(features)


def _features(one: Scenario) -> frozenset[str]:
    options = one.options
    kinds = sorted({scheduled.fault.kind for scheduled in one.schedule})
    return frozenset(
        (
            options.workload,
            f"{options.controllers}+{options.brokers}",
            *kinds,
            *(f"{first} and {second}" for first, second in combinations(kinds, 2)),
            *(f"{options.workload} with {kind}" for kind in kinds),
        )
    )
