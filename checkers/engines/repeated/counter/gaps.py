"""The gaps between the answers of a growing counter, and the additions that fit into each.

For `checkers.engines.repeated.counter.growing`. Answers are ordered by their sums. Let E be the
latest invocation among the answers up to an answer, and L the earliest completion among it and all
later answers: real time allows an addition before the answer if it was invoked before L, and
requires it there if it completed before E.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.counter import ADD, ADD_AND_GET
from kraftproof.checkers.engines.kernels.chains import NONE, Ints, chains_of
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel


class Counter(NamedTuple):
    """The calls of a key, n of them.

    Attributes:
        action: int8[n], as in `CounterCalls`.
        delta: int64[n].
        value: int64[n].
        invoke: int64[n], ascending.
        complete: int64[n].
    """

    action: NDArray[np.int8]
    delta: Ints
    value: Ints
    invoke: Ints
    complete: Ints


class Gaps(NamedTuple):
    """A prefix: m answers, and n additions in k lines, each line by invocation.

    An addition is *sure* if it completed, and *optional* otherwise; so is an open add-and-get. In a
    line of sure additions, each completed before the next was invoked; a line of optional additions
    has a single size; each optional add-and-get is a line.

    Attributes:
        wanted: int64[m], ascending: the sum of the additions before each answer.
        observed: int64[m], the sum before each answer.
        late: int64[m], L.
        least_slack: int64[m], the least sum, over each answer and all later ones, that required
            additions leave open.
        invoke: int64[n].
        complete: int64[n], NEVER for optional additions.
        size: int64[n].
        rank: int64[n], the place among sure additions by their last gaps; for optional additions,
            the line's place after all of these, greatest sizes first.
        turn: int64[n], the order of attempts: sure additions first, by size.
        starts_from: int64[n], the sum before an optional add-and-get, NONE for other additions.
        line_starts: int64[k + 1].
        by_completion: int64[s], the sure additions.
        completions: int64[s], their completions.
        by_gap: int64[s], the sure additions by the last gap possible for each.
        last_gap: int64[s], the answers that these must precede, m without an answer.
        sure_lines: The number of lines of sure additions, which come first.
        get_lines: The first line of an optional add-and-get; these come last.
    """

    wanted: Ints
    observed: Ints
    late: Ints
    least_slack: Ints
    invoke: Ints
    complete: Ints
    size: Ints
    rank: Ints
    turn: Ints
    starts_from: Ints
    line_starts: Ints
    by_completion: Ints
    completions: Ints
    by_gap: Ints
    last_gap: Ints
    sure_lines: int
    get_lines: int


class _Answers(NamedTuple):
    """The m answers of a prefix, by their sums.

    Attributes:
        observed: int64[m], the sum before each.
        wanted: int64[m], the part of the sum without answered add-and-gets.
        early: int64[m], E.
        late: int64[m], L.
    """

    observed: Ints
    wanted: Ints
    early: Ints
    late: Ints


def gaps_of(counter: Counter, cut: int) -> Gaps | None:
    """Lay out a prefix, up to an event; None if bounds show that no legal order exists.

    The bounds: answers keep real time, and the additions that must, or can, precede an answer do
    not exceed, or reach, its sum.
    """
    over = counter.complete <= min(cut, NEVER - 1)
    is_get = counter.action == ADD_AND_GET
    starts = counter.value - np.where(is_get, counter.delta, 0)
    answers = _answers(counter, starts, over)
    wanted, count = answers.wanted, len(answers.wanted)
    if (answers.early > answers.late).any() or (np.diff(wanted, prepend=0) < 0).any():
        return None
    (sure,) = np.nonzero(over & (counter.action == ADD))
    can_be = (counter.action == ADD) | (is_get & (starts >= 0))
    before = min(cut, answers.late.max(initial=-1))
    (optional,) = np.nonzero(~over & can_be & (counter.invoke < before))
    last_gap = _last_gaps(counter, sure, answers)
    if (last_gap < 0).any():
        return None
    adds = np.concatenate((sure, optional))
    first_gap = np.searchsorted(answers.late, counter.invoke[adds], side="right")
    slack = wanted - _reached(last_gap, counter.delta[sure], count)
    if (slack < 0).any() or (_reached(first_gap, counter.delta[adds], count) < wanted).any():
        return None
    by_completion = np.argsort(counter.complete[sure])
    by_gap = by_completion[np.argsort(last_gap[by_completion], kind="stable")]
    line, rank, sure_lines = _lines(counter, sure, optional, by_gap)
    order = np.lexsort((adds, line))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    lines = int(line.max(initial=-1)) + 1
    adds = adds[order]
    return Gaps(
        wanted=wanted,
        observed=answers.observed,
        late=answers.late,
        least_slack=np.minimum.accumulate(slack[::-1])[::-1].copy(),
        invoke=counter.invoke[adds],
        complete=np.where(over, counter.complete, NEVER)[adds],
        size=counter.delta[adds],
        rank=rank[order],
        turn=_turns(rank, -counter.delta[sure])[order],
        starts_from=np.where(is_get, starts, NONE)[adds],
        line_starts=np.searchsorted(line[order], np.arange(lines + 1)),
        by_completion=place[by_completion],
        completions=counter.complete[sure][by_completion],
        by_gap=place[by_gap],
        last_gap=last_gap[by_gap],
        sure_lines=sure_lines,
        get_lines=lines - int(np.count_nonzero(is_get[optional])),
    )


def _answers(counter: Counter, starts: Ints, over: NDArray[np.bool_]) -> _Answers:
    """Return the answers; equal sums by invocation."""
    is_get = counter.action == ADD_AND_GET
    (found,) = np.nonzero(over & (counter.action != ADD))
    found = found[np.lexsort((is_get[found], starts[found]))]
    gotten = np.where(is_get[found], counter.delta[found], 0)
    return _Answers(
        observed=starts[found],
        wanted=starts[found] - (np.cumsum(gotten) - gotten),
        early=np.maximum.accumulate(counter.invoke[found]),
        late=np.minimum.accumulate(counter.complete[found][::-1])[::-1].copy(),
    )


def _last_gaps(counter: Counter, sure: Ints, answers: _Answers) -> Ints:
    """Return the answer that each sure add must come before, as far as it is plain."""
    complete = counter.complete[sure]
    found = np.searchsorted(answers.early, complete, side="right")
    capacity = np.diff(answers.wanted, prepend=0)
    bring_forward(found, counter.delta[sure], counter.invoke[sure], complete, capacity)
    return found


@kernel
def bring_forward(last_gap: Ints, size: Ints, invoke: Ints, complete: Ints, capacity: Ints) -> None:
    """Move the last gaps of adds forward, to gaps with capacity for them and for later adds.

    Args:
        last_gap: int64[n], in and out; -1 otherwise.
        size: int64[n].
        invoke: int64[n], ascending.
        complete: int64[n].
        capacity: int64[m], what goes into each gap.
    """
    soonest = np.full(len(invoke) + 1, len(capacity))
    for add in range(len(invoke) - 1, -1, -1):
        after = np.searchsorted(invoke, complete[add])
        gap = min(last_gap[add], soonest[after])
        while 0 <= gap < len(capacity) and capacity[gap] < size[add]:
            gap -= 1
        last_gap[add] = gap
        soonest[add] = min(soonest[add + 1], gap)


def _reached(gap: Ints, size: Ints, answers: int) -> Ints:
    """Return the sum of the given gaps before each answer: int64[answers]."""
    found = np.zeros(answers + 1, dtype=np.int64)
    np.add.at(found, gap, size)
    return np.cumsum(found[:-1])


def _lines(counter: Counter, sure: Ints, optional: Ints, by_gap: Ints) -> tuple[Ints, Ints, int]:
    """Return the line and rank of each add, sure ones first, and how many lines those have."""
    lane, _, lanes = chains_of(counter.invoke[sure], counter.complete[sure], len(sure) + 1)
    rank = np.empty(len(sure), dtype=np.int64)
    rank[by_gap] = np.arange(len(sure))
    is_get = counter.action[optional] == ADD_AND_GET
    kinds = np.stack((is_get * (optional + 1), -counter.delta[optional]))
    _, of_kind = np.unique(kinds, axis=1, return_inverse=True)
    of_kind = of_kind.reshape(-1)
    return (
        np.concatenate((lane, lanes + of_kind)),
        np.concatenate((rank, len(sure) + of_kind)),
        int(lanes),
    )


def _turns(rank: Ints, first: Ints) -> Ints:
    """Return the order of attempts: sure additions by a number, then optional ones by rank."""
    turn = rank.copy()
    turn[np.lexsort((rank[: len(first)], first))] = np.arange(len(first))
    return turn
