"""Counters: a greedy order if all additions are equal, else a search.

Bounds do not decide a read: with additions of 5 and 7 open, a read of 6 lies between the sums of
completed and of invoked additions and is wrong. In general the question is a subset sum, which is
NP-hard. So there are three engines.

*Alike* (each addition adds the same c, as most do). The sum is c times the number of additions so
far; a read of v comes when that number is v / c, and an add-and-get of v is the addition of that
number. The order is built from the front: all reads of the present number first, since the number
only grows; then the next addition, which is the add-and-get of that number if there is one, and
otherwise the possible addition that completes first. An operation is possible if no remaining
operation completes before its invocation. The choice loses no order: if a legal order takes another
addition now and this one later, exchange the two; both are possible, additions are equal, and no
operation between them has to follow the one that completes later. So the greedy order exists if any
order does: O(n log n) a key, memory O(n). Bisection finds the first illegal completion
(`checkers.engines.kernels.bisection`). An add-and-get that is open at the end of a prefix is either
left out or may take any number: two bounds; if they differ, the next engine decides.

*Growing* (`checkers.engines.repeated.counter.growing`) decides additions of any size above 0.
*Frontier* (`checkers.engines.counter.frontier`) decides additions of any size and sign, and keys
that growing leaves open. Both stop after a number of steps that follows from the key's seconds.
"""

from heapq import heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.counter import ADD, ADD_AND_GET, READ, CounterCalls
from kraftproof.checkers.engines.counter.frontier import MOST_CONFIGURATIONS, decide_by_frontier
from kraftproof.checkers.engines.kernels.bisection import Legal, decide_between, spans
from kraftproof.checkers.engines.repeated.counter.growing import decide_growing
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits

_CONFIGURATIONS_A_SECOND: Final = 300_000
"""Few enough for any machine: the bound must not depend on the clock, or verdicts would."""

Ints = NDArray[np.int64]


def decide(calls: CounterCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each counter, None for one left to the general engine."""
    return [_decide_key(calls, start, end, limits) for start, end in spans(calls)]


def _decide_key(calls: CounterCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    deltas = calls.delta[start:end][calls.action[start:end] != READ]
    outcome = None
    if not len(deltas) or bool((deltas == deltas[0]).all()):
        outcome = _decide_alike(calls, start, end, int(deltas[0]) if len(deltas) else 1)
    if outcome is None and bool((deltas > 0).all()):
        outcome = decide_growing(calls, start, end, limits)
    most = min(MOST_CONFIGURATIONS, int(limits.seconds * _CONFIGURATIONS_A_SECOND))
    return outcome or decide_by_frontier(calls, start, end, most)


def _decide_alike(calls: CounterCalls, start: int, end: int, delta: int) -> Outcome | None:
    numbers = calls.value[start:end] // delta  # of no meaning for an ADD
    numbers[numbers * delta != calls.value[start:end]] = -1

    action = calls.action[start:end]
    invoke, complete = calls.invoke[start:end], calls.complete[start:end]

    def bound(*, is_lenient: bool) -> Legal:
        return lambda _start, _end, cut: bool(
            is_countable(action, numbers, invoke, complete, cut, is_lenient)
        )

    strict, lenient = bound(is_lenient=False), bound(is_lenient=True)
    return decide_between(calls, start, end, "counter", strict, lenient)


@kernel
def is_countable(
    action: NDArray[np.int8],
    number: Ints,
    invoke: Ints,
    complete: Ints,
    cut: int,
    is_lenient: bool,  # noqa: FBT001 a kernel takes no keywords
) -> bool:
    """Return whether a key's adds, all alike, and reads have a legal order up to a cut.

    Args:
        action: int8[n], as in `CounterCalls`.
        number: int64[n], how many adds a read or an add-and-get says there were; -1 if none can.
        invoke: int64[n], ascending.
        complete: int64[n].
        cut: the event.
        is_lenient: whether an add-and-get that is open at the cut may be the add of any place;
            otherwise it is none.
    """
    (required,) = np.nonzero(complete <= min(cut, NEVER - 1))
    soonest = required[np.argsort(complete[required])]
    reads = by_number(action, number, required, READ)
    gets = by_number(action, number, required, ADD_AND_GET)
    placed = np.zeros(len(action), dtype=np.bool_)
    ready = [(0, 0) for _ in range(0)]
    count, due, read, get, add = 0, 0, 0, 0, 0
    while True:
        latest = -1
        while read < len(reads) and number[reads[read]] == count:
            placed[reads[read]] = True
            latest = max(latest, invoke[reads[read]])
            read += 1
        due = first_left(soonest, placed, due)
        if due == len(soonest):
            return True
        before = complete[soonest[due]]
        while add < len(action) and invoke[add] < min(before, cut):
            end = complete[add] if complete[add] <= cut else NEVER
            if action[add] == ADD or (action[add] == ADD_AND_GET and is_lenient and end == NEVER):
                heappush(ready, (int(end), add))
            add += 1
        count += 1
        if latest > before:
            return False
        if get < len(gets) and number[gets[get]] == count:
            following = gets[get]
            get += 1
        elif len(ready) > 0:
            following = heappop(ready)[1]
        else:
            return False
        if invoke[following] > before:
            return False
        placed[following] = True


@kernel
def by_number(action: NDArray[np.int8], number: Ints, required: Ints, kind: int) -> Ints:
    """Return the required calls of a kind by their numbers."""
    wanted = required[action[required] == kind]
    found: Ints = wanted[np.argsort(number[wanted])]
    return found


@kernel
def first_left(soonest: Ints, placed: NDArray[np.bool_], place: int) -> int:
    """Return the first place, from one on, of a call that is not placed yet."""
    while place < len(soonest) and placed[soonest[place]]:
        place += 1
    return place
