"""Shrink a failing run to a smaller run that fails for the same reason.

Delta debugging (Zeller and Hildebrandt, 2002) removes faults of the schedule, then operations. In
between, the run gets less time, fewer nodes and clients, and shorter faults. Delays and waiting
times differ in a smaller run, so each candidate runs with several seeds, and a failing seed becomes
the candidate's seed. See smaller.py for the candidates, and schedule_file.py for the result.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TypeVar

from kraftproof.nemesis.schedule import Scheduled
from kraftproof.search.minimize import minimized
from kraftproof.search.scenario import Scenario
from kraftproof.search.seed_result import OF_FILES, SeedResult
from kraftproof.search.seeds import scenario_run
from kraftproof.search.smaller import (
    SHORTEST_TIME_LIMIT_S,
    Size,
    fewer_clients,
    fewer_nodes,
    moved_forward,
    simpler,
    until,
)

T = TypeVar("T")

SEEDS_TRIED = 3
"""Number of seeds tried for each candidate."""
IN_HAND_S = 1.0
LIMITS = (0.25, 0.5, 0.75, 0.9)


class BudgetSpentError(Exception):
    """The CPU budget is spent; the smallest run so far is the result."""


class Shrinking:
    """The reduction of a failing run; `best` is the smallest failing run so far."""

    def __init__(
        self,
        first: SeedResult,
        mutant_hash: str | None,
        budget_s: float,
        on_result: Callable[[SeedResult, int], None],
    ) -> None:
        assert first.reason is not None, "only what fails can be shrunk"
        self.best = first
        self.reason = first.reason
        self.runs = 0
        self._mutant_hash = mutant_hash
        self._ends_s = time.process_time() + budget_s
        self._on_result = on_result

    def run(self) -> None:
        """Reduce the run until no candidate fails.

        Raises:
            BudgetSpentError: the CPU budget was spent before.
        """
        self._cut_time()
        self._move_forward()
        size = None
        while size != Size.of(self.best):
            size = Size.of(self.best)
            self._drop_faults()
            self._trim()
            self._drop_operations()
            self._try_in_turn(fewer_nodes)
            self._try_in_turn(fewer_clients)
            self._simplify_faults()
            self._cut_time()

    # Candidates

    def _cut_time(self) -> None:
        """End the workload at the violation of an invariant, otherwise as early as possible."""
        if self.best.violation is not None:
            self._trim()
            return
        for share in LIMITS:
            options = self.best.scenario.options
            limit_s = round(options.time_limit_s * share, 1)
            if limit_s >= SHORTEST_TIME_LIMIT_S and self._fails(until(self.best.scenario, limit_s)):
                self._cut_time()
                return

    def _trim(self) -> None:
        """Remove all events after the violation, since these can't affect earlier events."""
        after_s = self._violated_after_s()
        if after_s is None:
            return
        limit_s = max(SHORTEST_TIME_LIMIT_S, ceil(after_s * 10) / 10)
        trimmed = until(self.best.scenario, limit_s)
        if trimmed != self.best.scenario:
            self._fails(trimmed, seeds=1)

    def _move_forward(self) -> None:
        """Try only the last few faults, moved to the start; earlier faults often have no effect.

        The smallest number of faults comes first, since these runs are the shortest.
        """
        schedule = self.best.scenario.schedule
        count = 1
        while count < len(schedule):
            if self._fails(moved_forward(self.best.scenario, schedule[-count:], self._needed_s())):
                return
            count *= 2

    def _drop_faults(self) -> None:
        def with_faults(kept: Sequence[Scheduled]) -> Scenario:
            return until(replace(self.best.scenario, schedule=tuple(kept)), self._needed_s())

        self._minimize(self.best.scenario.schedule, with_faults)

    def _needed_s(self) -> float:
        """Return the necessary duration of the workload, with a margin for slower runs."""
        limit_s = self.best.scenario.options.time_limit_s
        after_s = self._violated_after_s()
        if after_s is None:
            return limit_s
        return max(SHORTEST_TIME_LIMIT_S, min(limit_s, round(after_s + IN_HAND_S, 1)))

    def _violated_after_s(self) -> float | None:
        """Return the time of a violated invariant since the start of the workload, or None."""
        violation, run = self.best.violation, self.best.result.run
        if violation is None or run is None:
            return None
        if violation.time_ns is None:
            return 0.0  # a comparison, which needs no workload
        return (violation.time_ns - run.started_ns) / 1e9

    def _drop_operations(self) -> None:
        """Remove operations by number; the final reads always stay."""

        def with_operations(kept: Sequence[int]) -> Scenario:
            options = replace(self.best.scenario.options, operations=tuple(kept))
            return replace(self.best.scenario, options=options)

        given = self.best.scenario.options.operations
        self._minimize(
            range(Size.of(self.best).operations) if given is None else given, with_operations
        )

    def _simplify_faults(self) -> None:
        """Shorten each fault, and round its start and end."""
        for place in range(len(self.best.scenario.schedule)):
            self._try_in_turn(partial(simpler, place))

    # Attempts

    def _minimize(self, items: Sequence[T], make: Callable[[Sequence[T]], Scenario]) -> None:
        """Remove items while the made scenario fails."""
        minimized(items, lambda kept: self._fails(make(kept)))

    def _try_in_turn(self, simpler: Callable[[Scenario], Iterable[Scenario]]) -> None:
        """Replace the run by the first simpler failing run, repeatedly."""
        while any(self._fails(candidate) for candidate in simpler(self.best.scenario)):
            pass

    def _fails(self, candidate: Scenario, seeds: int = SEEDS_TRIED) -> bool:
        """Return whether a run fails for the same reason and is no larger; then update `best`."""
        first = candidate.options.seed
        for seed in range(first, first + seeds):
            if time.process_time() > self._ends_s:
                raise BudgetSpentError
            one = replace(candidate, options=replace(candidate.options, seed=seed))
            self.runs += 1
            found = self._attempt(one)
            if self.reason in found.reasons and not Size.of(found).exceeds(Size.of(self.best)):
                self.best = found
                self._on_result(found, self.runs)
                return True
        return False

    def _attempt(self, one: Scenario) -> SeedResult:
        """Run a scenario; judge the nodes' files only if the reason is a check of these files."""
        is_collected = self.reason.startswith(OF_FILES)
        with scenario_run(one, self._mutant_hash, is_collected=is_collected) as result:
            pass
        return SeedResult(seed=one.options.seed, scenario=one, result=result, cpu_s=0.0)
