"""First-in-first-out queues whose elements are put once: O(n log n) a key, memory of order n.

Henzinger, Sezgin and Vafeiadis ("Aspect-oriented linearizability proofs", 2013) and Bouajjani,
Emmi, Enea and Hamza ("On reducing linearizability to state reachability", 2015) show that such a
history is linearizable unless it has one of these: an element taken twice, or before it was put; y
put after x yet taken before it (x put[1] < y put[0] and y taken[1] < x taken[0], where x may never
be taken); an empty take although the cores of elements cover its interval. Each is a sweep
here.

An element must have been taken before the first take of one put after it completes; with that the
takes without a known answer are decided exactly where no take found none
(`checkers.engines.kernels.distinct_elements`).
"""

import numpy as np

from kraftproof.checkers.calls.containers import QueueCalls
from kraftproof.checkers.engines.kernels.distinct_elements import Containers
from kraftproof.checkers.engines.kernels.element_intervals import Times, may_be_empty
from kraftproof.checkers.engines.kernels.unmatched_takes import none_found_after
from kraftproof.checkers.engines.repeated.queue.queue import decide_repeated
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits


def decide(calls: QueueCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each queue, None for one left to the general engine."""
    queues = Containers(calls=calls, fits=fits, deadlines=deadlines)
    return queues.decide("queue", lambda start, end: decide_repeated(calls, start, end, limits))


@kernel
def fits(intervals: Times, nones: Times) -> bool:
    """Return whether lives can have been those of a queue's elements.

    Args:
        intervals: int64[4, m], as `checkers.engines.kernels.element_intervals.element_intervals`
            returns them.
        nones: int64[2, k], when empty takes began and ended.
    """
    return bool(np.all(intervals[2] <= _next_taken(intervals))) and may_be_empty(intervals, nones)


@kernel
def deadlines(intervals: Times, nones: Times) -> Times:
    """Return by when each element must have been taken: int64[m]."""
    return np.minimum(_next_taken(intervals), none_found_after(intervals, nones))


@kernel
def _next_taken(intervals: Times) -> Times:
    """Return when the first take completes of what was put after an element: int64[m]."""
    by_put = np.argsort(intervals[0])[::-1]
    by_done = np.argsort(intervals[1])[::-1]
    soonest, place, found = NEVER, 0, np.full(intervals.shape[1], NEVER)
    for it in by_done:
        while place < len(by_put) and intervals[0, by_put[place]] > intervals[1, it]:
            soonest = min(soonest, intervals[3, by_put[place]])
            place += 1
        found[it] = soonest
    return found
