"""Refute a container by counting, independent of the order in which it returns elements.

By the completion of a take of x, at least as many puts of x must have begun as takes of x have
completed. At an empty take, all elements put before it must have been taken: for each element, at
least as many takes must have begun by its completion as puts completed before its invocation. A
take with an unknown answer can replace a missing one.

The k-th put of x to complete and the k-th take of x to begin form a pair. At an empty take, the
missing takes are the pairs whose put completed before it and whose take began after it. Both counts
take O(n log n) time and O(n) memory. Moments are events and all different; NEVER is a moment that
does not come.
"""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]


def short_at(action: NDArray[np.int8], element: Ints, invoke: Ints, complete: Ints) -> int:
    """Return the first completion by which elements were short, or left over; NEVER otherwise.

    No legal order of the prefix up to it exists.

    Args:
        action: int8[n], as in `ContainerCalls`, of a key.
        element: int64[n].
        invoke: int64[n], ascending.
        complete: int64[n].
    """
    is_put, is_observed = action == PUT, (action == TAKE) & (element != NO_VALUE)
    (nones,) = np.nonzero(action == FOUND_NONE)
    taken, put = _pairs(
        element[is_observed], complete[is_observed], element[is_put], invoke[is_put]
    )
    over, begun = _pairs(
        element[is_put], complete[is_put], element[is_observed], invoke[is_observed]
    )
    indeterminate = invoke[(action == TAKE) & (element == NO_VALUE)]
    left = _left(over, begun, invoke[nones], complete[nones])
    is_short = left > np.searchsorted(indeterminate, complete[nones])
    return int(
        min(taken[put > taken].min(initial=NEVER), complete[nones[is_short]].min(initial=NEVER))
    )


def _pairs(element: Ints, moment: Ints, other: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Pair the k-th of some moments with the k-th of others of the same element.

    Args:
        element: int64[n].
        moment: int64[n].
        other: int64[m], the elements of the others.
        others: int64[m].

    Returns:
        int64[n], the moments; and int64[n], those of the others, NEVER where there is none.
    """
    order, to = np.lexsort((moment, element)), np.lexsort((others, other))
    element, other = element[order], other[to]
    number = np.arange(len(element)) - np.searchsorted(element, element)
    partner = np.searchsorted(other, element) + number
    is_there = partner < np.searchsorted(other, element, side="right")
    paired = np.full(len(element), NEVER)
    paired[is_there] = others[to][partner[is_there]]
    return moment[order], paired


@kernel
def _left(over: Ints, begun: Ints, invoke: Ints, complete: Ints) -> Ints:
    """Return how many pairs of a put and a take a container surely holds at intervals: int64[k].

    Args:
        over: int64[n], when each put was over.
        begun: int64[n], when each take began.
        invoke: int64[k], ascending.
        complete: int64[k].
    """
    by_over, taken = np.argsort(over), np.sort(begun)
    place_of = np.searchsorted(taken, begun) + 1
    sums = np.zeros(len(over) + 1, dtype=np.int64)  # a Fenwick tree of the pairs put, by `begun`
    left, put = np.empty(len(invoke), dtype=np.int64), 0
    for it in range(len(invoke)):
        while put < len(over) and over[by_over[put]] < invoke[it]:
            node = place_of[by_over[put]]
            while node <= len(over):
                sums[node] += 1
                node += node & -node
            put += 1
        left[it], node = put, np.searchsorted(taken, complete[it])
        while node > 0:
            left[it] -= sums[node]
            node -= node & -node
    return left
