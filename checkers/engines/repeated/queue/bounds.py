"""Bounds on the count of each value among a queue's first elements, position by position.

For `checkers.engines.repeated.queue.queue`. Let P be the first b puts of a legal order with at
least b takes, m the last invocation within P, and W a set of values. All puts of P were invoked by
m, all puts that completed before m are in P, and no take after position b completed before m. So

- at most b puts completed before m, at least b were invoked by m, and fewer than b takes completed
  before m;
- P has at least as many puts of W as completed before m, and at least b minus the other puts
  invoked by m; at most as many as were invoked by m, and at most b minus the other puts that
  completed before m.

m is unknown, so the bounds are the least and the greatest over all possible m. The same holds for
the first b takes, without the condition on the other kind; a take with an unknown answer counts
both for W and for the other values. The first b elements have as many of W by puts as by takes, so
both bounds hold; from a position to the next, a count grows by at most one; and the counts of all
values add up to b. If no count is left, no order is legal.

Sets of one value and of two values are used. Values are grouped into a few kinds, which only widens
the bounds. Time is O(n w), w being the calls possible at a position; memory O(n), some hundred
bytes a take.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.bisection import first_illegal_completion
from kraftproof.checkers.engines.repeated.queue.layout import Ints, Lines, Queue, lines_of
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

Numbers = NDArray[np.int32]

MOST_KINDS: Final = 8
_WIDEST: Final = 256
"""Among more calls that may be at a place only the first and the last are asked."""
_ROUNDS: Final = 2


class Bounds(NamedTuple):
    """How many of the first elements are of some kinds, for s sets of kinds and b places.

    Attributes:
        sets: int64[s, 2], the kinds of each set, the second one -1 otherwise.
        least: int32[b + 1, s].
        most: int32[b + 1, s].
    """

    sets: Ints
    least: Numbers
    most: Numbers


def kinds_of(lines: Lines) -> int:
    """Return how many kinds of values are told apart; an element's is its remainder by that."""
    return int(min(MOST_KINDS, lines.element.max(initial=0) + 1))


def bounds_of(lines: Lines) -> Bounds:
    """Return the bounds of every legal order; without any, some bounds have least > most."""
    kinds = kinds_of(lines)
    sets = np.asarray(
        [(one, -1) for one in range(kinds)]
        + [(one, two) for two in range(kinds) for one in range(two) if kinds > 3]
    ).reshape(-1, 2)
    puts, takes = (
        slice(lines.starts[first], lines.starts[end])
        for first, end in ((0, lines.takes), (lines.takes, lines.nones))
    )
    taken = np.sort(lines.complete[takes])
    places = int(np.searchsorted(taken, NEVER))
    least = np.zeros((places + 1, len(sets)), dtype=np.int32)
    most = np.tile(np.arange(places + 1, dtype=np.int32)[:, None], len(sets))
    begun = np.sort(lines.invoke[puts])
    _narrow(sets, *_counts(lines, puts, kinds), np.searchsorted(taken, begun), least, most)
    before = np.full(takes.stop - takes.start, -1)
    _narrow(sets, *_counts(lines, takes, kinds), before, least, most)
    for _ in range(_ROUNDS):
        _make_up(sets, kinds, least, most)
        _grow(least, most)
    return Bounds(sets, least, most)


def _counts(lines: Lines, calls: slice, kinds: int) -> tuple[Numbers, Numbers, Ints]:
    """Return, for each invocation, the calls completed before it and the calls invoked by it.

    Returns:
        int32[n, kinds] each, and int64[n], the number of calls with an unknown value invoked by it.
    """
    invoke, complete, element = (a[calls] for a in (lines.invoke, lines.complete, lines.element))
    by_end = np.argsort(complete, kind="stable")[: np.count_nonzero(complete != NEVER)]
    over = summed(element[by_end], kinds)
    by_start = np.argsort(invoke)
    is_before = np.searchsorted(complete[by_end], invoke[by_start])
    begun = summed(element[by_start], kinds)[1:]
    return over[is_before], begun, np.cumsum(element[by_start] < 0)


