"""End a call of a plug-in that blocks the run.

A coroutine that calls `time.sleep` or computes forever blocks the event loop, so no time limit of
the loop can end the coroutine. A thread watches a value that changes while the run makes progress.
If the value stays the same for LIMIT_S and the main thread is in a plug-in's code, the thread
interrupts the code with an error, and `blamed` attributes the error to the plug-in.
"""

import linecache
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from kraftproof.cluster.plugin import BlockedError

LIMIT_S = 60.0
"""Time limit for a call of a plug-in that blocks the run, in seconds."""
TICKS = 60
"""Checks of the thread within the limit. The thread counts checks instead of time, since the thread
itself pauses on a suspended or overloaded machine, so that no plug-in is late there."""
SIGNAL = signal.SIGUSR2
"""Signal that interrupts a system call of the main thread, such as a sleep."""
OURS = frozenset({"kraftproof"})
LIBRARIES = frozenset(
    {"docker", "immutables", "kafka", "msgspec", "paramiko", "requests", "rich", "urllib3"}
)
"""Packages that Kraftproof itself calls during a run, besides the standard library."""
BACKENDS = frozenset({"kraftproof.run.backends", "kraftproof.run.live.backends"})
"""Modules that drive every run; the callers of the modules are not part of the run."""


@contextmanager
def watchdog(progress: Callable[[], object], limit_s: float) -> Iterator[None]:
    """Interrupt a plug-in's code inside of the block if `progress` stays the same for too long.

    Outside of the main thread nothing is watched, since signals reach only the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watched = _Watched(progress, limit_s)
    thread = threading.Thread(target=watched.watch, name="watchdog", daemon=True)
    previous = signal.signal(SIGNAL, watched.interrupt)
    thread.start()
    try:
        yield
    finally:
        watched.ended.set()
        thread.join()
        signal.signal(SIGNAL, signal.SIG_DFL if previous is None else previous)


class _Watched:
    """A run and the time of its last progress."""

    def __init__(self, progress: Callable[[], object], limit_s: float) -> None:
        self.ended = threading.Event()
        self._progress = progress
        self._limit_s = limit_s
        self._seen = progress()
        self._idle_ticks = 0
        self._main = threading.main_thread().ident

    def watch(self) -> None:
        """Check the progress repeatedly, and interrupt the main thread at each check once late."""
        while not self.ended.wait(self._limit_s / TICKS):
            seen = self._progress()
            self._idle_ticks = self._idle_ticks + 1 if seen == self._seen else 0
            self._seen = seen
            if self._is_late() and self._main is not None:
                signal.pthread_kill(self._main, SIGNAL)

    def _is_late(self) -> bool:
        return self._idle_ticks >= TICKS and not self.ended.is_set()

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise an error in the main thread if the thread is in a plug-in's code."""
        del number
        place = plugin_line(frame)
        if place is not None and self._is_late() and self._progress() == self._seen:
            raise BlockedError(f"blocked the run for {self._limit_s:g} s at {place}")


def plugin_line(frame: FrameType | None) -> str | None:
    """Return the file, the number and the text of the innermost line of a plug-in, or None."""
    while frame is not None and frame.f_globals.get("__name__") not in BACKENDS:
        if _is_plugin(str(frame.f_globals.get("__name__"))):
            path, line = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(path, line).strip()
            return f"{path}:{line}" + (f": {text}" if text else "")
        frame = frame.f_back
    return None


def _is_plugin(module: str) -> bool:
    package = module.partition(".")[0]
    return package not in OURS | LIBRARIES and package not in sys.stdlib_module_names
