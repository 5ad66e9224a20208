"""`kraftproof replay`: do a recorded run again, and count how often its finding comes back."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kraftproof.cluster.compose_reference import absolute_system
from kraftproof.errors import INTERRUPTED_EXIT_CODE
from kraftproof.mutants.installation import install_mutant
from kraftproof.options import RunOptions
from kraftproof.output import print_error, print_json, print_line, print_verdict
from kraftproof.quick_start import without_pandas

if TYPE_CHECKING:
    from kraftproof.run.recorded import RecordedRun
    from kraftproof.run.runner import RunResult

TIMES = 5
MOST_TIMES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A run that was done again.

    Attributes:
        path: The new run directory.
        verdict: The verdict.
        findings: The names of the checks with findings.
        why: The first reason for the verdict; empty for a valid run.
        is_same: Whether a finding of the recorded run came back.
    """

    path: Path
    verdict: str
    findings: tuple[str, ...]
    why: str
    is_same: bool

    def as_json(self) -> dict[str, Any]:
        """Return the run as a value for `--json`."""
        return {
            "run": str(self.path),
            "verdict": self.verdict,
            "findings": list(self.findings),
            "why": self.why,
            "same": self.is_same,
        }


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory of the store.")],
    *,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            help="Other ground: a backend (simulated, local, docker, ssh), or a system as NAME, "
            "NAME:VERSION, path/to/file.py:Class or compose:FILE.",
            show_default="the ground of the run",
        ),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(
            help="Another file of hosts, for the ssh backend.",
            show_default="the file of the run",
            resolve_path=True,
        ),
    ] = None,
    times: Annotated[int, typer.Option(help="Number of runs.", min=1, max=MOST_TIMES)] = TIMES,
    store: Annotated[
        Path | None,
        typer.Option(help="Where run directories are made.", show_default="the run's own store"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as a JSON object on the last line.")
    ] = False,
) -> None:
    """Do a recorded run again: the same faults, workload and seed, several times.

    [bold]kraftproof replay store/RUN --times 5[/]
    Five runs; prints in how many runs the same finding came back.

    [bold]kraftproof replay store/RUN --on simulated[/]
    The same schedule in virtual time.

    The same finding is a finding of the same check. On live clusters no two
    runs are equal, so that a finding may need several runs to come back. In the
    simulation a seed gives one run: each further run takes the next seed.

    Exit codes: 0 all runs valid, 1 a run invalid, 2 a run unknown, 3 wrong usage
    or input, 130 interrupted.
    """
    from kraftproof.run.recorded import on_ground, read_recorded

    recorded = read_recorded(run, run.absolute().parent if store is None else store)
    ground = None if on is None else absolute_system(on)
    recorded = replace(recorded, options=on_ground(recorded.options, ground, hosts))
    mutant_hash = install_mutant(recorded.options.mutant, recorded.options.backend)
    raise typer.Exit(_replay(recorded, times, mutant_hash, as_json=as_json))


def _replay(recorded: "RecordedRun", times: int, mutant_hash: str | None, *, as_json: bool) -> int:
    from kraftproof.checkers import check_run
    from kraftproof.run.planning import plan, preflight
    from kraftproof.run.recorded import checks_with_findings
    from kraftproof.running import run_and_report

    options = recorded.options
    if options.engine != "spark":
        without_pandas()
    schedule = plan(options, recorded.schedule())
    preflight(options)
    before = check_run(recorded.path, "inline", write_tables=False)
    wanted = checks_with_findings(before.findings)
    print_error(
        f"{recorded.path} is {before.verdict.value}: {', '.join(wanted) or 'no finding'}; "
        f"{_times(times)} on {_ground(options)}, {len(schedule)} faults"
    )
    done: list[Replayed] = []
    for number in range(times):
        seed = options.seed + number if options.is_virtual else options.seed
        result, _ = run_and_report(
            replace(options, seed=seed), schedule, mutant_hash, guarded=recorded.is_guarded
        )
        if result.exit_code == INTERRUPTED_EXIT_CODE:
            return INTERRUPTED_EXIT_CODE
        done.append(_replayed(result, wanted))
        print_line(_line(done[-1], number, times))
    return _conclude(recorded, wanted, done, as_json=as_json)


def _replayed(result: "RunResult", wanted: tuple[str, ...]) -> Replayed:
    from kraftproof.run.recorded import checks_with_findings

    found = checks_with_findings(result.findings)
    return Replayed(
        path=result.directory.path,
        verdict=result.verdict.value,
        findings=found,
        why=next(iter(result.why), ""),
        is_same=not set(found).isdisjoint(wanted),
    )


def _line(one: Replayed, number: int, times: int) -> str:
    summary = ", ".join(one.findings) or one.why or "no finding"
    return f"{number + 1} of {times}  {one.verdict:<8} {summary}; {one.path}"


def _conclude(
    recorded: "RecordedRun", wanted: tuple[str, ...], done: list[Replayed], *, as_json: bool
) -> int:
    """Print how often the finding came back, and return the exit code of the worst verdict."""
    from kraftproof.checkers.verdict import Verdict

    same = sum(one.is_same for one in done)
    invalid = sum(one.verdict == Verdict.INVALID for one in done)
    order = (Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID)
    worst = next(verdict for verdict in order if any(one.verdict == verdict for one in done))
    if as_json:
        print_json(
            {
                "recorded": str(recorded.path),
                "on": _ground(recorded.options),
                "findings": list(wanted),
                "times": len(done),
                "same": same,
                "invalid": invalid,
                "runs": [one.as_json() for one in done],
            }
        )
        return worst.exit_code
    if wanted:
        rest = f"  the same finding in {same} of {_times(len(done))}"
        if invalid > same:
            rest += f", another finding in {invalid - same}"
    else:
        rest = f"  {invalid} of {_times(len(done))} invalid; the recorded run has no finding"
    print_verdict(worst.value, rest)
    return worst.exit_code


def _times(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _ground(options: RunOptions) -> str:
    version = "" if options.system_version is None else f":{options.system_version}"
    return f"{options.backend} ({options.system}{version})"
