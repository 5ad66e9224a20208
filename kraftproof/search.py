"""The search over seeds in simulation: one scenario a seed, until something does not hold.

A violation is an invariant of the simulator, or an `invalid` of the inline engine. Each run has a
directory; that of a valid run is removed. Not: what a seed's scenario is (kraftproof/scenario.py).
"""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random

from checkers.verdict import Verdict
from kraftproof.errors import UsageError
from kraftproof.options import RunOptions
from kraftproof.progress import Silence
from kraftproof.run_directory import RunDirectory
from kraftproof.runner import RunResult, Simulation, cluster_options, execute
from kraftproof.scenario import Scenario, scenario
from nemesis.schedule import dense


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """What came of one seed."""

    seed: int
    scenario: Scenario
    result: RunResult
    cpu_s: float

    @property
    def is_violation(self) -> bool:
        """Whether something did not hold."""
        return self.result.verdict is Verdict.INVALID

    def describe(self) -> str:
        """Say in one line what was run and what came of it."""
        simulation = self.result.simulation
        events = simulation.events if simulation is not None else 0
        operations = self.result.check.operations if self.result.check is not None else 0
        return (
            f"{self.seed:>6}  {self.result.verdict.value:<8} {self.scenario.describe():<76} "
            f"{operations:>5} ops {events:>7} events {self.cpu_s:>6.2f} CPU-s"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSummary:
    """What a search did."""

    seeds: int
    violations: tuple[SeedResult, ...]
    unknown: int
    simulated_s: float
    cpu_s: float
    events: int


def parse_seeds(text: str) -> Iterable[int]:
    """Return the seeds of `A:B` (A to B-1), `A:` (without end) or `A` (one).

    Raises:
        UsageError: the text is no such range.
    """
    first, colon, last = text.partition(":")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise UsageError(f"--seeds {text}: A:B, A: or A is expected, for example 0:200")
    if not colon:
        return range(int(first), int(first) + 1)
    return range(int(first), int(last)) if last else count(int(first))


def search(
    seeds: Iterable[int],
    store: Path,
    *,
    mutant: str | None,
    mutant_hash: str | None,
    time_limit_s: float | None,
    budget_s: float | None,
    tell: Callable[[SeedResult], None],
) -> SearchSummary:
    """Run seeds until one is a violation, the seeds are over, or the CPU budget is used up."""
    started_s = time.process_time()
    results: list[SeedResult] = []
    for seed in seeds:
        if budget_s is not None and time.process_time() - started_s >= budget_s:
            break
        one = scenario(seed, store, mutant=mutant, time_limit_s=time_limit_s)
        results.append(run_seed(one, mutant_hash))
        tell(results[-1])
        if results[-1].is_violation:
            break
    return _summary(results, time.process_time() - started_s)


def run_seed(one: Scenario, mutant_hash: str | None) -> SeedResult:
    """Run one scenario in a directory of its own, which stays only if it is no clean pass.

    Two searches may share a store: a directory gets the name by which it stays at the end.
    """
    options = one.options
    started_s = time.process_time()
    directory = RunDirectory(path=options.store / f".sim-seed{options.seed}-{os.getpid()}")
    shutil.rmtree(directory.path, ignore_errors=True)
    directory.path.mkdir(parents=True)
    schedule = dense(
        options.nemeses,
        cluster_options(options, None).nodes,
        Random(f"schedule {options.seed}"),
        options.time_limit_ns,
    )
    result = execute(
        options, directory, schedule, Silence(), guarded=False, mutant_hash=mutant_hash
    )
    if result.verdict is Verdict.VALID:
        shutil.rmtree(directory.path)
    else:
        result = replace(result, directory=_kept(directory, options))
    cpu_s = time.process_time() - started_s
    return SeedResult(seed=options.seed, scenario=one, result=result, cpu_s=cpu_s)


def _kept(directory: RunDirectory, options: RunOptions) -> RunDirectory:
    """Give the directory its lasting name, in the place of an older run of the seed."""
    lasting = options.store / f"sim-seed{options.seed}"
    shutil.rmtree(lasting, ignore_errors=True)
    directory.path.rename(lasting)
    return RunDirectory(path=lasting)


def _summary(results: list[SeedResult], cpu_s: float) -> SearchSummary:
    return SearchSummary(
        seeds=len(results),
        violations=tuple(one for one in results if one.is_violation),
        unknown=sum(one.result.verdict is Verdict.UNKNOWN for one in results),
        simulated_s=sum(found.simulated_ns for found in _simulations(results)) / 1e9,
        cpu_s=cpu_s,
        events=sum(found.events for found in _simulations(results)),
    )


def _simulations(results: list[SeedResult]) -> Iterator[Simulation]:
    return (one.result.simulation for one in results if one.result.simulation is not None)
