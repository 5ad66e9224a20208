"""`kraftproof report`: rewrite the pages of runs from their directories."""

from pathlib import Path
from typing import Annotated

import typer

from kraftproof.checkers import check_run
from kraftproof.checkers.verdict import RunVerdict, Verdict, worst
from kraftproof.errors import UsageError
from kraftproof.output import print_error, print_verdict
from kraftproof.quick_start import without_pandas
from kraftproof.report import write_reports
from kraftproof.report.run_view import read_shown_run
from kraftproof.run.directory import RunDirectory
from kraftproof.run.findings import last_moments
from kraftproof.run.mishaps import writing


def report(
    *,
    runs: Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN...")],
) -> None:
    """Judge recorded runs again, and rewrite report.html, report.md and junit.xml of each run.

    [bold]kraftproof report store/*/[/]
    Updates the pages of all old runs to this version of Kraftproof.

    The command needs only the run directories, no cluster. Nothing is written if
    one of the directories is no run directory.

    Exit code of the worst verdict: 0 valid, 2 unknown, 1 invalid; 3 wrong usage
    or input.
    """
    without_pandas()
    directories = [RunDirectory(path=run) for run in runs]
    for directory in directories:
        read_shown_run(directory)  # refuses other directories before any page is written
    raise typer.Exit(worst([_write(directory) for directory in directories]).exit_code)


def _write(directory: RunDirectory) -> Verdict:
    with writing(directory.path):
        try:
            check = check_run(directory.path, "inline", report=print_error)
            write_reports(directory, check, _diagram(directory, check))
        except OSError as error:
            if error.filename is None:
                raise
            raise UsageError(f"{error.filename}: {error.strerror}") from error
    print_verdict(check.verdict.value, f" {directory.report}")
    return check.verdict


def _diagram(directory: RunDirectory, check: RunVerdict) -> str:
    """Return a diagram of the events before the first finding; empty for a run without findings."""
    return last_moments(directory.path, check.findings[0]) if check.findings else ""
