"""The command line `kraftproof`: runs the file of a command, and prints each error as one line.

Only the file of the given command is imported, so that help is quick and a mutant's
import hook comes before everything of the node. Exit codes: 0 valid, 1 invalid, 2 unknown, 3 a
mistake in the usage or the input, 70 a mistake in Kraftproof itself, 130 interrupted.
"""

import errno
import importlib
import os
import platform
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import typer

from kraftproof import interrupts, quick_start
from kraftproof.checkers.text import shortened
from kraftproof.cluster.plugin import HarnessError, described
from kraftproof.errors import (
    BROKEN_PIPE_EXIT_CODE,
    CRASH_EXIT_CODE,
    DISK_ERRORS,
    INTERRUPTED_EXIT_CODE,
    TRACEBACK_ABOVE,
    USAGE_EXIT_CODE,
    UsageError,
)
from kraftproof.option_values import refuse_empty, value_line
from kraftproof.output import print_error, print_line
from kraftproof.spelling import nearest

COMMANDS: Final = {
    "test": "Run a workload on a cluster under faults, and judge the recorded run.",
    "sim": "Run simulated clusters, one per seed, until an invariant or a model is violated.",
    "fuzz": "Send random and half-right frames to a cluster, and watch its nodes.",
    "shrink": "Reduce a failing run to the faults that cause the failure.",
    "replay": "Do a recorded run again, on other ground if asked; count how often it fails again.",
    "track-record": "Find known bugs of released systems, on the affected and a control version.",
    "nightly": "Test for a night: known bugs first, then new seeds and runs under faults.",
    "mutants": "Plant known bugs in the node, and report which bugs the simulation finds.",
    "mutate": "Make small edits of the node, and report which edits the simulation finds.",
    "check": "Check recorded histories and run directories.",
    "explain": "Explain an invalid history: in words, as JSON, as a picture.",
    "report": "Rewrite report.html, report.md and junit.xml of recorded runs.",
    "analyze": "Judge many runs on Spark: result tables and a summary page.",
    "generate": "Generate a history with a known verdict, to test a checker.",
    "list": "List backends, systems, workloads, faults and models, with installed plug-ins.",
    "up": "Start a cluster, print its bootstrap addresses, and keep the cluster up until Ctrl-C.",
    "heal": "Undo the faults of a run whose process died.",
    "sweep": "Remove processes, containers and networks of dead runs.",
}
FUNCTIONS: Final = {"test": "run_one", "mutants": "judge", "list": "list_names"}
"""Functions whose name differs from the command's name."""
HELP: Final = """Inject faults into a KRaft cluster, and prove from the answers of its
clients whether the cluster stayed correct.

Start with [bold]kraftproof test[/]: 3+3 local processes, kill -9 and pause, 30 s.

Exit codes: 0 valid, 1 invalid, 2 unknown, 3 wrong usage or input,
70 a bug in Kraftproof, 130 interrupted."""


def main() -> None:
    """Run the command line of this process, and exit."""
    try:
        quick_start.collect_seldom()
        interrupts.install()
        status = run(sys.argv[1:])
        interrupts.settle()
    except KeyboardInterrupt:  # also outside of the command
        interrupts.settle()
        status = INTERRUPTED_EXIT_CODE
    if status == INTERRUPTED_EXIT_CODE:  # no interrupt can come between the line and the exit
        print_error(f"kraftproof: {interrupts.sentence()}")
    interrupts.leave(_flushed(status))


