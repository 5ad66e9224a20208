"""`kraftproof shrink` for a run of `kraftproof test`: see kraftproof/search/live_shrinking.py."""

import shutil
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from kraftproof import interrupts
from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.mutants.installation import install_mutant
from kraftproof.options import RunOptions
from kraftproof.output import print_error, print_line

if TYPE_CHECKING:
    from kraftproof.checkers.verdict import Finding
    from kraftproof.nemesis.schedule import Schedule
    from kraftproof.run.runner import RunResult
    from kraftproof.search.live_shrinking import LiveShrinking, Tried


def shrink_live(run: Path, store: Path, *, tries: int, budget_s: float) -> int:
    """Reduce a run, print the result and return the exit code.

    Raises:
        UsageError: the run has no finding, or can't be done again here; one line.
    """
    from kraftproof.run.recorded import read_recorded

    recorded = read_recorded(run, store)
    mutant_hash = install_mutant(recorded.options.mutant, recorded.options.backend)
    from kraftproof.checkers import check_run
    from kraftproof.run.backends import make_backend
    from kraftproof.run.planning import plan
    from kraftproof.search.live_shrinking import LiveShrinking, Tried

    verdict = check_run(run, "inline", write_tables=False)
    schedule = plan(recorded.options, recorded.schedule())
    make_backend(recorded.options.backend).preflight()
    first = Tried(
        options=recorded.options,
        schedule=schedule,
        path=run,
        findings=tuple(dict.fromkeys(one.check for one in verdict.findings)),
        after_s=_after_s(verdict.findings, run),
    )
    if not first.findings:
        raise UsageError(f"{run}: the run has no finding, so it can't be shrunk")
    print_error(f"{run}: {first.describe()}; {', '.join(first.findings)}")
    work = LiveShrinking(
        first,
        lambda options, faults: _attempt(options, faults, mutant_hash),
        tries=tries,
        budget_s=budget_s,
        on_smaller=lambda smaller, runs: print_line(f"run {runs:>4}: {smaller.describe()}"),
    )
    return _conclude(work, first, budget_s)


def _conclude(work: "LiveShrinking", first: "Tried", budget_s: float) -> int:
    from kraftproof.search.shrinking import BudgetSpentError

    ending = "no fault can be removed"
    try:
        work.run()
    except BudgetSpentError:
        ending = f"the {budget_s:g} seconds are spent"
    except KeyboardInterrupt:
        interrupts.settle()
        ending = "interrupted"
    best = work.best
    print_line(f"after {work.runs} runs: {ending}")
    print_line(f"before  {first.describe()}")
    print_line(f"after   {best.describe()}")
    for one in best.schedule:
        print_line(one.describe())
    print_line(f"replay  {join(['kraftproof', 'replay', str(best.path)])}")
    return INTERRUPTED_EXIT_CODE if ending == "interrupted" else 0


def _attempt(options: RunOptions, schedule: "Schedule", mutant_hash: str | None) -> "Tried":
    from kraftproof.reporting import reported
    from kraftproof.run.directory import make_run_directory
    from kraftproof.run.display.progress import Silence
    from kraftproof.run.runner import execute
    from kraftproof.search.live_shrinking import Tried

    directory = make_run_directory(options)
    interrupts.note(f"the verdict on {directory.path} is unknown")
    try:
        result: RunResult = execute(
            options, directory, schedule, Silence(), guarded=False, mutant_hash=mutant_hash
        )
    except KeyboardInterrupt:
        shutil.rmtree(directory.path)
        raise
    reported(result, str)
    return Tried(
        options=options,
        schedule=schedule,
        path=directory.path,
        findings=tuple(dict.fromkeys(one.check for one in result.findings)),
        after_s=_after_s(result.findings, directory.path),
    )


def _after_s(findings: "tuple[Finding, ...]", run: Path) -> float | None:
    """Return the seconds from the start of the workload to the first finding, if known."""
    from kraftproof.checkers.run_outcome import read_outcome

    times = [one.time_ns for one in findings if one.time_ns is not None]
    outcome = read_outcome(run)
    if not times or outcome is None or outcome.started_ns is None:
        return None
    return (min(times) - outcome.started_ns) / 1e9
