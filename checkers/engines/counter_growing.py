"""Counters that only grow, by adds of any size: the sums that were told put the answers in order.

If every add is positive, an answer of a lesser sum comes before one of a greater, a read before the
add-and-get that starts from its sum. So the order of the answers is given, and what is left is
which of the plain adds go between one and the next. That is asked answer by answer, in sweeps over
sets S of applied adds. Let E be the latest invocation among the answers up to the present one, L
the earliest completion among it and those to come. A set is right at an answer of v if and only if
its sum, with the add-and-gets so far, is v; each of it was invoked before L; and whatever is not in
it completes after E and after the invocation of each that is in it. (To ask that of what was added
last is enough: the rest was asked before, and what comes is invoked later.) Any two operations are
then in the order of real time, so sets that follow from one another make a legal order, and a legal
order such sets. Only adds open around an answer can be in one set and not in another: sets are bits
of a *window* of those.

Of two adds of one size the one that was invoked and completed first goes first: exchanging them
keeps an order legal. What is open at the end of a prefix is in the window and need not be applied;
an add-and-get that is open there is one more answer that need not be. For sums from 1 to 5 and some
twenty clients that leaves a few sets an answer, and time is near linear. In general the question is
a subset sum, and sets grow as 2 to the number of plain adds open at once; past a number of steps
there is no answer.

Adds whose outcome nobody knows are never due, and remain for good. They are a *pool*, of which only
bounds are decided: *strict*, whatever has to come out of the pool is taken from it in one way,
greatest first, and only some sets are tried, those first that took least, so that what is found is
legal; *lenient*, the pool gives any amount up to its sum, so that what is refused is illegal.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from checkers.calls.counter import ADD, ADD_AND_GET, READ, CounterCalls
from checkers.columns import NEVER
from checkers.engines.counter_sets import (
    LATEST,
    SLOTS,
    SUM,
    USED,
    admit,
    following_sets,
    is_in_time,
    open_pool,
    retire,
)
from checkers.engines.outcome import Outcome
from checkers.engines.prefixes import decide_between
from checkers.kernels import kernel

MOST_STEPS: Final = 30_000_000
"""How many choices one prefix may cost, in all."""

LEGAL: Final = 1
NOT_FOUND: Final = 0
GAVE_UP: Final = -1

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def decide_growing(calls: CounterCalls, start: int, end: int) -> Outcome | None:
    """Returns the outcome of one key whose adds are all positive, None if only bounds are known."""
    return decide_between(
        calls, start, end, "counter-growing",
        lambda _start, _end, cut: _found(calls, start, end, cut, is_lenient=False) == LEGAL,
        lambda _start, _end, cut: _found(calls, start, end, cut, is_lenient=True) != NOT_FOUND,
    )  # fmt: skip


def _found(calls: CounterCalls, start: int, end: int, cut: int, *, is_lenient: bool) -> int:
    """Returns whether a key's calls have a legal order up to a cut, as `grown` says it."""
    action, delta = calls.action[start:end], calls.delta[start:end]
    invoke, complete = calls.invoke[start:end], calls.complete[start:end]
    ends = np.where(complete <= cut, complete, NEVER)
    answers, sums = _answers(action, delta, calls.value[start:end], invoke, complete <= cut, cut)
    is_asked = ends[answers] != NEVER
    early = np.maximum.accumulate(np.where(is_asked, invoke[answers], -1))
    late = np.minimum.accumulate(ends[answers][::-1])[::-1].copy()
    pool, sizes = _pool(delta, invoke, (action == ADD) & (complete == NEVER) & (invoke < cut))
    adds = np.flatnonzero((action == ADD) & (complete != NEVER) & (invoke < cut))
    added = np.where(action[answers] == ADD_AND_GET, delta[answers], 0)
    return int(
        grown(
            np.stack((ends[adds], delta[adds], invoke[adds])),
            np.stack((sums, added, np.where(is_asked, -1, invoke[answers]), early, late)),
            pool, sizes, is_lenient, MOST_STEPS,
        )
    )  # fmt: skip