def _flushed(status: int) -> int:
    """Flush standard output, and return the exit code."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _unwritten(error)
    except AttributeError:  # started without a standard output: Python has None there
        return status
    return status


def run(arguments: list[str]) -> int:
    """Run a command line and return the exit code."""
    chosen = next((one for one in arguments if not one.startswith("-")), None)
    if chosen is not None and chosen not in COMMANDS:
        print_error(
            f"kraftproof: unknown command {shortened(repr(chosen))}{nearest(chosen, COMMANDS)}: "
            f"one of {', '.join(COMMANDS)}"
        )
        return USAGE_EXIT_CODE
    try:
        status = _invoke(chosen, arguments)
    except KeyboardInterrupt:  # outside of the command; inside, typer returns a status
        status = INTERRUPTED_EXIT_CODE
    except SystemExit as error:  # raised by foreign code: its status must not pass for a verdict
        if isinstance(error.__context__, OSError):  # how rich and typer end at a broken pipe
            return _unwritten(error.__context__)
        print_error(f"kraftproof: a plug-in or a model ended the program, with status {error.code}")
        return USAGE_EXIT_CODE
    except BaseException as error:  # noqa: BLE001 - no exception may pass for a verdict
        status = _failed(error)
    return status


def _failed(error: BaseException) -> int:
    """Print the error that ended the command, and return the exit code."""
    # Python wraps an interrupt inside of __set_name__: the interrupt is then the cause.
    if isinstance(error.__cause__, KeyboardInterrupt) or interrupts.is_lost():
        return INTERRUPTED_EXIT_CODE
    expected = {*DISK_ERRORS, errno.EPIPE, errno.ENAMETOOLONG}
    if isinstance(error, OSError) and error.errno in expected:
        if error.filename is None:
            return _unwritten(error)
        print_error(f"kraftproof: {error.filename}: {error.strerror}")
        return USAGE_EXIT_CODE
    traceback.print_exception(error)
    where = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
    print_error(f"kraftproof: {where}{TRACEBACK_ABOVE}{described(error)}")
    return CRASH_EXIT_CODE


def _unwritten(error: OSError) -> int:
    """Discard standard output, and return the exit code; a closed pipe needs no message."""
    with suppress(OSError):  # a stand-in of a test has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return BROKEN_PIPE_EXIT_CODE
    print_error(f"kraftproof: the output can't be written: {error.strerror}")
    return USAGE_EXIT_CODE


def _invoke(chosen: str | None, arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print_line(_version())
        return 0
    command = typer.main.get_command(_application(chosen))
    try:
        refuse_empty(arguments)
        status = command.main(
            args=arguments or ["--help"], prog_name="kraftproof", standalone_mode=False
        )
    except (UsageError, ValueError) as error:
        if not _is_users_mistake(error):
            raise
        print_error(f"kraftproof: {error}")
        return USAGE_EXIT_CODE
    except Exception as error:
        line = _usage_line(error)
        if line is None:
            raise
        print_error(f"kraftproof: {line}")
        return USAGE_EXIT_CODE
    return status if isinstance(status, int) else 0


def _is_users_mistake(error: ValueError) -> bool:
    """Return whether an error is a user's mistake; the package of its class decides."""
    return isinstance(error, UsageError) or _room(error) in {
        "checkers",
        "cluster",
        "nemesis",
        "workloads",
        "mutants",
    }


def _room(error: Exception) -> str:
    """Return the kraftproof sub-package of an error's class; empty for other classes."""
    package, _, rest = type(error).__module__.partition(".")
    return rest.partition(".")[0] if package == "kraftproof" else ""


def _usage_line(error: Exception) -> str | None:
    """Return the line of an error of the command-line parser or a backend, otherwise None."""
    as_line = getattr(error, "format_message", None)
    refused = value_line(error)
    if refused is not None:
        return refused
    if as_line is not None:
        return " ".join(str(as_line()).split())
    is_ours = _room(error) == "cluster"
    if is_ours or isinstance(error, HarnessError):
        return str(error)
    return None


def _application(chosen: str | None) -> typer.Typer:
    application = typer.Typer(
        help=_help() if chosen is None else None,
        rich_markup_mode="rich",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, summary in COMMANDS.items():
        function = _function(name) if name == chosen else _stand_in
        application.command(name, help=None if name == chosen else summary)(function)
    return application


def _help() -> str:
    """Return the help of the command line, with the names of installed plug-ins."""
    from kraftproof.inventory import installed_names

    named = ", ".join(installed_names()) or "none"
    return f"{HELP}\n\nNames: `kraftproof list`. Installed plug-ins: {named}. `--version`."


def _version() -> str:
    from importlib.metadata import version

    return f"kraftproof {version('kraftproof')} (Python {platform.python_version()})"


def _function(name: str) -> Callable[..., Any]:
    module = importlib.import_module(f"kraftproof.commands.{name.replace('-', '_')}")
    function: Callable[..., Any] = getattr(module, FUNCTIONS.get(name, name.replace("-", "_")))
    return function


def _stand_in() -> None:
    """Take the place of a command in the list of commands, when another command is invoked."""
    raise AssertionError("only the given command is invoked")


if __name__ == "__main__":
    main()
