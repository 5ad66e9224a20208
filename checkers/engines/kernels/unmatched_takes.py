"""Takes with unknown answers: the elements that they can or must have taken.

Such an *unmatched* take may have taken any single element after its invocation, or nothing. An
element without a known completed take has a *deadline*: the first completion that is impossible
while the element is still there (each container has its own reason; an empty take is a reason for
all). The element *needs* an unmatched take if its own open take, if any, was invoked later.

- Necessary: elements in need can be matched with unmatched takes invoked before their deadlines. By
  Hall's theorem this holds if and only if k unmatched takes precede the k-th earliest deadline.
- Sufficient: the intervals fit in which the k-th unmatched take takes the k-th element in need.
"""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import TAKE
from kraftproof.checkers.engines.kernels.element_intervals import Times
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel


@kernel
def unmatched_before(action: NDArray[np.int8], element: Times, invoke: Times, cut: int) -> Times:
    """Return when the spare takes up to a cut were invoked, ascending."""
    found: Times = invoke[(action == TAKE) & (element < 0) & (invoke < cut)]
    return found


@kernel
def with_unmatched(intervals: Times, unmatched: Times) -> Times:
    """Return lives in which spares may have taken any number of elements."""
    kinder = intervals.copy()
    if len(unmatched) > 0:
        for it in range(intervals.shape[1]):
            if intervals[3, it] == NEVER:
                kinder[2, it] = min(intervals[2, it], max(unmatched[0], intervals[0, it]))
    return kinder


@kernel
def with_earlier_takes(intervals: Times, unmatched: Times) -> Times:
    """Return lives in which spares may have taken what an open take took later."""
    kinder = with_unmatched(intervals, unmatched)
    for it in range(intervals.shape[1]):
        if intervals[2, it] == NEVER:
            kinder[2, it] = NEVER
    return kinder


@kernel
def in_need(intervals: Times, deadlines: Times) -> Times:
    """Return the elements that need a spare, by deadline; all are < NEVER."""
    (found,) = np.nonzero((intervals[3] == NEVER) & (intervals[2] > deadlines))
    return found[np.argsort(deadlines[found])]


@kernel
def are_enough(unmatched: Times, deadlines: Times) -> bool:
    """Return whether there is a spare for each of some deadlines; both ascend."""
    return len(deadlines) <= len(unmatched) and bool(
        np.all(unmatched[: len(deadlines)] < deadlines)
    )


@kernel
def with_matches(intervals: Times, in_need: Times, unmatched: Times) -> Times:
    """Return lives in which needy elements were taken by spares, as far as there are any."""
    kinder = intervals.copy()
    for place in range(min(len(in_need), len(unmatched))):
        it = in_need[place]
        kinder[2, it] = max(unmatched[place], intervals[0, it])
    return kinder


@kernel
def none_found_after(intervals: Times, nones: Times) -> Times:
    """Return deadlines by empty takes and were invoked after a put completed: int64[m].

    Args:
        intervals: int64[4, m].
        nones: int64[2, k], when those takes began, ascending, and ended.
    """
    soonest = np.full(nones.shape[1] + 1, NEVER)
    for none in range(nones.shape[1] - 1, -1, -1):
        soonest[none] = min(soonest[none + 1], nones[1, none])
    found: Times = soonest[np.searchsorted(nones[0], intervals[1])]
    return found
