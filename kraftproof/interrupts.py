"""Make Ctrl-C and SIGTERM end a command at any point with status 130.

Python loses an interrupt that arrives in a callback, and may die by the signal instead of exiting
with the status. This module repeats lost interrupts. Each command cleans up in its own file.
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
"""Delay before a lost interrupt is repeated, in seconds; longer than a callback."""
PROBE_S = 5.0
"""Time from an interrupt to the check whether the interrupt was lost, in seconds."""
PROBE = signal.SIGUSR1
"""Asks the main thread whether the interrupt is being handled; a signal of its own, so that a
question which comes late is never taken for another interrupt."""


RECEIVED_S = 0.5
"""Time in which an interrupt of the moment is noticed, in seconds."""
_settled = Event()
_received = Event()
"""Set by the first interrupt."""
_again: list[Timer] = []
"""Timers of lost interrupts that are not repeated yet."""
_endings: list[str] = []
"""Texts that commands add to the line `interrupted`; the last text counts."""


def note(ending: str) -> None:
    """Set the text that follows `interrupted` if the command is interrupted."""
    _endings.append(ending)


def sentence() -> str:
    """Return the line of an interrupted command."""
    return "; ".join(["interrupted", *_endings[-1:]])


def install() -> None:
    """Turn SIGINT and SIGTERM into a KeyboardInterrupt of the main thread, and watch for losses."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    signal.signal(PROBE, _interrupt_if_lost)
    sys.unraisablehook = _once_more
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    # Child processes must not write their signals into the pipe of this process.
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
    Thread(target=_look_for_lost, args=(reader,), daemon=True).start()


def settle() -> None:
    """End the time of interrupts: the command is over, and its exit status stands."""
    _settled.set()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _look_for_lost(reader: int) -> None:
    """Check after each signal whether the interrupt was lost, until the command has ended.

    An interrupt is lost silently in C code that clears errors, and in Python code that catches the
    error which replaced the interrupt.
    """
    while True:
        numbers = os.read(reader, 1)
        if numbers[0] in {signal.SIGINT, signal.SIGTERM}:
            _received.set()
        while numbers[0] in {signal.SIGINT, signal.SIGTERM} and not _settled.wait(PROBE_S):
            signal.pthread_kill(main_thread().ident or 0, PROBE)


def _is_being_handled() -> bool:
    """Return whether the main thread handles an interrupt, or asyncio has its own handler."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    is_asyncios = signal.getsignal(signal.SIGINT) not in {
        signal.default_int_handler,
        signal.SIG_IGN,
    }
    return error is not None or is_asyncios or _settled.is_set()


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM, for example of a CI server's time limit, like Ctrl-C.

    The command also ends if Ctrl-C itself is ignored, as in the background jobs of a script.
    """
    _again.clear()
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


def _interrupt_if_lost(number: int, frame: FrameType | None) -> None:
    """Interrupt again unless the first interrupt is being handled."""
    if not _is_being_handled():
        _as_ctrl_c(number, frame)


def _once_more(lost: "sys.UnraisableHookArgs") -> None:
    """Repeat the interrupt if the ignored exception was an interrupt.

    Python ignores an exception in `__del__` and in the callback of an import lock.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        again = Timer(AGAIN_S, signal.pthread_kill, (main_thread().ident, signal.SIGTERM))
        _again.append(again)
        again.start()
    else:
        sys.__unraisablehook__(lost)


def is_received() -> bool:
    """Return whether an interrupt has arrived, also if another error has taken its place.

    PySpark handles an interrupt by a call of Java, and loses the interrupt if the call fails.
    """
    return _received.wait(RECEIVED_S)


def is_lost() -> bool:
    """Return whether a lost interrupt waits for its repetition, and cancel the repetition.

    A library may fail because an interrupt ended its callback, as numba does after an interrupt of
    its compiler. The error of the library is then no bug of Kraftproof.
    """
    for again in _again:
        again.cancel()
    return bool(_again)


def leave(status: int) -> NoReturn:
    """Exit the process with a status."""
    if status == INTERRUPTED_EXIT_CODE:
        # With -m, Python kills itself by SIGINT if Ctrl-C arrived inside of exec(), even after the
        # interrupt was handled; dataclasses use exec() (CPython 3.11, pymain_run_python).
        ctypes.pythonapi.Py_Exit(status)
    sys.exit(status)
