"""Judge a run that has just ended; if a model fails, the run is unknown, and has a report.

The package `checkers` reaches the verdict. An error of a model is reported like an error of any
plug-in: as one line, with the traceback in a file of the run directory.
"""

from collections.abc import Callable

import msgspec

from kraftproof.checkers import Engine, Report, check_run
from kraftproof.checkers.crash import ModelCrashError, keep_text, traceback_of
from kraftproof.checkers.verdict import CheckerInputError, KeyVerdict, RunVerdict, Verdict
from kraftproof.cluster.plugin import HarnessError
from kraftproof.run.directory import RunDirectory
from kraftproof.run.mishaps import PLUGIN_ERROR_FILE, mishap_of, writing
from kraftproof.run.outcome import add_mishap

Note = Callable[[str, str], None]
"""Function that records the kind and the sentence of a mishap."""


def judge_run(
    directory: RunDirectory, model: str, engine: str, report: Report, note: Note
) -> RunVerdict:
    """Return the verdict on a run directory; a crash of a checker is noted and gives unknown.

    Raises:
        RunFileError: a table can't be written, for example on a full disk.
    """
    try:
        with writing(directory.path):
            chosen: Engine = "spark" if engine == "spark" else "inline"
            check = check_run(directory.path, chosen, report=report)
    except CheckerInputError as error:
        kept = error.traceback if isinstance(error, ModelCrashError) else ""
        keep_text(kept or traceback_of(error), directory.path / PLUGIN_ERROR_FILE)
        reason = f"model {model!r} can't judge the run: {error}"
        if isinstance(error, ModelCrashError):
            reason = str(error)
        return _unknown(directory, model, f"{reason} (traceback: {PLUGIN_ERROR_FILE})")
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001 - ours; the run has a report all the same
        kind, sentence = mishap_of(error, directory.path)
        note(kind, sentence)
        add_mishap(directory.path, kind, sentence)
        return _unknown(directory, model, sentence)
    crashed = [key for key in check.keys if key.crashed]
    return _with_traceback(directory, check, crashed) if crashed else check


def _unknown(directory: RunDirectory, model: str, reason: str) -> RunVerdict:
    return RunVerdict(
        history=str(directory.path),
        model=model,
        verdict=Verdict.UNKNOWN,
        seconds=0.0,
        operations=0,
        notes=(reason,),
    )


def _with_traceback(
    directory: RunDirectory, check: RunVerdict, crashed: list[KeyVerdict]
) -> RunVerdict:
    """Write the first traceback to a file, and replace the notes of all crashed keys by one."""
    first = crashed[0]
    where = f"key {first.key}"
    if len(crashed) > 1:
        where += f" and {len(crashed) - 1} more keys"
    if first.traceback:
        keep_text(first.traceback, directory.path / PLUGIN_ERROR_FILE)
    traceback = f" (traceback: {PLUGIN_ERROR_FILE})" if first.traceback else ""
    crashes = {f"key {key.key}: {key.reason}" for key in crashed}
    notes = [f"{where}: {first.reason}{traceback}", *(n for n in check.notes if n not in crashes)]
    return msgspec.structs.replace(check, notes=tuple(notes))
