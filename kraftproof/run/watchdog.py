"""Ends a call of a plug-in that keeps everything else of a run from going on.

A coroutine that sleeps with `time.sleep`, or computes for ever, blocks the event loop, so that no
time limit can end the coroutine. A thread watches a value that changes while the run goes on. Where
the value has not changed for a while, and the main thread stands in a plug-in's code, the thread
interrupts that code with an error, which `blamed` makes the plug-in's mistake.
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
"""How long a plug-in may keep a run from going on."""
TICKS = 60
"""Looks of the thread within the limit. Looks are counted in place of time, so that a suspended or
overloaded machine, on which the thread does not run either, makes nobody late."""
SIGNAL = signal.SIGUSR2
"""Interrupts a system call of the main thread, such as a sleep."""
OURS = frozenset({"kraftproof"})
LIBRARIES = frozenset({"docker", "immutables", "kafka", "msgspec", "requests", "rich", "urllib3"})
"""What our code calls during a run, besides the standard library."""
BACKENDS = "kraftproof.run.backends"
"""The module that drives every run: what called the module is no part of the run."""


@contextmanager
def watchdog(progress: Callable[[], object], limit_s: float) -> Iterator[None]:
    """Interrupt a plug-in's code inside the block that keeps `progress` from changing.

    Outside of the main thread nothing is watched, as no signal reaches other threads.
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
    """One run and the last time that the run went on."""

    def __init__(self, progress: Callable[[], object], limit_s: float) -> None:
        self.ended = threading.Event()
        self._progress = progress
        self._limit_s = limit_s
        self._seen = progress()
        self._idle_ticks = 0
        self._main = threading.main_thread().ident

    def watch(self) -> None:
        """Look now and then, and interrupt the main thread again at each look once it is late."""
        while not self.ended.wait(self._limit_s / TICKS):
            seen = self._progress()
            self._idle_ticks = self._idle_ticks + 1 if seen == self._seen else 0
            self._seen = seen
            if self._is_late() and self._main is not None:
                signal.pthread_kill(self._main, SIGNAL)

    def _is_late(self) -> bool:
        return self._idle_ticks >= TICKS and not self.ended.is_set()

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raise an error in the main thread if that thread stands in a plug-in's code."""
        del number
        place = plugin_line(frame)
        if place is not None and self._is_late() and self._progress() == self._seen:
            raise BlockedError(f"blocked the run for {self._limit_s:g} s at {place}")


def plugin_line(frame: FrameType | None) -> str | None:
    """Return the file, the number and the text of the innermost line of a plug-in; None if none."""
    while frame is not None and frame.f_globals.get("__name__") != BACKENDS:
        if _is_plugin(str(frame.f_globals.get("__name__"))):
            path, line = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(path, line).strip()
            return f"{path}:{line}" + (f": {text}" if text else "")
        frame = frame.f_back
    return None


def _is_plugin(module: str) -> bool:
    package = module.partition(".")[0]
    return package not in OURS | LIBRARIES and package not in sys.stdlib_module_names
