"""`kraftproof report`: writes the pages of runs again, from their directories alone."""

from pathlib import Path
from typing import Annotated

import typer

from kraftproof.checkers import check_run
from kraftproof.checkers.verdict import RunVerdict, Verdict, worst
from kraftproof.errors import UsageError
from kraftproof.output import complain, say_verdict
from kraftproof.report import write_reports
from kraftproof.run.directory import RunDirectory
from kraftproof.run.findings import last_moments
from kraftproof.run.mishaps import writing


def report(
    *,
    runs: Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN...")],
) -> None:
    """Judge runs again and write report.html, report.md and junit.xml into their directories.

    [bold]kraftproof report store/*/[/]
    Brings the pages of old runs to this version of Kraftproof.

    Exit codes, by the worst: 0 valid, 2 unknown, 1 invalid; 3 a directory that is no run.
    """
    directories = [RunDirectory(path=run) for run in runs]
    for directory in directories:
        directory.read_run()  # refuses what is no run before any page is written
    raise typer.Exit(worst([_write(directory) for directory in directories]).exit_code)


def _write(directory: RunDirectory) -> Verdict:
    check = check_run(directory.path, "inline", report=complain)
    with writing(directory.path):
        try:
            write_reports(directory, check, _diagram(directory, check))
        except OSError as error:
            if error.filename is None:
                raise
            raise UsageError(f"{error.filename}: {error.strerror}") from error
    say_verdict(check.verdict.value, f" {directory.report}")
    return check.verdict


def _diagram(directory: RunDirectory, check: RunVerdict) -> str:
    """Return the last moments before the first finding that no sub-history explains."""
    return last_moments(directory.path, check.findings[0]) if check.findings else ""
