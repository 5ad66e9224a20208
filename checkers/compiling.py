"""Processor time without that of compiling kernels, which comes once on a machine.

Else what is the first to need a kernel would have no time left for its own work.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_own = threading.local()


@contextmanager
def compiling() -> Iterator[None]:
    """Leaves out what this thread does in the meantime; one in another counts once."""
    if getattr(_own, "is_compiling", False):
        yield
        return
    begun, _own.is_compiling = time.thread_time(), True
    try:
        yield
    finally:
        _own.is_compiling = False
        _own.seconds = _compiled() + time.thread_time() - begun


def thread_seconds() -> float:
    """Returns the processor time of this thread in seconds, but for what it compiled."""
    return time.thread_time() - _compiled()


def _compiled() -> float:
    seconds: float = getattr(_own, "seconds", 0.0)
    return seconds
