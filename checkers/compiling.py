"""Processor time without that of compiling kernels, which comes once on a machine.

Else what is the first to need a kernel would have no time left for its own work. Whoever has a
reader for progress hears once that compiling takes long; loading kept code is too quick for that.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

LONG_SECONDS: Final = 1.0
"""Seconds of compiling one kernel, after which a progress line reports the compilation."""
LINE: Final = (
    "compiling the engine for this kind of history: once on a machine, it may take a minute"
)

_own = threading.local()
_reports: Final[list[Callable[[str], None]]] = []


def report_compiling(report: Callable[[str], None]) -> None:
    """Have a line reported, once in this process, when compiling kernels takes long."""
    _reports[:] = [report]


@contextmanager
def compiling() -> Iterator[None]:
    """Exclude the time of this thread in the block; nested blocks count once."""
    if getattr(_own, "is_compiling", False):
        yield
        return
    begun, _own.is_compiling = time.thread_time(), True
    timer = threading.Timer(LONG_SECONDS, _report) if _reports else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        _own.is_compiling = False
        _own.seconds = _compiled() + time.thread_time() - begun


def _report() -> None:
    with suppress(IndexError):  # another thread has reported
        _reports.pop()(LINE)


def thread_seconds() -> float:
    """Return the CPU time of this thread in seconds, without compilation."""
    return time.thread_time() - _compiled()


def _compiled() -> float:
    seconds: float = getattr(_own, "seconds", 0.0)
    return seconds
