"""Search seeds in simulation: run a scenario per seed until a property is violated.

A violation is a violated invariant of the simulator, or the verdict `invalid` of the inline engine.
Each run has a directory; the directory of a valid run is removed. See scenario.py for the scenario
of a seed.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count
from random import Random

from kraftproof.checkers import check_run
from kraftproof.checkers.unfinished import unfinished_directory
from kraftproof.checkers.verdict import Verdict
from kraftproof.cluster.simulated.kernel.garbage_collection import seldom_collected
from kraftproof.errors import UsageError
from kraftproof.report import write_reports
from kraftproof.run.attempt import Watch
from kraftproof.run.diagram_recorder import DiagramRecorder
from kraftproof.run.directory import SCHEDULE_FILE, RunDirectory
from kraftproof.run.display.progress import Silence
from kraftproof.run.mishaps import CRASH, writing
from kraftproof.run.outcome import NOT_REPEATABLE, add_mishap
from kraftproof.run.runner import RunResult, execute
from kraftproof.search.coverage import CoverageWatch, Covered
from kraftproof.search.scenario import Scenario
from kraftproof.search.seed_result import SeedResult, violation_of
from kraftproof.search.steering import Steering

COLLECTED_SHARE = 0.1
"""Share of runs whose node files are collected into tables and checked."""


MOST_UNJUDGED = 100
"""Largest number of seeds without a verdict in the summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A seed without a verdict, with the reasons and the run's directory."""

    seed: int
    why: tuple[str, ...]
    directory: str
    is_own_crash: bool
    """Whether a bug in Kraftproof itself ended the run."""


@dataclass(slots=True, kw_only=True)
class SearchSummary:
    """The result of a search so far; valid runs only add to the counts."""

    seeds: int = 0
    violations: list[SeedResult] = field(default_factory=list)
    crashes: list[SeedResult] = field(default_factory=list)
    """Crashed seeds without a violated property, after which the search continued."""
    unknown: int = 0
    unjudged: list[Unjudged] = field(default_factory=list)
    """The first seeds without a verdict, and all seeds ended by a bug in Kraftproof itself."""
    simulated_s: float = 0.0
    cpu_s: float = 0.0
    events: int = 0
    covered: Covered = field(default_factory=Covered)

    def count(self, one: SeedResult, *, past_crashes: bool) -> None:
        """Count the result of a seed."""
        self.seeds += 1
        self.events += one.events
        self.simulated_s += one.simulated_s
        if one.result.verdict is Verdict.UNKNOWN:
            self.unknown += 1
            self._note_unjudged(one)
        if one.is_violation:
            is_passed = past_crashes and one.is_crash
            (self.crashes if is_passed else self.violations).append(one)

    def _note_unjudged(self, one: SeedResult) -> None:
        is_own_crash = any(mishap.kind == CRASH for mishap in one.result.mishaps)
        if is_own_crash or len(self.unjudged) < MOST_UNJUDGED:
            unjudged = Unjudged(
                seed=one.seed,
                why=one.result.why,
                directory=str(one.result.directory.path),
                is_own_crash=is_own_crash,
            )
            self.unjudged.append(unjudged)


def parse_seeds(text: str) -> Iterable[int]:
    """Return the seeds of `A:B` (A to B-1), `A:` (without end), `A`, or several with commas.

    Raises:
        UsageError: the text is no range of seeds.
    """
    parts = [_parse_part(part, text) for part in text.split(",")]
    return parts[0] if len(parts) == 1 else chain.from_iterable(parts)


def _parse_part(part: str, text: str) -> Iterable[int]:
    first, colon, last = part.partition(":")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise UsageError(f"--seeds {text}: A:B, A: or A is expected, for example 0:200 or 3,7,20:")
    if not colon:
        return range(int(first), int(first) + 1)
    return range(int(first), int(last)) if last else count(int(first))


