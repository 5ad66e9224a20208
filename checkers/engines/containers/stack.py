"""Last-in-first-out stacks with unique elements: O(n log n) a key, memory O(n).

A legal order gives each element x a stay, from a moment in put[0]..put[1] to a moment in
taken[0]..taken[1], such that no two stays cross. An element whose put and take overlap can be put
and taken in a single moment and crosses nothing. The stay of any other element covers its core,
put[1] to taken[0].

Consider a stretch of time from s to t that cores cover without a gap. A legal order can be cut at
the borders of such stretches: no two stays cross after each stay is shortened to the stretch of its
core. If x was put[0] before s and taken[1] after t, its stay can be the whole stretch, below all
other elements, in any legal order. Without such an x no legal order exists, because some element
must lie at the bottom throughout. So the engine finds the bottom of a stretch, removes it, and
continues with the remaining stretches. Lee and Mathur make the same choice ("Efficient
decrease-and-conquer linearizability monitoring", 2024); here one segment tree finds the elements
put before s, one the last-taken among them, and one the gaps of the cover. An element that can be
the bottom of a stretch can also be the bottom of any part of it, so it moves from the first tree to
the second once.

An empty take needs a moment outside the cores, and with shortened stays that suffices.

If takes are indeterminate, an element x without a known take may have to be gone. Say a stretch has
no end and no bottom, and taken elements cover it until t. If an x that was put before t, and after
s began, had never been taken, then these elements and x alone would have a stretch without a
bottom; so x must be gone before the last-taken of the elements put before s is. It is removed, and
the search continues.

The remaining questions, and repeated elements, are for
`checkers.engines.repeated.stack.stack`.
"""

import numpy as np

from kraftproof.checkers.calls.containers import StackCalls
from kraftproof.checkers.engines.kernels.distinct_elements import Containers
from kraftproof.checkers.engines.kernels.element_intervals import Times, may_be_empty
from kraftproof.checkers.engines.kernels.segment_tree import (
    cover,
    first_gap,
    largest,
    make_cover,
    make_largest,
    replace,
)
from kraftproof.checkers.engines.kernels.unmatched_takes import none_found_after
from kraftproof.checkers.engines.repeated.stack.stack import decide_repeated
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits


def decide(calls: StackCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each stack, None for one left to the general engine."""
    stacks = Containers(calls=calls, fits=fits, deadlines=deadlines)
    return stacks.decide("stack", lambda start, end: decide_repeated(stacks, start, end, limits))


@kernel
def fits(intervals: Times, nones: Times) -> bool:
    """Return whether lives can have been those of a stack's elements.

    Args:
        intervals: int64[4, m], as `checkers.engines.kernels.element_intervals.element_intervals`
            returns them.
        nones: int64[2, k], when empty takes began and ended.
    """
    due = np.full(intervals.shape[1], NEVER)
    return may_be_empty(intervals, nones) and _are_nested(intervals, due, False)  # noqa: FBT003


@kernel
def deadlines(intervals: Times, nones: Times) -> Times:
    """Return by when each element must have been taken: int64[m].

    The time is when a take completes of one that was put before it, if the take was invoked after
    the later was put; or when an empty take does; or what `_are_nested` finds.
    """
    due = none_found_after(intervals, nones)
    by_take, by_put, by_done = (
        np.argsort(intervals[2]),
        np.argsort(intervals[0]),
        np.argsort(intervals[1]),
    )
    taken, place_of = intervals[2][by_take], np.argsort(by_take)
    soonest, done = make_largest(intervals.shape[1]), 0
    for it in by_put:
        while intervals[1, by_done[done]] < intervals[0, it]:
            replace(soonest, place_of[by_done[done]], -intervals[3, by_done[done]])
            done += 1
        first = largest(soonest, int(np.searchsorted(taken, intervals[1, it])), intervals.shape[1])
        if first >= 0:
            due[it] = min(due[it], intervals[3, by_take[first]])
    _are_nested(intervals, due, True)  # noqa: FBT003 a kernel takes no keywords
    return due


@kernel
def _are_nested(intervals: Times, due: Times, is_loose: bool) -> bool:  # noqa: FBT001
    """Return whether elements can have been on one stack.

    Moments are numbers of segments between the cores' borders; the last has no end.

    Args:
        intervals: int64[4, m].
        due: int64[m], where to write down what is found if `is_loose`.
        is_loose: whether elements that nobody took may have to be gone by some completion.
    """
    (cores,) = np.nonzero(intervals[1] < intervals[2])
    cores = cores[np.argsort(intervals[1][cores])]
    put, begins, ends, taken = (
        intervals[0][cores],
        intervals[1][cores],
        intervals[2][cores],
        intervals[3][cores],
    )
    count = len(cores)
    borders = np.sort(np.concatenate((begins, ends)))
    borders = borders[: np.searchsorted(borders, NEVER)]
    first, last = np.searchsorted(borders, begins), np.searchsorted(borders, ends)
    early, late = make_largest(count), make_largest(count)
    covered, firmly = make_cover(len(borders) + 1), make_cover(len(borders) + 1)
    for it in range(count):
        replace(early, it, -put[it])
        cover(covered, first[it], last[it], 1)
        cover(firmly, first[it], last[it], int(ends[it] != NEVER))
    there = np.arange(count + 1)  # the first element from one on that has not been removed
    loose = _next_loose(ends)
    stretches = [(0, len(borders))]
    while len(stretches) > 0:
        start, end = stretches.pop()
        while True:
            begun = _first_there(there, int(np.searchsorted(first, start)))
            if begun == count or first[begun] >= end:
                break
            until = min(first_gap(covered, first[begun]), len(borders))
            removed = _bottom(
                early, late, begun, int(np.searchsorted(first, until)), begins[begun], taken,
                NEVER if until == len(borders) else borders[until],
            )  # fmt: skip
            if removed >= 0:
                stretches.append((first[begun], until))
                start = until
            else:
                removed = _first_there(loose, begun) if is_loose else count
                if removed == count or first[removed] >= first_gap(firmly, first[begun]):
                    return False
                reach = largest(late, begun, count)
                due[cores[removed]] = min(due[cores[removed]], taken[reach] if reach >= 0 else -1)
                replace(early, removed, -NEVER)
            there[removed], loose[removed] = removed + 1, removed + 1
            replace(late, removed, -NEVER)
            cover(covered, first[removed], last[removed], -1)
            cover(firmly, first[removed], last[removed], -int(ends[removed] != NEVER))
    return True


@kernel
def _next_loose(ends: Times) -> Times:
    """Return the way from each element to the first from it on that nobody took."""
    found = np.arange(len(ends) + 1)
    for it in range(len(ends)):
        if ends[it] != NEVER:
            found[it] = it + 1
    return found


@kernel
def _first_there(there: Times, it: int) -> int:
    root = it
    while there[root] != root:
        root = there[root]
    while there[it] != root:
        there[it], it = root, there[it]
    return root


@kernel
def _bottom(
    early: Times, late: Times, start: int, end: int, begins: int, taken: Times, ends: int
) -> int:
    """Return an element of start..end that can lie below all others of a stretch; -1 if none can.

    Args:
        early: tree of -put, of the elements not known to be put before a stretch begins.
        late: tree of `taken`, of the others.
        start: the first element of the stretch.
        end: the end of the stretch, exclusive.
        begins: when the stretch begins.
        taken: int64[m].
        ends: when the stretch ends, NEVER if it does not.
    """
    while True:
        it = largest(early, start, end)
        if it < 0 or early[len(early) // 2 + it] <= -begins:
            break
        replace(early, it, -NEVER)
        replace(late, it, taken[it])
    bottom = largest(late, start, end)
    if bottom < 0 or (taken[bottom] <= ends and taken[bottom] != NEVER):
        return -1
    return bottom
