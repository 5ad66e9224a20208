"""`kraftproof shrink` for a run of `kraftproof test`: see kraftproof/search/live_shrinking.py."""

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from kraftproof import interrupts
from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.mutants.installation import install_mutant
from kraftproof.options import RunOptions
from kraftproof.output import print_error, print_line
from kraftproof.quick_start import without_pandas

if TYPE_CHECKING:
    from kraftproof.checkers.verdict import Finding
    from kraftproof.nemesis.schedule import Schedule
    from kraftproof.search.live_shrinking import LiveShrinking, Tried


def shrink_live(run: Path, store: Path, *, tries: int, budget_s: float) -> int:
    """Reduce a run, print the result and return the exit code.

    Raises:
        UsageError: the run has no finding, or can't be done again here; one line.
    """
    from kraftproof.run.recorded import checks_with_findings, read_recorded

    recorded = read_recorded(run, store)
    mutant_hash = install_mutant(recorded.options.mutant, recorded.options.backend)
    from kraftproof.checkers import check_run
    from kraftproof.run.planning import plan, preflight
    from kraftproof.search.live_shrinking import LiveShrinking, Tried

    if recorded.options.engine != "spark":
        without_pandas()
    verdict = check_run(run, "inline", write_tables=False)
    schedule = plan(recorded.options, recorded.schedule())
    preflight(recorded.options)
    first = Tried(
        options=recorded.options,
        schedule=schedule,
        path=run,
        findings=checks_with_findings(verdict.findings),
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
    from kraftproof.run.recorded import checks_with_findings
    from kraftproof.running import run_and_report
    from kraftproof.search.live_shrinking import Tried

    result, _ = run_and_report(options, schedule, mutant_hash, guarded=False, is_silent=True)
    return Tried(
        options=options,
        schedule=schedule,
        path=result.directory.path,
        findings=checks_with_findings(result.findings),
        after_s=_after_s(result.findings, result.directory.path),
    )


def _after_s(findings: "tuple[Finding, ...]", run: Path) -> float | None:
    """Return the seconds from the start of the workload to the first finding, if known."""
    from kraftproof.checkers.run_outcome import read_outcome

    times = [one.time_ns for one in findings if one.time_ns is not None]
    outcome = read_outcome(run)
    if not times or outcome is None or outcome.started_ns is None:
        return None
    return (min(times) - outcome.started_ns) / 1e9
