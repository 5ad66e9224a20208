"""Locks: acquisitions and releases alternate, in a greedy order; O(n log n) a key, memory O(n).

The kind of the next operation is known; only the operation has to be chosen. Of the candidates,
which no remaining operation precedes in real time, the first to complete goes first. The choice
loses no order: if a legal order takes another candidate now and this one later, exchange the two;
both are possible and equal, and no operation between them has to follow the later one. An
indeterminate operation completes last, so it is used only without any other candidate. Bisection
finds the first illegal completion (`checkers.engines.kernels.bisection`).
"""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.mutex import MutexCalls
from kraftproof.checkers.engines.kernels.bisection import decide_keys
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits


def decide(calls: MutexCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each lock."""
    del limits  # near-linear: nothing to bound

    def is_legal(start: int, end: int, cut: int) -> bool:
        invoke, complete = calls.invoke[start:end], calls.complete[start:end]
        return bool(can_alternate(calls.is_release[start:end], invoke, complete, cut))

    return decide_keys(calls, "mutex", is_legal)


@kernel
def can_alternate(
    is_release: NDArray[np.bool_], invoke: NDArray[np.int64], complete: NDArray[np.int64], cut: int
) -> bool:
    """Return whether a lock's acquisitions and releases can have taken turns up to a cut.

    Args:
        is_release: bool[n].
        invoke: int64[n], ascending.
        complete: int64[n].
        cut: the event.
    """
    (required,) = np.nonzero(complete <= min(cut, NEVER - 1))
    soonest = required[np.argsort(complete[required])]
    placed = np.zeros(len(invoke), dtype=np.bool_)
    acquisitions = [(0, 0) for _ in range(0)]
    releases = acquisitions.copy()
    due, invoked, is_held = 0, 0, False
    while True:
        while due < len(soonest) and placed[soonest[due]]:
            due += 1
        if due == len(soonest):
            return True
        before = min(complete[soonest[due]], cut)
        while invoked < len(invoke) and invoke[invoked] < before:
            end = complete[invoked] if complete[invoked] <= cut else NEVER
            ready = releases if is_release[invoked] else acquisitions
            heappush(ready, (int(end), invoked))
            invoked += 1
        waiting = releases if is_held else acquisitions
        if len(waiting) == 0:
            return False
        placed[heappop(waiting)[1]] = True
        is_held = not is_held
