"""Ctrl-C and SIGTERM: each ends the command, wherever it meets it, with status 130.

Python loses an interrupt that meets a callback, and may end by the signal in place of the status
that it was to exit with. Not: what a command tidies up when it is interrupted (its own file).
"""

import ctypes
import signal
import sys
from threading import Timer, main_thread
from types import FrameType
from typing import NoReturn

from kraftproof.errors import INTERRUPTED_EXIT_CODE

AGAIN_S = 0.01
"""When an interrupt that was lost comes again: after the callback that lost it."""


_endings: list[str] = []
"""What an interrupted command has to say."""


def note(ending: str) -> None:
    """Keep what the command says of itself if it ends as interrupted."""
    _endings.append(ending)


def sentence() -> str:
    """Return the one line of a command that was interrupted."""
    return "; ".join(["interrupted", *_endings[-1:]])


def install() -> None:
    """Make every polite end of the process a KeyboardInterrupt of the main thread."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    sys.unraisablehook = _once_more


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Whoever ends the harness politely, a CI server's time limit for one, gets what Ctrl-C gets.

    So he does where Ctrl-C itself is ignored, as in what a script runs in the background.
    """
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


def _once_more(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupt again if the exception that Python ignored was one.

    That is what it does where one meets a `__del__` or the callback of an import's lock.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(AGAIN_S, signal.pthread_kill, (main_thread().ident, signal.SIGTERM)).start()
    else:
        sys.__unraisablehook__(lost)


def leave(status: int) -> NoReturn:
    """End Python with a status."""
    if status == INTERRUPTED_EXIT_CODE:
        # With -m Python ends itself by SIGINT, whatever the status, if Ctrl-C met an exec(), such
        # as an imported dataclass makes, though it was handled (CPython 3.11, pymain_run_python).
        ctypes.pythonapi.Py_Exit(status)
    sys.exit(status)
