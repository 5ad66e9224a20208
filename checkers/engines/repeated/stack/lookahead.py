"""What should be inside a stack when it is next as low as some element, by the calls that follow.

Kernels for `checkers.engines.repeated.stack.search`. If the effect of each call is spread evenly
over the time that it is open, then how high the stack is and how often each element is inside is
known at any time. An element is taken when the stack is next lower than it lies, and what lies
below it is inside then, and nothing else. So a stack of which the search chose another order than
the truth mostly shows so by these counts, long before a take asks for what it has not. They differ
by what is open at the time, too, so that they only tell which of several stacks is likely.

Elements are counted in a few groups. Time and memory to lay out: O(n).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import PUT
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel

Ints = NDArray[np.int64]

GROUPS: Final = 8
_USUAL: Final = 1.5
"""How odd a place is of which nothing is known."""
_MOST: Final = 6.0
"""How odd a place is at most: when the stack is as low may have been told wrong."""


class Ahead(NamedTuple):
    """What is expected of a stack at each of m invocations and completions.

    Attributes:
        moment: int64, which of these each completion is.
        inside: float64[m, GROUPS], how often the elements of each group are inside.
        height: float64[m], all of them.
        lower: int64[k], by height and then by time, when the stack becomes lower than a height.
        lower_from: int64[h], where in `lower` those of each height begin.
    """

    moment: Ints
    inside: NDArray[np.float64]
    height: NDArray[np.float64]
    lower: Ints
    lower_from: Ints


def ahead_of(
    action: NDArray[np.int8], element: Ints, invoke: Ints, complete: Ints, levels: Ints
) -> Ahead:
    """Returns what is expected of a stack, by all calls that completed.

    Args:
        action: int8[n], as in `ContainerCalls`, of one key.
        element: int64[n].
        invoke: int64[n].
        complete: int64[n].
        levels: int64[m], the calls that completed, by completion.
    """
    moments = np.sort(np.concatenate((invoke[levels], complete[levels])))
    (known,) = np.nonzero((element != NO_VALUE) & (complete != NEVER))
    begin, end = (np.searchsorted(moments, at[known]) for at in (invoke, complete))
    slope = np.where(action[known] == PUT, 1.0, -1.0) / (end - begin)
    group = element[known] % GROUPS
    inside = np.zeros((len(moments) + 1, GROUPS))
    np.add.at(inside, (begin + 1, group), slope)
    np.add.at(inside, (end + 1, group), -slope)
    for _ in range(2):
        np.cumsum(inside, axis=0, out=inside)
    height = inside.sum(axis=1)
    lower, lower_from = _lower(np.floor(height + 0.5).astype(np.int64).clip(0))
    return Ahead(np.searchsorted(moments, complete[levels]), inside, height, lower, lower_from)


def _lower(heights: Ints) -> tuple[Ints, Ints]:
    """Returns when heights become lower than 1, 2 and so on; and where those of each begin."""
    (falls,) = np.nonzero(np.diff(heights) < 0)
    many = heights[falls] - heights[falls + 1]
    number = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    to, at = np.repeat(heights[falls + 1], many) + number, np.repeat(falls + 1, many)
    order = np.lexsort((at, to))
    return at[order], np.searchsorted(to[order], np.arange(heights.max(initial=0) + 2))


@bare_kernel
def oddness(ahead: Ahead, level: int, net: Ints, counts: Ints, own: int) -> float:
    """Says how much the counts of an element's place differ from those that are expected.

    Args:
        ahead: what is expected.
        level: the completion at which it comes to lie there.
        net: int64[GROUPS], how many more lost puts than lost takes had their effect before.
        counts: int64[GROUPS], of all up to the element.
        own: the group of the element.
    """
    height = 0
    for group in range(GROUPS):
        height += counts[group] - net[group]
    now = ahead.moment[level]
    if ahead.height[now] < height - 0.5 or _leaves(ahead, now, height) < 0:
        return _USUAL
    least = _MOST
    for about in range(height - 1, height + 2):
        at = _leaves(ahead, now, about)
        odd = _MOST if at < 0 else 0.0
        for group in range(GROUPS if at >= 0 else 0):
            off = counts[group] - net[group] - ahead.inside[at, group]
            off -= 0.5 if group == own else 0.0  # half of it is taken by then
            odd += off * off
        least = min(least, odd)
    return least


@bare_kernel
def _leaves(ahead: Ahead, now: int, height: int) -> int:
    """Returns the moment by which the stack is lower than a height; -1 if there is none."""
    if not 0 < height < len(ahead.lower_from):
        return -1
    first, last = ahead.lower_from[height - 1], ahead.lower_from[height]
    place = first + np.searchsorted(ahead.lower[first:last], now)
    return int(ahead.lower[place]) if place < last else -1
