"""The command `kraftproof`: finds the command's file, runs it, and turns mistakes into one line.

Only the file of the command that was asked for is imported, so that help is quick and a mutant's
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
    OWN_MISTAKE,
    USAGE_EXIT_CODE,
    UsageError,
)
from kraftproof.output import complain, say

COMMANDS: Final = {
    "test": "Run a workload against a cluster under faults, and judge what it did.",
    "sim": "Search seeds in simulation until an invariant or a model is violated.",
    "shrink": "Cut a failing run in simulation down to what it takes, as a schedule file.",
    "mutants": "Plant real bugs in the node one by one, and see if the simulation finds them.",
    "check": "Check recorded histories and run directories again.",
    "explain": "Say why a history is invalid: in words, as JSON, as a picture.",
    "report": "Write the pages of runs again: report.html, report.md and junit.xml.",
    "analyze": "Judge any number of runs on Spark: tables and one page on how they fared.",
    "generate": "Make a history whose verdict is known, to prove a checker with.",
    "list": "List backends, systems, workloads, faults and models, installed ones too.",
    "up": "Bring a cluster up and print its bootstrap addresses until Ctrl-C.",
    "heal": "Undo the faults of a run whose harness is dead.",
    "sweep": "Remove what dead harnesses left on this machine.",
}
FUNCTIONS: Final = {"test": "run_one", "mutants": "judge", "list": "list_names"}
"""Where a command's function has another name than the command."""
HELP: Final = """Break a KRaft cluster on purpose, and prove from what its clients saw
whether it kept its promises.

Start with: [bold]kraftproof test[/] (3+3 local processes, kill -9 and pause, 30 s). Exit codes:
0 valid, 1 invalid, 2 unknown, 3 a mistake in the usage or the input, 70 a mistake in
Kraftproof itself, 130 interrupted."""


def main() -> None:
    """Entry point of the command."""
    try:
        quick_start.collect_seldom()
        interrupts.install()
        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command, or while a mistake was told
        complain(f"kraftproof: {interrupts.sentence()}")
        status = INTERRUPTED_EXIT_CODE
    interrupts.settle()
    interrupts.leave(_flushed(status))


def _flushed(status: int) -> int:
    """Write what is left of the output, and return the exit code."""
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
        complain(
            f"kraftproof: unknown command {shortened(repr(chosen))}: one of {', '.join(COMMANDS)}"
        )
        return USAGE_EXIT_CODE
    try:
        status = _invoke(chosen, arguments)
    except KeyboardInterrupt:  # outside of the command; typer makes a status of one within
        status = INTERRUPTED_EXIT_CODE
    except SystemExit as error:  # none of ours; it must not pass for a verdict
        if isinstance(error.__context__, OSError):  # how rich and typer end at a broken pipe
            return _unwritten(error.__context__)
        complain(f"kraftproof: a plug-in or a model ended the program, with status {error.code}")
        return USAGE_EXIT_CODE
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not pass for a verdict
        status = _failed(error)
    if status == INTERRUPTED_EXIT_CODE:
        complain(f"kraftproof: {interrupts.sentence()}")
    return status


def _failed(error: Exception) -> int:
    """Say what ended the command, and return the exit code."""
    # A cause is one that met a __set_name__.
    if isinstance(error.__cause__, KeyboardInterrupt) or interrupts.is_lost():
        return INTERRUPTED_EXIT_CODE
    told = {*DISK_ERRORS, errno.EPIPE, errno.ENAMETOOLONG}
    if isinstance(error, OSError) and error.errno in told:
        if error.filename is None:
            return _unwritten(error)
        complain(f"kraftproof: {error.filename}: {error.strerror}")
        return USAGE_EXIT_CODE
    traceback.print_exception(error)
    where = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
    complain(f"kraftproof: {where}{OWN_MISTAKE}, with the traceback above: {described(error)}")
    return CRASH_EXIT_CODE


def _unwritten(error: OSError) -> int:
    """Give up standard output, and return the exit code; who closed a pipe need not be told."""
    with suppress(OSError):  # a stand-in of a test has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return BROKEN_PIPE_EXIT_CODE
    complain(f"kraftproof: the output can't be written: {error.strerror}")
    return USAGE_EXIT_CODE


def _invoke(chosen: str | None, arguments: list[str]) -> int:
    if arguments == ["--version"]:
        say(_version())
        return 0
    command = typer.main.get_command(_application(chosen))
    try:
        status = command.main(
            args=arguments or ["--help"], prog_name="kraftproof", standalone_mode=False
        )
    except (UsageError, ValueError) as error:
        if not _is_users_mistake(error):
            raise
        complain(f"kraftproof: {error}")
        return USAGE_EXIT_CODE
    except Exception as error:
        line = _usage_line(error)
        if line is None:
            raise
        complain(f"kraftproof: {line}")
        return USAGE_EXIT_CODE
    return status if isinstance(status, int) else 0


def _is_users_mistake(error: ValueError) -> bool:
    """Whether an error's text is one line for the user: all such classes of ours say so by type."""
    return isinstance(error, UsageError) or _room(error) in {
        "checkers",
        "cluster",
        "nemesis",
        "workloads",
        "mutants",
    }


def _room(error: Exception) -> str:
    """Return the sub-package of ours in which an error's class stands; empty if in none."""
    package, _, rest = type(error).__module__.partition(".")
    return rest.partition(".")[0] if package == "kraftproof" else ""


def _usage_line(error: Exception) -> str | None:
    """The one line of an error of the command-line parser or of a backend; None for any other."""
    as_line = getattr(error, "format_message", None)
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
    """Return the help of the command, with the plug-ins that other packages bring."""
    from kraftproof.inventory import installed_names

    named = ", ".join(installed_names()) or "none"
    return f"{HELP}\n\nNames: `kraftproof list`. Installed plug-ins: {named}. `--version`."


def _version() -> str:
    from importlib.metadata import version

    return f"kraftproof {version('kraftproof')} (Python {platform.python_version()})"


def _function(name: str) -> Callable[..., Any]:
    module = importlib.import_module(f"kraftproof.commands.{name}")
    function: Callable[..., Any] = getattr(module, FUNCTIONS.get(name, name))
    return function


def _stand_in() -> None:
    """Stands in the list for a command that was not asked for."""
    raise AssertionError("only the command that was asked for is invoked")


if __name__ == "__main__":
    main()
