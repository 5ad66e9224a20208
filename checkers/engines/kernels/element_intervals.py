"""The interval of each element of a container: its put and its take.

For the engines of queues, stacks and priority queues. An element is put at most once; repeated
elements are for other engines. An element has two intervals,

    put[0] .. put[1]   and   taken[0] .. taken[1]

and its *core*, put[1] .. taken[0], is the time during which the container surely holds it. A prefix
of a history, up to the event `cut`, is a whole history in which

- an incomplete call completes at NEVER;
- an element without a take is taken at NEVER, after all events: at the end, the remaining elements
  can be taken in the container's order;
- an open take of an element that was not put is left out, and so is a second, open take.

A take with an unknown answer may have taken any element, or nothing. It is left out here; see
`checkers.engines.kernels.unmatched_takes`.
"""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

Times = NDArray[np.int64]


@kernel
def is_repeated(action: NDArray[np.int8], element: Times) -> bool:
    """Return whether any element of a key is put twice."""
    seen = np.zeros(element.max() + 1 if len(element) else 0, dtype=np.bool_)
    for call in range(len(element)):
        if action[call] == PUT:
            if seen[element[call]]:
                return True
            seen[element[call]] = True
    return False


@kernel
def element_intervals(
    action: NDArray[np.int8], element: Times, invoke: Times, complete: Times, cut: int
) -> tuple[bool, Times]:
    """Return the lives of a key's elements up to a cut.

    Args:
        action: int8[n], of the key's calls.
        element: int64[n], numbered from 0.
        invoke: int64[n], ascending.
        complete: int64[n].
        cut: the event.

    Returns:
        Whether no element was taken twice, or by someone who was done before it was put; and
        int64[4, m], of each element put[0], put[1], taken[0] and taken[1].
    """
    intervals = np.full((4, element.max() + 1 if len(element) else 0), NEVER)
    for call in range(len(element)):
        if invoke[call] >= cut:
            break
        it = element[call]
        end = complete[call] if complete[call] <= cut else NEVER
        if action[call] == PUT:
            intervals[0, it], intervals[1, it] = invoke[call], end
        elif action[call] == TAKE and it >= 0:
            if intervals[3, it] != NEVER and end != NEVER:
                return False, intervals
            if end != NEVER or intervals[2, it] == NEVER:
                intervals[2, it], intervals[3, it] = invoke[call], end
    for it in range(intervals.shape[1]):
        if intervals[3, it] < intervals[0, it]:
            return False, intervals
        if intervals[0, it] == NEVER:
            intervals[2, it] = NEVER
    return True, intervals


@kernel
def none_found(action: NDArray[np.int8], invoke: Times, complete: Times, cut: int) -> Times:
    """Return invocation and completion of the empty takes: int64[2, k]."""
    (calls,) = np.nonzero((action == FOUND_NONE) & (complete <= cut))
    found = np.empty((2, len(calls)), dtype=np.int64)
    found[0], found[1] = invoke[calls], complete[calls]
    return found


@kernel
def may_be_empty(intervals: Times, nones: Times) -> bool:
    """Return whether each interval has a moment outside all cores.

    An interval has no such moment if the cores together cover it. `nones` is ascending.
    """
    by_put = np.argsort(intervals[1])
    reached, place = -1, 0
    for none in range(nones.shape[1]):
        start, end = nones[0, none], nones[1, none]
        while place < len(by_put) and intervals[1, by_put[place]] < start:
            reached = max(reached, intervals[2, by_put[place]])
            place += 1
        covered, lookahead = max(reached, start), place
        while (
            covered <= end and lookahead < len(by_put) and intervals[1, by_put[lookahead]] < covered
        ):
            covered = max(covered, intervals[2, by_put[lookahead]])
            lookahead += 1
        if covered > end:
            return False
    return True
