"""Processes of `kraftproof sim`, each for a search; any thread can stop the processes."""

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from signal import SIGKILL, SIGXCPU
from threading import Event, RLock
from typing import Any

from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.errors import INTERRUPTED_EXIT_CODE


class SearchFailedError(RuntimeError):
    """A search process ended without a result; the message is its last line."""


class SearchStoppedError(SearchFailedError):
    """A search was stopped early, by `stop` or by Ctrl-C."""


class SearchHungError(SearchFailedError):
    """A search process used more CPU time than its hard limit allows."""


class SimProcesses:
    """Runs processes of `kraftproof sim` from any number of threads."""

    def __init__(self) -> None:
        self._children: set[subprocess.Popen[str]] = set()
        self._lock = RLock()  # re-entrant: a handler of Ctrl-C may call `stop` inside of `stop`
        self._stopped = Event()

    def stop(self) -> None:
        """Stop all running processes, and start no further process."""
        with self._lock:
            self._stopped.set()
            for child in self._children:
                child.terminate()

    def run(self, arguments: Sequence[str], subject: str, limit_s: int = 0) -> dict[str, Any]:
        """Run `kraftproof sim` with arguments, and return the object of its last line.

        `subject` begins the message of a failure. A limit above 0 is the largest CPU time of the
        process, in seconds.

        Raises:
            SearchStoppedError: the process was stopped early.
            SearchHungError: the process used more CPU time than the limit.
            SearchFailedError: the process failed.
        """
        with temporary_directory("kraftproof-mutants-") as store:
            command = [sys.executable, "-m", "kraftproof", "sim", "--json", "--store", str(store)]
            output, errors, status = self._run([*command, *arguments], limit_s)
        if limit_s and -status in {SIGKILL, SIGXCPU}:
            raise SearchHungError(f"{subject}: no end after {limit_s} CPU seconds")
        last = (output.strip() or " ").splitlines()[-1]
        if not last.startswith("{"):  # the exit status of a traceback equals that of a violation
            reason = (errors.strip() or "it said nothing").splitlines()[-1]
            raise SearchFailedError(f"{subject}: exit status {status}: {reason}")
        found: dict[str, Any] = json.loads(last)
        return found

    def _run(self, command: Sequence[str], limit_s: int) -> tuple[str, str, int]:
        with self._lock:
            if self._stopped.is_set():
                raise SearchStoppedError("stopped")
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            self._children.add(child)
        if limit_s:
            resource.prlimit(child.pid, resource.RLIMIT_CPU, (limit_s, limit_s + 1))
        output, errors = child.communicate()
        with self._lock:
            self._children.discard(child)
            if self._stopped.is_set() or child.returncode == INTERRUPTED_EXIT_CODE:
                raise SearchStoppedError("stopped")
        return output, errors, child.returncode
