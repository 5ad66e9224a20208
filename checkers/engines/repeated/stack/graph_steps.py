"""The steps of a sweep over a stack: what one call does to a state (`stack_graph_sweep`)."""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.containers import PUT, TAKE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    BEFORE,
    BELOW,
    BEST,
    BOTTOM,
    CALL,
    COST,
    EDGE,
    EDGES,
    FRAME,
    HAD,
    INNER,
    IS_FIXED,
    NEXT,
    NONE,
    OUTER,
    PAID,
    PUT_BY,
    SPENT,
    TAKEN_BY,
    TOTAL,
    USES,
    VALUE,
    WENT,
    WORD,
    Table,
    new_row,
    place_of,
)
from kraftproof.checkers.engines.repeated.stack.graph_workspace import (
    INDETERMINATE_COST,
    IS_APART,
    MOST_COST,
    MOST_EDGES,
    NO_LIMIT,
    NONES,
    OPEN,
    WORK,
    Sweep,
)
from kraftproof.checkers.engines.repeated.stack.layout import Calls
from kraftproof.checkers.kernels import bare_kernel

_IN_VAIN: Final = 1 << 62
"""The bit of a state after an indeterminate take without a consequence yet."""
INDETERMINATE: Final = -2
"""INDETERMINATE - k stands for an indeterminate call of kind k, chosen when the order is read
off.
"""


@bare_kernel
def keep_as_is(
    sweep: Sweep,
    into: Table,
    had: Integer,
    frame: Integer,
    word: Integer,
    cost: Integer,
    spent: Integer,
) -> None:
    """Keep a state unchanged."""
    had &= ~_IN_VAIN
    place, is_new = place_of(into, had, frame, spent * sweep.at[IS_APART], cost)
    if is_new:
        into.rows[place, WORD], into.rows[place, SPENT] = word, spent


@bare_kernel
def take_at_once(calls: Calls, sweep: Sweep, it: Integer, had: Integer, place: Integer) -> None:
    """Let a returning take have the element of an open or indeterminate put at once."""
    row = sweep.frontier.rows[place]
    bit, value = 1 << calls.slot[it], calls.element[it]
    cost, spent = row[COST], row[SPENT]
    call = _soonest(calls, sweep, had, PUT, value)
    if call != NONE:
        had_both = (had | 1 << calls.slot[call]) & ~bit
        _keep(
            sweep, sweep.passed, had_both, row[FRAME], cost, spent, row[WORD], call, NONE, it
        )  # fmt: skip
    if _may_use(calls, sweep, row[FRAME], spent, value):
        cost, spent = cost + INDETERMINATE_COST, spent + sweep.radix[value]
        _keep(
            sweep, sweep.passed, had & ~bit, row[FRAME], cost, spent, row[WORD],
            INDETERMINATE - value, NONE, it,
        )  # fmt: skip


@bare_kernel
def take_top(calls: Calls, sweep: Sweep, it: Integer, place: Integer) -> None:
    """Take what is on top of a state, by each call that may."""
    row = sweep.seen.rows[place]
    had, frame = row[HAD], row[FRAME]
    if frame == BOTTOM:
        bit = 1 << calls.slot[it]
        if had & bit != 0:
            keep_as_is(sweep, sweep.passed, had & ~bit, frame, row[WORD], row[COST], row[SPENT])
        return
    value = sweep.frames.rows[frame, VALUE]
    if calls.action[it] == TAKE and calls.element[it] == value:
        _uncover(calls, sweep, it, place, it)
    else:
        call = _soonest(calls, sweep, had, TAKE, value)
        if call != NONE:
            _uncover(calls, sweep, it, place, call)
    takes = len(sweep.radix) - 1
    if sweep.begun[takes] > 0:
        _uncover(calls, sweep, it, place, INDETERMINATE - takes)


@bare_kernel
def _uncover(calls: Calls, sweep: Sweep, it: Integer, place: Integer, call: Integer) -> None:
    """Add the states below the top after a take; a negative `call` is indeterminate."""
    row = sweep.seen.rows[place]
    had, inner, cost, spent = row[HAD] & ~_IN_VAIN, row[WORD], row[COST], row[SPENT]
    if call >= 0 and call != it:
        had |= 1 << calls.slot[call]
    into = sweep.passed if call == it else sweep.seen
    edge = sweep.frames.rows[row[FRAME], EDGE]
    while edge != NONE:
        link = sweep.edges.rows[edge]
        below, paid, went = link[BELOW], cost + link[PAID], spent + link[WENT]
        sweep.at[WORK] += 1
        edge = link[NEXT]
        uses = sweep.frames.rows[below, USES] + link[WENT]
        if not _is_no_more(calls, sweep, uses, sweep.frames.rows[row[FRAME], USES], spent):
            continue
        had_now = had | sweep.at[NONES] if below == BOTTOM else had
        if call < 0:
            if not _may_use(calls, sweep, below, went, INDETERMINATE - call):
                continue
            paid, went = paid + INDETERMINATE_COST, went + sweep.radix[INDETERMINATE - call]
            if had_now == had:
                had_now |= _IN_VAIN
        _keep(
            sweep, into, had_now, below, paid, went, link[BEFORE], link[CALL], inner, call
        )  # fmt: skip