def search(
    seeds: Iterable[int],
    make: Callable[[int], Scenario],
    *,
    mutant_hash: str | None,
    budget_s: float | None,
    is_steered: bool,
    on_result: Callable[[SeedResult], None],
    past_crashes: bool = False,
    is_bare: bool = False,
) -> SearchSummary:
    """Run seeds until a violation, the end of the seeds, or the end of the CPU budget.

    With `past_crashes` the search continues after a crash. A seed with a violation runs a second
    time for its diagram, outside of the budget, unless the search is bare; of several crashes only
    the first runs again. A run of a bare search goes on after a crash of a node, which counts only
    if the run violates no property.
    """
    found = SearchSummary()
    started_s, showing_s = time.process_time(), 0.0
    steering = Steering(seeds, make, is_steered=is_steered)
    with seldom_collected():
        for scenario in steering:
            found.cpu_s = time.process_time() - started_s - showing_s
            if found.violations or (budget_s is not None and found.cpu_s >= budget_s):
                return found
            watch = CoverageWatch(outlives_crashes=is_bare)
            with _naming_the_seed(scenario.options.seed):
                one = run_seed(scenario, mutant_hash, watch)
            steering.learn(scenario, found.covered.add(watch.cells), one.events)
            is_shown = not is_bare and not (one.is_crash and found.crashes)
            if one.result.verdict is not Verdict.VALID and is_shown:
                found_s = time.process_time()
                with _naming_the_seed(one.seed):
                    one = shown(one, mutant_hash)
                showing_s += time.process_time() - found_s
            found.count(one, past_crashes=past_crashes)
            on_result(one)
    found.cpu_s = time.process_time() - started_s - showing_s
    return found


@contextmanager
def _naming_the_seed(seed: int) -> Iterator[None]:
    """Add the number of the seed, as a note, to an exception that ends the search."""
    try:
        yield
    except Exception as error:
        error.add_note(f"seed {seed}")
        raise


def run_seed(one: Scenario, mutant_hash: str | None, watch: Watch | None = None) -> SeedResult:
    """Run a scenario, and remove its directory.

    Most runs are judged by the invariants and the history only.
    """
    started_s = time.process_time()
    is_collected = Random(f"collected {one.options.seed}").random() < COLLECTED_SHARE
    with scenario_run(one, mutant_hash, is_collected=is_collected, watch=watch) as result:
        pass
    cpu_s = time.process_time() - started_s
    return SeedResult(seed=one.options.seed, scenario=one, result=result, cpu_s=cpu_s)


def shown(found: SeedResult, mutant_hash: str | None) -> SeedResult:
    """Run the scenario of a result again, and keep the run directory.

    The second run is identical. The files of the nodes are judged as well, and a recorder draws the
    end of the run.
    """
    recorder = DiagramRecorder()
    with scenario_run(found.scenario, mutant_hash, is_collected=True, watch=recorder) as result:
        directory = _kept(result.directory, found.scenario)
    with writing(directory.path):
        return _reported(found, replace(result, directory=directory), recorder)


def _reported(found: SeedResult, result: RunResult, recorder: DiagramRecorder) -> SeedResult:
    """Write the schedule, the verdict and the reports of a result that is shown."""
    directory = result.directory
    (directory.path / SCHEDULE_FILE).write_text(found.schedule_text(), encoding="utf-8")
    before, after = found.violation, violation_of(result)
    if before != after:
        doubt = f"the run was another one when it was done again: {after} in place of {before}"
        add_mishap(directory.path, NOT_REPEATABLE, doubt)
    result = replace(result, check=check_run(directory.path, "inline", write_tables=False))
    diagram = recorder.draw(result)
    write_reports(directory, result.check, diagram)
    return replace(found, result=result, diagram=diagram)


@contextmanager
def scenario_run(
    one: Scenario, mutant_hash: str | None, *, is_collected: bool, watch: Watch | None = None
) -> Iterator[RunResult]:
    """Run a scenario in a new directory with a unique name.

    The directory is removed at the end of the block unless the block renames the directory.
    """
    options = one.options
    path = options.store / f".sim-seed{options.seed}-{os.getpid()}"
    with writing(path), unfinished_directory(path):
        yield execute(
            options,
            RunDirectory(path=path),
            one.schedule,
            Silence(),
            guarded=False,
            is_collected=is_collected,
            mutant_hash=mutant_hash,
            watch=watch,
        )


def _kept(directory: RunDirectory, one: Scenario) -> RunDirectory:
    """Rename the directory to its final name, and replace an older run of the scenario."""
    lasting = one.options.store / f"sim-{one.name}"
    shutil.rmtree(lasting, ignore_errors=True)
    directory.path.rename(lasting)
    return RunDirectory(path=lasting)
