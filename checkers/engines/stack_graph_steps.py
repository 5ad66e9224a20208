"""The steps of a sweep over a stack: what one call does to one state (`stack_graph_sweep`)."""

import numpy as np

from checkers.calls.containers import PUT, TAKE
from checkers.engines.register_layout import Integer
from checkers.engines.stack_graph_rows import (
    BEFORE,
    BELOW,
    BOTTOM,
    CALL,
    COUNT,
    EDGE,
    FRAME,
    HAD,
    INNER,
    NEXT,
    NONE,
    OUTER,
    OWNER,
    PUT_BY,
    SPENT,
    TAKEN_BY,
    VALUE,
    WORD,
    Table,
    new_row,
    put,
)
from checkers.engines.stack_graph_space import NONES, OPEN, WORK, Sweep
from checkers.engines.stack_steps import Calls
from checkers.kernels import bare_kernel


@bare_kernel
def take_at_once(
    calls: Calls,
    sweep: Sweep,
    it: Integer,
    had: Integer,
    spent: Integer,
    frame: Integer,
    word: Integer,
) -> None:
    """Has a take that returns take what an open put, or a lost one, brings just then."""
    bit, value = 1 << calls.slot[it], calls.element[it]
    call = _soonest(calls, sweep, had, PUT, value)
    if call != NONE:
        new_had = (had | 1 << calls.slot[call]) & ~bit
        _keep(sweep, sweep.passed, new_had, spent, frame, word, call, NONE, it)
    call = _lost_put(calls, sweep, spent, it)
    if call != NONE:
        new_spent = spent + sweep.radix[value]
        _keep(sweep, sweep.passed, had & ~bit, new_spent, frame, word, call, NONE, it)


@bare_kernel
def take_top(calls: Calls, sweep: Sweep, it: Integer, place: Integer) -> None:
    """Takes what is on top of a state, by each call that may."""
    row = sweep.seen.rows[place]
    had, spent, frame = row[HAD], row[SPENT], row[FRAME]
    if frame == BOTTOM:
        bit = 1 << calls.slot[it]
        if had & bit != 0:
            put(sweep.passed, had & ~bit, spent, frame, row[WORD])
        return
    value = sweep.frames.rows[frame, VALUE]
    if calls.action[it] == TAKE and calls.element[it] == value:
        _uncover(calls, sweep, it, place, it, spent)
    else:
        call = _soonest(calls, sweep, had, TAKE, value)
        if call != NONE:
            _uncover(calls, sweep, it, place, call, spent)
    call = _lost_take(calls, sweep, spent, it)
    if call != NONE:
        _uncover(calls, sweep, it, place, call, spent + sweep.radix[len(sweep.radix) - 1])


@bare_kernel
def _uncover(
    calls: Calls, sweep: Sweep, it: Integer, place: Integer, call: Integer, spent: Integer
) -> None:
    """Keeps what is below the top of a state, all of it, after a take."""
    row = sweep.seen.rows[place]
    had, inner = row[HAD], row[WORD]
    if call != it and calls.slot[call] != NONE:
        had |= 1 << calls.slot[call]
    edge = sweep.frames.rows[row[FRAME], EDGE]
    into = sweep.passed if call == it else sweep.seen
    while edge != NONE:
        link = sweep.edges.rows[edge]
        below = link[BELOW]
        new_had = had | sweep.at[NONES] if below == BOTTOM else had
        _keep(sweep, into, new_had, spent, below, link[BEFORE], link[CALL], inner, call)
        edge = link[NEXT]
        sweep.at[WORK] += 1


@bare_kernel
def _keep(
    sweep: Sweep,
    into: Table,
    had: Integer,
    spent: Integer,
    frame: Integer,
    outer: Integer,
    put_by: Integer,
    inner: Integer,
    taken_by: Integer,
) -> None:
    """Keeps a state in which something was put, and taken after what happened on top of it."""
    if put(into, had, spent, frame, sweep.words.at[COUNT]) >= 0:
        word = sweep.words.rows[new_row(sweep.words)]
        word[OUTER], word[PUT_BY], word[INNER], word[TAKEN_BY] = outer, put_by, inner, taken_by


@bare_kernel
def put_on_top(calls: Calls, sweep: Sweep, it: Integer, place: Integer) -> None:
    """Puts each element on top of a state that is put by an open call: last, what returns."""
    row = sweep.seen.rows[place]
    had, spent, below, before = row[HAD], row[SPENT], row[FRAME], row[WORD]
    for number in range(sweep.at[OPEN]):
        call = sweep.opened[number]
        value = calls.element[call]
        if calls.action[call] != PUT or _soonest(calls, sweep, had, PUT, value) != call:
            continue
        new_had = had | 1 << calls.slot[call]
        made = put(sweep.made, new_had, spent, value, sweep.frames.at[COUNT])
        if made >= 0:
            frame = new_row(sweep.frames)
            sweep.frames.rows[frame, VALUE], sweep.frames.rows[frame, EDGE] = value, NONE
            if call == it:
                put(sweep.passed, new_had & ~(1 << calls.slot[it]), spent, frame, NONE)
            else:
                put(sweep.seen, new_had, spent, frame, NONE)
        else:
            frame = sweep.made.rows[~made, WORD]
        _link(sweep, frame, below, before, call)


@bare_kernel
def _link(sweep: Sweep, frame: Integer, below: Integer, before: Integer, call: Integer) -> None:
    edge = new_row(sweep.edges)
    link = sweep.edges.rows[edge]
    link[OWNER], link[BELOW], link[BEFORE], link[CALL] = frame, below, before, call
    link[NEXT] = sweep.frames.rows[frame, EDGE]
    sweep.frames.rows[frame, EDGE] = edge
    sweep.at[WORK] += 1


@bare_kernel
def _soonest(
    calls: Calls, sweep: Sweep, had: Integer, action: Integer, element: Integer
) -> Integer:
    """Returns the call that returns first, of the open ones of a kind that had no effect yet."""
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
def _lost_put(calls: Calls, sweep: Sweep, spent: Integer, it: Integer) -> Integer:
    """Returns a lost put of what a call takes that had no effect yet, NONE if none has begun."""
    value = calls.element[it]
    first, end = calls.lost_from[value], calls.lost_from[value + 1]
    used = spent // sweep.radix[value] % (end - first + 1)
    if first + used < end and calls.invoke[calls.lost[first + used]] < calls.complete[it]:
        return np.int64(calls.lost[first + used])
    return NONE


@bare_kernel
def _lost_take(calls: Calls, sweep: Sweep, spent: Integer, it: Integer) -> Integer:
    """Returns a lost take that had no effect yet, NONE if none has begun."""
    used = spent // sweep.radix[len(sweep.radix) - 1]
    if used < len(calls.spares) and calls.invoke[calls.spares[used]] < calls.complete[it]:
        return np.int64(calls.spares[used])
    return NONE