def summed(element: Ints, kinds: int) -> Numbers:
    """Return how many of each kind are among the first of some elements: int32[n + 1, kinds]."""
    counts = np.zeros((len(element) + 1, kinds), dtype=np.int32)
    (observed,) = np.nonzero(element >= 0)
    counts[observed + 1, element[observed] % kinds] = 1
    return np.cumsum(counts, axis=0, dtype=np.int32)


@kernel
def _narrow(
    sets: Ints,
    over: Numbers,
    begun: Numbers,
    untold: Ints,
    taken: Ints,
    least: Numbers,
    most: Numbers,
) -> None:
    """Narrow the bounds by the puts or by the takes.

    Args:
        sets: The sets of kinds.
        over: int32[n, kinds], the calls completed before each invocation.
        begun: int32[n, kinds], the calls invoked by each invocation.
        untold: int64[n], the same for calls with an unknown value.
        taken: int64[n], the takes completed before each invocation, if fewer than the position.
        least: As in `Bounds`.
        most: As in `Bounds`.
    """
    all_over = over.sum(axis=1)
    for number in range(len(sets)):
        one, two = sets[number]
        its_over, its_begun = over[:, one].copy(), begun[:, one] + untold
        if two >= 0:
            its_over += over[:, two]
            its_begun += begun[:, two]
        last = 0
        for place in range(1, len(least)):
            while last < len(over) and all_over[last] <= place and taken[last] < place:
                last += 1
            low, high = place + 1, -1
            for call in range(place - 1, last):
                if last - place > _WIDEST:
                    low, high = its_over[place - 1], its_begun[last - 1]
                    break
                others = call + 1 - its_begun[call] + untold[call]
                at_least = max(its_over[call], place - others)
                at_most = min(its_begun[call], place - all_over[call] + its_over[call])
                if at_least <= at_most:
                    low, high = min(low, at_least), max(high, at_most)
            least[place, number] = max(least[place, number], low)
            most[place, number] = min(most[place, number], high)


@kernel
def _make_up(sets: Ints, kinds: int, least: Numbers, most: Numbers) -> None:
    """Narrow bounds by what the numbers of all kinds make up."""
    for place in range(len(least)):
        low, high = least[place], most[place]
        all_low, all_high = low[:kinds].sum(), high[:kinds].sum()
        for number in range(len(sets)):
            one, two = sets[number]
            its_low, its_high = low[one], high[one]
            if two >= 0:
                its_low += low[two]
                its_high += high[two]
            low[number] = max(low[number], its_low, place - all_high + its_high)
            high[number] = min(high[number], its_high, place - all_low + its_low)
            if two >= 0:
                low[one] = max(low[one], low[number] - high[two])
                low[two] = max(low[two], low[number] - high[one])
                high[one] = min(high[one], high[number] - low[two])
                high[two] = min(high[two], high[number] - low[one])


@kernel
def _grow(least: Numbers, most: Numbers) -> None:
    """Narrow bounds by how a number grows from place to place."""
    for place in range(1, len(least)):
        for number in range(least.shape[1]):
            least[place, number] = max(least[place, number], least[place - 1, number])
            most[place, number] = min(most[place, number], most[place - 1, number] + 1)
    for place in range(len(least) - 1, 0, -1):
        for number in range(least.shape[1]):
            least[place - 1, number] = max(least[place - 1, number], least[place, number] - 1)
            most[place - 1, number] = min(most[place - 1, number], most[place, number])


def is_possible(bounds: Bounds) -> bool:
    """Return whether some number is left everywhere."""
    return bool((bounds.least <= bounds.most).all())


def out_of_bounds_at(queue: Queue, end: int) -> int:
    """Return the first completion by which the bounds leave no number; `end` if none before."""
    if is_possible(bounds_of(lines_of(queue, end - 1))):
        return end
    return first_illegal_completion(
        queue.complete[queue.complete < end],
        lambda cut: is_possible(bounds_of(lines_of(queue, cut))),
    )