def _answers(
    action: NDArray[np.int8], delta: Ints, value: Ints, invoke: Ints, is_over: Bools, cut: int
) -> tuple[Ints, Ints]:
    """Returns the answers in their order, as calls, and from which sum each starts.

    Those are the reads that completed by the cut, and the add-and-gets that were invoked.
    """
    is_get = action == ADD_AND_GET
    found = np.flatnonzero(((action == READ) & is_over) | (is_get & (invoke < cut)))
    starts = value[found] - np.where(is_get[found], delta[found], 0)
    order = np.lexsort((is_get[found], starts))
    return found[order], starts[order]


def _pool(delta: Ints, invoke: Ints, is_lost: Bools) -> tuple[Ints, Ints]:
    """Returns the adds without a known outcome.

    Returns:
        int64[p], their invocations by size, ascending; int64[3, s], of each size: it, where it
        begins, and how many of it are there so far.
    """
    lost = np.flatnonzero(is_lost)
    lost = lost[np.argsort(delta[lost], kind="stable")]
    distinct, first = np.unique(delta[lost], return_index=True)
    return invoke[lost], np.stack((distinct, first, np.zeros_like(distinct)))


@kernel
def grown(
    adds: Ints, answers: Ints, pool: Ints, sizes: Ints,
    is_lenient: bool, most: int,  # noqa: FBT001 a kernel takes no keywords
) -> int:  # fmt: skip
    """Says whether adds can have led to answers.

    Args:
        adds: int64[3, n], by invocation: completion, NEVER for one that need not be; size;
            invocation.
        answers: int64[5, m], in their order: from which sum each starts, what it adds, when it was
            invoked if it need not be and else -1, E and L.
        pool: int64[p], the invocations of adds without a known outcome, by size.
        sizes: int64[3, s], their sizes, where each begins in the pool, and 0.
        is_lenient: which bound, where there is a pool.
        most: how many choices to look at.

    Returns:
        LEGAL, NOT_FOUND, or GAVE_UP past a bound.
    """
    window, preds = np.zeros((4, SLOTS), dtype=np.int64), np.zeros(SLOTS, dtype=np.int64)
    sets = np.zeros((1, USED + sizes.shape[1]), dtype=np.int64)
    size, arrived = 0, 0
    for wanted, added, invoked, early, late in answers.T:
        if early > late:
            return NOT_FOUND
        while arrived < adds.shape[1] and adds[2, arrived] < late:
            if size == SLOTS:
                return GAVE_UP
            admit(window, size, preds, adds[0, arrived], adds[1, arrived], adds[2, arrived])
            size, arrived = size + 1, arrived + 1
        open_pool(pool, sizes, late)
        following, cost = following_sets(
            sets, window[:, :size], preds, wanted, early, pool, sizes, is_lenient, most
        )
        most -= cost
        if most < 0:
            return GAVE_UP
        following[:, SUM] += added
        if invoked >= 0:
            following = _with_open(following, window[:, :size], invoked, late, sets)
        if len(following) == 0:
            return NOT_FOUND
        sets = following
        size = retire(window, size, preds, sets, early)
    return LEGAL


@kernel
def _with_open(following: Ints, window: Ints, invoked: int, late: int, sets: Ints) -> Ints:
    """Returns the sets after an open add-and-get that took effect, and those in which it did not.

    Args:
        following: the sets with it, not all of them in real time.
        window: int64[4, w].
        invoked: when it was.
        late: before when it must have been.
        sets: those without it.
    """
    if invoked >= late:
        return sets
    following[:, LATEST] = np.maximum(following[:, LATEST], invoked)
    is_kept = np.array([is_in_time(one, window) for one in following], dtype=np.bool_)
    return np.concatenate((following[is_kept], sets))
