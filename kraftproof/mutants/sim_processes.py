"""Processes for searches, of `kraftproof sim` or of a function; any thread can stop them.

A fork server imports the libraries once, and forks a process for each search. The server imports
no module of the node, so that a mutant's import hook still comes before the node.
"""

import json
import multiprocessing
import os
import resource
import runpy
import sys
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from signal import SIGALRM, SIGKILL, SIGXCPU, alarm
from threading import Event, RLock
from typing import Any, Final

from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.errors import CRASH_EXIT_CODE, INTERRUPTED_EXIT_CODE, TRACEBACK_ABOVE
from kraftproof.quick_start import collect_seldom

STDOUT, STDERR = "stdout", "stderr"
WAITING: Final = 5
"""Seconds of the clock that a called function may take for each CPU second of its limit."""
HUNG: Final = (SIGKILL, SIGXCPU, SIGALRM)
PRELOADED: Final = (
    *("kraftproof.cli", "kraftproof.commands.sim", "kraftproof.mutants.catalogue"),
    *("kraftproof.checkers.checking", "kraftproof.report"),
)
"""Modules that a search needs and that import nothing of the node."""


class SearchFailedError(RuntimeError):
    """A search process ended without a result; the message is its last line."""


class SearchStoppedError(SearchFailedError):
    """A search was stopped early, by `stop` or by Ctrl-C."""


class SearchHungError(SearchFailedError):
    """A search process used more CPU time than its hard limit allows."""


class SearchCrashedError(SearchFailedError):
    """Code outside of the node failed in a search process; the message names the exception.

    The clients of a run share the wire code with the node, and the code may have the edit.
    """


class SimProcesses:
    """Runs processes of `kraftproof sim` from any number of threads."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(PRELOADED))
        self._children: set[ForkServerProcess] = set()
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
            SearchCrashedError: code outside of the node failed.
            SearchFailedError: the process failed.
        """
        with temporary_directory("kraftproof-mutants-") as store:
            command = ["sim", "--json", "--store", str(store), *arguments]
            return self._result(_sim, command, store, subject, limit_s)

    def call(
        self,
        function: Callable[[Any], dict[str, Any]],
        argument: object,
        subject: str,
        limit_s: int,
    ) -> dict[str, Any]:
        """Call a function in a new process, and return the object that the function returns.

        Raises:
            SearchStoppedError: the process was stopped early.
            SearchHungError: the process used more time than the limit.
            SearchCrashedError: code outside of the node failed.
            SearchFailedError: the process failed.
        """
        with temporary_directory("kraftproof-mutants-") as store:
            return self._result(_call, (function, argument, limit_s), store, subject, limit_s)

    def _result(
        self, work: Callable[[Any], None], given: object, store: Path, subject: str, limit_s: int
    ) -> dict[str, Any]:
        """Return the object of the last line that the work prints in a new process."""
        status = self._run(work, given, store, limit_s)
        output = (store / STDOUT).read_text(encoding="utf-8")
        errors = (store / STDERR).read_text(encoding="utf-8")
        if limit_s and -status in HUNG:
            raise SearchHungError(f"{subject}: no end after {limit_s} CPU seconds")
        last = (output.strip() or " ").splitlines()[-1]
        if not last.startswith("{"):  # the exit status of a traceback equals that of a violation
            reason = (errors.strip() or "it said nothing").splitlines()[-1]
            if status == CRASH_EXIT_CODE:
                raise SearchCrashedError(reason.rpartition(TRACEBACK_ABOVE)[2])
            raise SearchFailedError(f"{subject}: exit status {status}: {reason}")
        found: dict[str, Any] = json.loads(last)
        return found

    def _run(self, work: Callable[[Any], None], given: object, store: Path, limit_s: int) -> int:
        """Do work in a forked process, and return its exit status or negative signal."""
        for name in (STDOUT, STDERR):
            (store / name).touch()
        with self._lock:
            if self._stopped.is_set():
                raise SearchStoppedError("stopped")
            child = self._context.Process(target=_begin, args=(work, given, store, limit_s))
            child.start()
            self._children.add(child)
        child.join()
        with self._lock:
            self._children.discard(child)
            if self._stopped.is_set() or child.exitcode == INTERRUPTED_EXIT_CODE:
                raise SearchStoppedError("stopped")
        assert child.exitcode is not None, "a joined process has ended"
        return child.exitcode


def _begin(work: Callable[[Any], None], given: object, store: Path, limit_s: int) -> None:
    """Do work in this process; the output goes to files."""
    try:
        for descriptor, name in ((1, STDOUT), (2, STDERR)):
            file = os.open(store / name, os.O_WRONLY)
            os.dup2(file, descriptor)
            os.close(file)
    except FileNotFoundError:  # Ctrl-C came in `start`, and the parent has removed the folder
        sys.exit(INTERRUPTED_EXIT_CODE)
    if limit_s:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
    work(given)


def _sim(command: Sequence[str]) -> None:
    """Run a command line in this process."""
    sys.argv = ["kraftproof", *command]
    runpy.run_module("kraftproof", run_name="__main__", alter_sys=True)


def _call(given: tuple[Callable[[Any], dict[str, Any]], object, int]) -> None:
    """Call a function in this process, and print what the function returns."""
    function, argument, limit_s = given
    collect_seldom()
    alarm(limit_s * WAITING)  # a function that waits for ever uses no CPU time
    sys.stdout.write(json.dumps(function(argument)) + "\n")
