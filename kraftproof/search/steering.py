"""Choose the next seed of a search by its expected new coverage.

Steering changes only the order of seeds; each seed is still the same run. The features of a
scenario (workload, nodes, kinds of faults and pairs of kinds) are known before the run. The promise
of a feature is the number of new cells per event in the earlier runs with this feature. A new
feature has the best promise so far. See coverage.py for cells.

A run with records and a single broker has no followers, so most such seeds wait for the others.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice

from kraftproof.search.scenario import Scenario, has_data

WINDOW = 48
"""Number of candidate seeds for each choice; the other seeds stay candidates."""
MEMORY = 0.8
"""Decay factor of a feature's counts with each run that has the feature."""
SINGLE_EVERY = 8
"""One choice of so many regards the candidates with records and a single broker, too."""


class Steering:
    """An iterator over scenarios that learns from results; in seed order without steering."""

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
        """Yield the scenarios in the order of the search."""
        while True:
            missing = self._window - len(self._candidates)
            for seed in islice(self._seeds, missing):
                one = self._make(seed)
                self._candidates.append((one, _features(one)))
            if not self._candidates:
                return
            yield self._next()

    def _next(self) -> Scenario:
        """Remove and return the oldest candidate or, every second time, the most promising one.

        Rare features get their turn by age, since a single new feature hardly raises the mean.
        """
        chosen = self._eligible()
        self._taken += 1
        if self._taken % 2:
            return self._candidates.pop(chosen[0])[0]
        best = max(chosen, key=lambda i: self._promise(self._candidates[i][1]))
        return self._candidates.pop(best)[0]

    def _eligible(self) -> list[int]:
        """Return the places of the candidates that the next choice regards; the first regards all.

        The seeds recorded for mutants begin a search.
        """
        every = list(range(len(self._candidates)))
        if self._taken % SINGLE_EVERY == 0:
            return every
        return [i for i in every if not _is_single(self._candidates[i][0])] or every

    def learn(self, one: Scenario, new_cells: int, events: int) -> None:
        """Update the promises by the new cells and the events of a run."""
        for feature in sorted(_features(one)):
            self._new[feature] = MEMORY * self._new[feature] + new_cells
            self._events[feature] = MEMORY * self._events[feature] + events
        self._best = max(self._best, new_cells / max(events, 1))

    def _promise(self, features: frozenset[str]) -> float:
        promises = (
            self._new[feature] / max(self._events[feature], 1)
            if feature in self._events
            else self._best
            for feature in sorted(features)
        )
        return sum(promises) / len(features)


def _is_single(one: Scenario) -> bool:
    """Return whether a run has records, and a single broker has them."""
    return one.options.brokers == 1 and has_data(one.options.workload)


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
