"""Writes the reports of a run that `kraftproof test` has judged; a crash there spoils nothing else.

The verdict stands, with the history and outcome.json: they are on disk before any report is.
"""

from collections.abc import Callable
from dataclasses import replace

from kraftproof.checkers.run_outcome import Mishap
from kraftproof.errors import DISK_ERRORS
from kraftproof.output import complain
from kraftproof.report import write_reports
from kraftproof.run.mishaps import mishap_of
from kraftproof.run.runner import RunResult


def reported(result: RunResult, draw: Callable[[], str]) -> RunResult:
    """Write the reports, with a diagram; the result gets the exit code of a crash of our own.

    Raises:
        OSError: the disk refuses a report.
    """
    try:
        write_reports(result.directory, result.check, draw())
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            raise
        kind, sentence = mishap_of(error, result.directory.path)
        complain(f"kraftproof: the report can't be written: {sentence}")
        return replace(result, mishaps=(*result.mishaps, Mishap(kind=kind, sentence=sentence)))
    return result
