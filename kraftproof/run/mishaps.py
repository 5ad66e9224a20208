"""Mishaps: errors that leave a run without a verdict and are no violation of the system.

A mishap has a kind and one line; a traceback goes into a file. See errors.py for the exit codes.
"""

import traceback
from collections.abc import Set
from pathlib import Path
from types import TracebackType

from kraftproof.checkers.crash import TRACEBACK_FILE, keep_text
from kraftproof.checkers.run_outcome import CONTAMINATED
from kraftproof.checkers.verdict import Verdict
from kraftproof.cluster.plugin import PluginError, described
from kraftproof.cluster.protocol import ClusterError, ContaminatedError
from kraftproof.errors import (
    CRASH_EXIT_CODE,
    DISK_ERRORS,
    INTERRUPTED_EXIT_CODE,
    OWN_MISTAKE,
    RunFileError,
)

CLUSTER = "cluster"
CRASH = "crash"
INTERRUPTED = "interrupted"
PLUGIN = "plugin"


PLUGIN_ERROR_FILE = TRACEBACK_FILE
CRASH_FILE = "crash.txt"


def mishap_of(error: Exception, directory: Path) -> tuple[str, str]:
    """Return the kind and the sentence of an error, and write the traceback into the directory."""
    if isinstance(error, ContaminatedError):
        return CONTAMINATED, f"contaminated: {error}"
    if isinstance(error, ClusterError):
        return CLUSTER, f"the cluster failed: {error}"
    if isinstance(error, PluginError):
        keep_traceback(error, directory / PLUGIN_ERROR_FILE)
        return PLUGIN, f"{error} (traceback: {PLUGIN_ERROR_FILE})"
    keep_traceback(error, directory / CRASH_FILE)
    sentence = f"{OWN_MISTAKE}: {described(error)} (traceback: {CRASH_FILE})"
    return CRASH, sentence


def exit_code_of(kinds: Set[str], verdict: Verdict) -> int:
    """Return the exit code of a run with mishaps of the given kinds."""
    if INTERRUPTED in kinds:
        return INTERRUPTED_EXIT_CODE
    return CRASH_EXIT_CODE if CRASH in kinds else verdict.exit_code


def keep_traceback(error: BaseException, path: Path) -> None:
    """Append the complete traceback to a file."""
    keep_text("".join(traceback.format_exception(error)), path)


class writing:  # noqa: N801 - read as a verb in a `with` statement
    """Turn a failed disk write inside the block into a RunFileError with a path.

    The path is the path of the error, or the given path if the error has no path.
    A class, since each line of a history enters a block, and a generator costs more.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raise the RunFileError for an error of the disk."""
        if not isinstance(error, OSError) or error.errno not in DISK_ERRORS:
            return
        named = self._path if error.filename is None else Path(str(error.filename))
        raise RunFileError(named, error) from error
