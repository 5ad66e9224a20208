"""Runs an engine uncompiled first, for as long as plain Python is quicker than a compilation.

The kernels of an engine are Python, and the same source gives the same answer either way, only some
fifty times slower. The first compilation on a machine lasts ten seconds or more. So an engine is
asked uncompiled first about a short history, and asked again, compiled, if it used up its processor
time. The clock decides only how the answer comes about: an uncompiled answer that the engine's own
time limit may have cut short is not used.

A process that has asked one engine uncompiled for as long as a compilation lasts asks the compiled
engine from then on.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import numpy as np

QUESTION_SECONDS: Final = 1.0
"""Processor seconds that an engine may take uncompiled for one question."""
PROCESS_SECONDS: Final = 10.0
"""Processor seconds that a process may ask one engine uncompiled: about what compiling costs."""
SHORT: Final = 5_000
"""Calls, up to which an engine is asked uncompiled."""
_LIMIT_SHARE: Final = 0.1
"""Share of the engine's own time limit, past which an answer may be owed to the clock."""
_STRIDE: Final = 32
"""Calls of kernels between two looks at the clock."""

_spent: Final[defaultdict[str, float]] = defaultdict(float)
"""Processor seconds that this process has asked each engine uncompiled."""

T = TypeVar("T")


class SpentError(Exception):
    """The processor time of an uncompiled engine is used up."""


class Budget:
    """The processor time that is left to an uncompiled engine in this thread."""

    def __init__(self, seconds: float) -> None:
        """Begin to count."""
        self._end = time.thread_time() + seconds
        self._calls = 0

    def spend(self) -> None:
        """Count one call of a kernel.

        Raises:
            SpentError: the time is used up.
        """
        self._calls += 1
        if self._calls % _STRIDE == 0 and time.thread_time() > self._end:
            raise SpentError


class _Own(threading.local):
    """The state of one thread."""

    budget: Budget | None = None


own: Final = _Own()
"""Its budget is None where kernels run compiled."""


def uncompiled_first(
    engine: str,
    size: int,
    limit_seconds: float,
    ask: Callable[[], T],
    is_decided: Callable[[T], bool],
) -> T:
    """Return an engine's answer, from a run without compiled code if that suffices.

    Args:
        engine: the name under which the process adds up seconds.
        size: the number of calls that the engine is asked about.
        limit_seconds: the engine's own time limit.
        ask: asks the engine; the same answer each time, but for the clock.
        is_decided: says whether more time would not change an answer.
    """
    if size > SHORT or _spent[engine] >= PROCESS_SECONDS or own.budget is not None:
        return ask()
    started, begun = time.monotonic(), time.thread_time()
    try:
        with uncompiled(QUESTION_SECONDS):
            answer = ask()
    except (SpentError, OverflowError):  # a number that a kernel takes modulo 2^64
        _spent[engine] = PROCESS_SECONDS
        return ask()
    _spent[engine] += time.thread_time() - begun
    is_soon = time.monotonic() - started <= _LIMIT_SHARE * limit_seconds
    return answer if is_soon or is_decided(answer) else ask()


@contextmanager
def uncompiled(seconds: float) -> Iterator[None]:
    """Run kernels of this thread uncompiled; whole numbers wrap in them as in compiled ones."""
    before, own.budget = own.budget, Budget(seconds)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        own.budget = before
