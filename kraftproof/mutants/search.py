"""Searches for planted bugs, each in a process of its own, and what came of them.

A mutant has to be in the node's code before that is imported, so each search is a `kraftproof sim`.
A violation is a find only if it is a broken property, and no crash, and if the node as it is passes
the same seed (docs/scoreboard.md); if not it is a false alarm, and the search goes on behind it.
Not: the table (scoreboard.py).
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Lock, RLock
from typing import Any

from typing_extensions import override

from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError

CLEAN = "clean"
"""Stands for the node as it is, where a mutant's id can."""
CRASH = "crash"
"""The kind of a violation that is no broken property."""
STRIDE = 1000
"""How far apart the seeds of two repeats begin."""


class SearchFailedError(RuntimeError):
    """A search ended without a word on what it found; the text is its last line."""


class SearchStoppedError(SearchFailedError):
    """A search was ended before it was over, by `stop` or by a Ctrl-C of its own."""


@dataclass(frozen=True, slots=True)
class SeedRange:
    """Seeds from `first` on, below `end` if there is one."""

    first: int
    end: int | None

    def behind(self, seed: int) -> "SeedRange":
        """Return what is left after a seed."""
        return SeedRange(seed + 1, self.end)

    def repeated(self, times: int) -> "tuple[SeedRange, ...]":
        """Return disjoint ranges as long as this one, itself the first."""
        stride = STRIDE if self.end is None else max(STRIDE, self.end - self.first)
        shifts = (stride * time for time in range(times))
        return tuple(
            SeedRange(self.first + shift, None if self.end is None else self.end + shift)
            for shift in shifts
        )

    @property
    def is_empty(self) -> bool:
        """Whether no seed is in it."""
        return self.end is not None and self.end <= self.first

    @override
    def __str__(self) -> str:
        return f"{self.first}:" if self.end is None else f"{self.first}:{self.end}"


def parse_range(text: str) -> SeedRange:
    """Return the range of `A:` or `A:B` (A to B-1).

    Raises:
        UsageError: the text is no such range, or no seed is in it.
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
    """One search, and what came of it."""

    seeds: SeedRange
    cpu_s: float
    """From the first seed to the violation, or to the end: Python's start is left out."""
    searched: int = 0
    """How many seeds were run."""
    seed: int | None = None
    """Where the bug was found."""
    by: str | None = None
    """The invariant or checker that noticed."""
    false_alarms: tuple[int, ...] = ()
    """Seeds that the node as it is does not pass either."""
    unknown: int = 0
    """Runs without a verdict."""
    crashes: tuple[int, ...] = ()
    """Seeds in which a node crashed and no property was broken: they count for nothing."""

    @property
    def is_found(self) -> bool:
        """Whether it found something that is the mutant's."""
        return self.seed is not None


class Searcher:
    """Runs searches, from several threads if need be; `stop` ends those that are under way."""

    def __init__(self, budget_s: float) -> None:
        self._budget_s = budget_s
        self._children: set[subprocess.Popen[str]] = set()
        self._is_clean: dict[int, bool] = {}
        self._asking: defaultdict[int, Lock] = defaultdict(Lock)
        self._lock = RLock()  # for a handler of Ctrl-C that stops while one stops already
        self._stopped = Event()

    def find(self, mutant_id: str, seeds: SeedRange) -> Search:
        """Search until the mutant is found, the seeds are over or the budget is used up.

        Raises:
            SearchStoppedError: the search was ended before it was over.
            SearchFailedError: a search could not be done.
        """
        left, spent_s, searched, unknown = seeds, 0.0, 0, 0
        false_alarms: list[int] = []
        crashes: dict[int, None] = {}
        while not left.is_empty and spent_s < self._budget_s:
            told = self._sim(mutant_id, left, self._budget_s - spent_s)
            spent_s += told["cpu_seconds"]
            searched += told["seeds"]
            unknown += told.get("unknown", 0)
            crashed = [one for one in told["violations"] if one["kind"] == CRASH]
            broken = [one for one in told["violations"] if one["kind"] != CRASH]
            if mutant_id == CLEAN:  # the node as it is may do neither
                broken += crashed
            else:
                crashes.update(dict.fromkeys(one["seed"] for one in crashed))
            if not broken:
                break
            violation = broken[0]
            seed: int = violation["seed"]
            if mutant_id != CLEAN and self._passes(seed):
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
        """End every search that is under way, and begin no more."""
        with self._lock:
            self._stopped.set()
            for child in self._children:
                child.terminate()

    def _passes(self, seed: int) -> bool:
        """Whether the node as it is passes a seed; each is run once."""
        with self._lock:
            asking = self._asking[seed]
        with asking:
            if seed not in self._is_clean:
                told = self._sim(CLEAN, SeedRange(seed, seed + 1), None)
                self._is_clean[seed] = not told["violations"] and not told.get("unknown", 0)
            return self._is_clean[seed]

    def _sim(self, mutant_id: str, seeds: SeedRange, budget_s: float | None) -> dict[str, Any]:
        """Return the last line of a `kraftproof sim`."""
        with temporary_directory("kraftproof-mutants-") as store:
            command = [sys.executable, "-m", "kraftproof", "sim", "--json", "--store", str(store)]
            command += ["--seeds", str(seeds)]
            command += [] if budget_s is None else ["--budget-s", repr(budget_s)]
            command += [] if mutant_id == CLEAN else ["--mutant", mutant_id, "--past-crashes"]
            output, errors, status = self._run(command)
        last = (output.strip() or " ").splitlines()[-1]
        if not last.startswith("{"):  # a traceback's exit status is that of a violation
            reason = (errors.strip() or "it said nothing").splitlines()[-1]
            raise SearchFailedError(f"{mutant_id}, seeds {seeds}: exit status {status}: {reason}")
        told: dict[str, Any] = json.loads(last)
        return told

    def _run(self, command: Sequence[str]) -> tuple[str, str, int]:
        with self._lock:
            if self._stopped.is_set():
                raise SearchStoppedError("stopped")
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            self._children.add(child)
        output, errors = child.communicate()
        with self._lock:
            self._children.discard(child)
            if self._stopped.is_set() or child.returncode == INTERRUPTED_EXIT_CODE:
                raise SearchStoppedError("stopped")
        return output, errors, child.returncode
