"""Write the reports of a judged run of `kraftproof test`; a crash here keeps the verdict.

History and outcome.json are on disk before the first report is written.
"""

from collections.abc import Callable
from dataclasses import replace

from kraftproof.checkers.run_outcome import Mishap
from kraftproof.errors import DISK_ERRORS
from kraftproof.output import print_error
from kraftproof.report import write_reports
from kraftproof.run.mishaps import mishap_of
from kraftproof.run.runner import RunResult


def reported(result: RunResult, draw: Callable[[], str]) -> RunResult:
    """Write the reports with a diagram; after a crash the result has the exit code of a crash.

    Raises:
        OSError: a report can't be written to the disk.
    """
    try:
        write_reports(result.directory, result.check, draw())
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            raise
        kind, sentence = mishap_of(error, result.directory.path)
        print_error(f"kraftproof: the report can't be written: {sentence}")
        return replace(result, mishaps=(*result.mishaps, Mishap(kind=kind, sentence=sentence)))
    return result
