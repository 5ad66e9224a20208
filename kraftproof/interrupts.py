"""Ctrl-C and SIGTERM: each ends the command, wherever it meets it, with status 130.

Python loses an interrupt that meets a callback, and may end by the signal in place of the status
that it was to exit with. Not: what a command tidies up when it is interrupted (its own file).
"""

import ctypes
import os
import signal
import sys
from threading import Event, Thread, Timer, main_thread
from types import FrameType
from typing import NoReturn

from kraftproof.errors import INTERRUPTED_EXIT_CODE

AGAIN_S = 0.01
"""When an interrupt that was lost comes again: after the callback that lost it."""
PROBE_S = 5.0
"""Time in which an interrupt has to end the command, before the main thread is asked about it."""
PROBE = signal.SIGUSR1
"""Asks the main thread whether the interrupt is being handled; a signal of its own, so that a
question which comes late is never taken for another interrupt."""


_settled = Event()
_again: list[Timer] = []
"""An interrupt that was lost and has not come again yet."""
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
    signal.signal(PROBE, _interrupt_if_lost)
    sys.unraisablehook = _once_more
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))  # ours alone are told of
    Thread(target=_look_for_lost, args=(reader,), daemon=True).start()


def settle() -> None:
    """Take the interrupt as dealt with: what follows is the command's end."""
    _settled.set()


def _look_for_lost(reader: int) -> None:
    """Look again and again where an interrupt went, until the command has ended.

    C code that clears errors, and Python code that catches an error which an interrupt became, lose
    an interrupt without a word.
    """
    while True:
        numbers = os.read(reader, 1)
        while numbers[0] in {signal.SIGINT, signal.SIGTERM} and not _settled.wait(PROBE_S):
            signal.pthread_kill(main_thread().ident or 0, PROBE)


def _is_being_handled() -> bool:
    """Whether the main thread is tidying up after an interrupt, or asyncio has taken one over."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    is_asyncios = signal.getsignal(signal.SIGINT) not in {
        signal.default_int_handler,
        signal.SIG_IGN,
    }
    return error is not None or is_asyncios or _settled.is_set()


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Whoever ends the harness politely, a CI server's time limit for one, gets what Ctrl-C gets.

    So he does where Ctrl-C itself is ignored, as in what a script runs in the background.
    """
    _again.clear()
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


def _interrupt_if_lost(number: int, frame: FrameType | None) -> None:
    """Interrupt again unless the first interrupt is being handled."""
    if not _is_being_handled():
        _as_ctrl_c(number, frame)


def _once_more(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupt again if the exception that Python ignored was one.

    That is what it does where one meets a `__del__` or the callback of an import's lock.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        again = Timer(AGAIN_S, signal.pthread_kill, (main_thread().ident, signal.SIGTERM))
        _again.append(again)
        again.start()
    else:
        sys.__unraisablehook__(lost)


def is_lost() -> bool:
    """Whether Python has lost an interrupt that has not come again; the interrupt is taken then.

    A library whose callback lost the interrupt may fail for want of what the callback was to do,
    as numba does after one that met the compiler: such an error is no crash of ours.
    """
    for again in _again:
        again.cancel()
    return bool(_again)


def leave(status: int) -> NoReturn:
    """End Python with a status."""
    if status == INTERRUPTED_EXIT_CODE:
        # With -m Python ends itself by SIGINT, whatever the status, if Ctrl-C met an exec(), such
        # as an imported dataclass makes, though it was handled (CPython 3.11, pymain_run_python).
        ctypes.pythonapi.Py_Exit(status)
    sys.exit(status)
