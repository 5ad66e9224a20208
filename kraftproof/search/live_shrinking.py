"""Shrink a run of a live cluster: fewer faults, then less time, with the same finding.

No two runs of a live cluster are equal, so each candidate is tried several times, and counts if one
try shows a finding of the same check. See shrinking.py for simulated runs.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from kraftproof.nemesis.schedule import SECOND_NS, Schedule, Scheduled
from kraftproof.options import RunOptions
from kraftproof.search.minimize import minimized
from kraftproof.search.shrinking import BudgetSpentError

LEAD_NS = SECOND_NS
"""Time of the workload before the first fault, in nanoseconds."""
AFTER_S = 3.0
"""Seconds of the workload after the finding, since the next run may show the finding later."""
SHORTEST_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A run of a candidate.

    Attributes:
        options: The options.
        schedule: The faults.
        path: The run directory.
        findings: The names of the checks with findings.
        after_s: Seconds from the start of the workload to the first finding; None if no finding
            has a time.
    """

    options: RunOptions
    schedule: Schedule
    path: Path
    findings: tuple[str, ...]
    after_s: float | None = None

    def describe(self) -> str:
        """Return the size of the run in a few words."""
        count = len(self.schedule)
        faults = "1 fault" if count == 1 else f"{count} faults"
        return f"{faults}, {self.options.time_limit_s:g} s"


class LiveShrinking:
    """The reduction of a failing run; `best` is the smallest failing run so far.

    Args:
        first: The run to reduce, with a finding.
        attempt: Does a run in a new directory.
        tries: How often each candidate is run at most.
        budget_s: Seconds of real time, after which no further run starts.
        on_smaller: Called with each smaller failing run and the number of runs so far.
    """

    def __init__(
        self,
        first: Tried,
        attempt: Callable[[RunOptions, Schedule], Tried],
        *,
        tries: int,
        budget_s: float,
        on_smaller: Callable[[Tried, int], None],
    ) -> None:
        assert first.findings, "only what fails can be shrunk"
        self.best = first
        self.runs = 0
        self._wanted = frozenset(first.findings)
        self._attempt = attempt
        self._tries = tries
        self._ends_s = time.monotonic() + budget_s
        self._on_smaller = on_smaller
        self._first = first.path

    def run(self) -> None:
        """Reduce the run until no candidate fails.

        Raises:
            BudgetSpentError: the time was spent before.
        """
        self._cut_time()
        minimized(self.best.schedule, self._fails_with)
        self._cut_time()
        self._move_forward()

    def _cut_time(self) -> None:
        """End the workload soon after the finding, else soon after the last fault."""
        for limit_s in (self._soon_after_finding(), self._soon_after_faults()):
            if limit_s is not None and limit_s < self.best.options.time_limit_s:
                kept = _until(self.best.schedule, limit_s)
                if self._fails(replace(self.best.options, time_limit_s=limit_s), kept):
                    return

    def _soon_after_finding(self) -> float | None:
        after_s = self.best.after_s
        return None if after_s is None else max(SHORTEST_S, float(ceil(after_s + AFTER_S)))

    def _soon_after_faults(self) -> float:
        latest_ns = max((one.until_ns for one in self.best.schedule), default=0)
        return max(SHORTEST_S, float(ceil(latest_ns / SECOND_NS + AFTER_S)))

    def _fails_with(self, kept: Sequence[Scheduled]) -> bool:
        return self._fails(self.best.options, tuple(kept))

    def _move_forward(self) -> None:
        """Move the first fault to the start, and end the workload as much earlier."""
        if not self.best.schedule:
            return
        earlier_ns = min(one.at_ns for one in self.best.schedule) - LEAD_NS
        if earlier_ns < SECOND_NS:
            return
        moved = tuple(
            replace(one, at_ns=one.at_ns - earlier_ns, until_ns=one.until_ns - earlier_ns)
            for one in self.best.schedule
        )
        limit_s = self.best.options.time_limit_s - earlier_ns // SECOND_NS
        options = replace(self.best.options, time_limit_s=max(SHORTEST_S, limit_s))
        self._fails(options, moved)

    def _fails(self, options: RunOptions, schedule: Schedule) -> bool:
        """Return whether one of the tries has the finding; then the try is the best run."""
        if options.fault_every_s is not None:
            options = replace(options, fault_every_s=None)
        for number in range(self._tries):
            if time.monotonic() > self._ends_s:
                raise BudgetSpentError
            seed = options.seed + number if options.is_virtual else options.seed
            self.runs += 1
            found = self._attempt(replace(options, seed=seed), schedule)
            if self._wanted.isdisjoint(found.findings):
                shutil.rmtree(found.path)
                continue
            if self.best.path != self._first:
                shutil.rmtree(self.best.path)
            self.best = found
            self._on_smaller(found, self.runs)
            return True
        return False


def _until(schedule: Schedule, limit_s: float) -> Schedule:
    return tuple(one for one in schedule if one.at_ns < limit_s * SECOND_NS)
