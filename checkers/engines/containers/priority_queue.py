"""Priority queues with unique elements: O(n log n) a key, memory O(n).

The least element leaves first. A take of x needs a moment without lesser elements, so an element
constrains only greater ones. The engine therefore decides from the least element on: an element
should stay as briefly as possible, from put[1] (its put can't be later) to the first moment at or
after both invocations without lesser elements. By induction on the order of elements, each stay is
a subset of the stay in any legal order. If an element finds no moment before its take completes, no
legal order exists; otherwise the chosen moments form a legal order. An empty take needs a moment
without any element.

Time is counted in gaps between the events of the key; a union-find skips the gaps in which elements
stay. After Lee and Mathur ("Efficient decrease-and-conquer linearizability monitoring", 2024), who
remove elements one by one as well.

Keys with repeated elements, or left open by indeterminate takes, are for
`checkers.engines.repeated.priority_queue.priority_queue`.
"""

import numpy as np

from kraftproof.checkers.calls.containers import PriorityQueueCalls
from kraftproof.checkers.engines.kernels.distinct_elements import Containers
from kraftproof.checkers.engines.kernels.element_intervals import Times
from kraftproof.checkers.engines.kernels.segment_tree import largest, make_largest, replace
from kraftproof.checkers.engines.kernels.unmatched_takes import none_found_after
from kraftproof.checkers.engines.repeated.priority_queue.priority_queue import decide_repeated
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits


def decide(calls: PriorityQueueCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each priority queue, None for one left to the general engine."""
    queues = Containers(calls=calls, fits=fits, deadlines=deadlines)
    return queues.decide(
        "priority-queue", lambda start, end: decide_repeated(calls, start, end, limits)
    )


@kernel
def fits(intervals: Times, nones: Times) -> bool:
    """Return whether intervals can be those of a priority queue's elements, least first.

    Args:
        intervals: int64[4, m], as `checkers.engines.kernels.element_intervals.element_intervals`
            returns them.
        nones: int64[2, k], when empty takes began and ended.
    """
    events = np.sort(np.concatenate((intervals.copy().reshape(-1), nones.copy().reshape(-1))))
    events = events[: np.searchsorted(events, NEVER)]
    free = np.arange(len(events) + 1)  # gap g is after event g; the last stands for no gap at all
    for it in range(intervals.shape[1]):
        if intervals[0, it] == NEVER:
            continue
        taken = len(events)
        if intervals[2, it] != NEVER:
            soonest = np.searchsorted(events, max(intervals[0, it], intervals[2, it]))
            taken = next_free(free, soonest)
        if taken >= np.searchsorted(events, intervals[3, it]) and intervals[3, it] != NEVER:
            return False
        for gap in range(next_free(free, np.searchsorted(events, intervals[1, it])), taken):
            free[gap] = gap + 1
    for none in range(nones.shape[1]):
        first = next_free(free, np.searchsorted(events, nones[0, none]))
        if first >= np.searchsorted(events, nones[1, none]):
            return False
    return True


@kernel
def deadlines(intervals: Times, nones: Times) -> Times:
    """Return by when each element must have been taken: int64[m].

    The time is when a take of a greater one completes that was invoked after the lesser was put, or
    one that found none.
    """
    due = none_found_after(intervals, nones)
    by_take = np.argsort(intervals[2])
    taken, place_of = intervals[2][by_take], np.argsort(by_take)
    soonest = make_largest(intervals.shape[1])
    for it in range(intervals.shape[1] - 1, -1, -1):
        first = largest(soonest, int(np.searchsorted(taken, intervals[1, it])), intervals.shape[1])
        if first >= 0:
            due[it] = min(due[it], intervals[3, by_take[first]])
        replace(soonest, place_of[it], -intervals[3, it])
    return due


@kernel
def next_free(free: Times, gap: int) -> int:
    """Return the first free gap from one on, and shortens the way there."""
    root = gap
    while free[root] != root:
        root = free[root]
    while free[gap] != root:
        free[gap], gap = root, free[gap]
    return root