@bare_kernel
def _keep(
    sweep: Sweep,
    into: Table,
    had: Integer,
    frame: Integer,
    cost: Integer,
    spent: Integer,
    outer: Integer,
    put_by: Integer,
    inner: Integer,
    taken_by: Integer,
) -> None:
    """Add the state after a put, a word on top of it, and the take."""
    if sweep.frames.rows[frame, TOTAL] + cost > sweep.at[MOST_COST]:
        return
    place, is_new = place_of(into, had, frame, spent * sweep.at[IS_APART], cost)
    if is_new:
        new = new_row(sweep.words)
        word = sweep.words.rows[new]
        word[OUTER], word[PUT_BY], word[INNER], word[TAKEN_BY] = outer, put_by, inner, taken_by
        into.rows[place, WORD], into.rows[place, SPENT] = new, spent


@bare_kernel
def put_on_top(calls: Calls, sweep: Sweep, it: Integer, place: Integer) -> None:
    """Put each element on top of a state that is put by an open call: last, what returns."""
    row = sweep.seen.rows[place]
    had, below = row[HAD], row[FRAME]
    total = sweep.frames.rows[below, TOTAL] + row[COST]
    if had & _IN_VAIN != 0 or total > sweep.at[MOST_COST]:
        return
    uses = sweep.frames.rows[below, USES] + row[SPENT]
    for number in range(sweep.at[OPEN]):
        call = sweep.opened[number]
        value = calls.element[call]
        if calls.action[call] != PUT or _soonest(calls, sweep, had, PUT, value) != call:
            continue
        new_had, key = had | 1 << calls.slot[call], uses * sweep.at[IS_APART]
        made, is_new = place_of(sweep.made, new_had, value, key, 0)
        if made == len(sweep.made.rows):
            continue
        if is_new:
            frame = new_row(sweep.frames)
            sweep.made.rows[made, WORD] = frame
            sweep.frames.rows[frame] = NONE
            observed = sweep.frames.rows[frame]
            observed[VALUE], observed[TOTAL], observed[EDGES], observed[IS_FIXED] = (
                value,
                NO_LIMIT,
                0,
                0,
            )
        else:
            frame = sweep.made.rows[made, WORD]
        _link(sweep, frame, place, call)
        if is_new and call == it:
            passed = new_had & ~(1 << calls.slot[it])
            keep_as_is(sweep, sweep.passed, passed, frame, NONE, 0, 0)
        elif is_new:
            keep_as_is(sweep, sweep.seen, new_had, frame, NONE, 0, 0)


@bare_kernel
def _link(sweep: Sweep, frame: Integer, place: Integer, call: Integer) -> None:
    """Put a frame on top of a state; the best edge of what is below stays that from now on."""
    frames, row = sweep.frames.rows, sweep.seen.rows[place]
    if frames[frame, EDGES] >= sweep.at[MOST_EDGES]:
        return
    below, edge = row[FRAME], new_row(sweep.edges)
    link = sweep.edges.rows[edge]
    link[BELOW], link[BEFORE], link[CALL] = below, row[WORD], call
    link[PAID], link[WENT], link[NEXT] = row[COST], row[SPENT], frames[frame, EDGE]
    frames[frame, EDGE] = edge
    frames[frame, EDGES] += 1
    frames[below, IS_FIXED] = 1
    total = frames[below, TOTAL] + row[COST]
    if frames[frame, IS_FIXED] == 0 and total < frames[frame, TOTAL]:
        frames[frame, TOTAL], frames[frame, BEST] = total, edge
        frames[frame, USES] = frames[below, USES] + row[SPENT]
    sweep.at[WORK] += 1


@bare_kernel
def _soonest(
    calls: Calls, sweep: Sweep, had: Integer, action: Integer, element: Integer
) -> Integer:
    """Return the returning call first, of the open ones of a kind that had no effect yet."""
    for place in range(sweep.at[OPEN]):
        call = sweep.opened[place]
        if (
            calls.action[call] == action
            and calls.element[call] == element
            and had >> calls.slot[call] & 1 == 0
        ):
            return np.int64(call)
    return NONE


@bare_kernel
def _may_use(calls: Calls, sweep: Sweep, frame: Integer, spent: Integer, kind: Integer) -> bool:
    """Return whether an indeterminate call of a kind has begun that had no effect yet."""
    used = _used(calls, sweep, sweep.frames.rows[frame, USES] + spent, kind)
    return bool(used < sweep.begun[kind])


@bare_kernel
def _used(calls: Calls, sweep: Sweep, spent: Integer, kind: Integer) -> Integer:
    """Return how many indeterminate calls of a kind were used, as a number of all tells it."""
    radix = sweep.radix[kind]
    if radix == 0:
        return np.int64(0)
    many = calls.indeterminate_from[kind + 1] - calls.indeterminate_from[kind]
    return np.int64(spent // radix % (many + 1))


@bare_kernel
def _is_no_more(
    calls: Calls, sweep: Sweep, before: Integer, reckoned: Integer, after: Integer
) -> bool:
    """Return whether a way used no more calls of any later kind than the best way.

    Args:
        calls: The calls of a key.
        sweep: The sweep.
        before: The number of the indeterminate calls used by the way.
        reckoned: The number of those used by the best way.
        after: The number of those used later; only their kinds matter.
    """
    if after == 0 or before == reckoned:
        return True
    for kind in sweep.counted:
        radix = sweep.radix[kind]
        if after >= radix:
            after %= radix
            if _used(calls, sweep, before, kind) > _used(calls, sweep, reckoned, kind):
                return False
    return True
