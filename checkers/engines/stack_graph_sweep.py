"""A sweep over the completions of a stack, with all that may be there at each.

What is there at each completion is a table of states. In which order calls have their effect, the
top of `checkers.engines.stack_graph` says; `checkers.engines.stack_graph_steps` makes each step.
"""

from typing import Final

import numpy as np

from checkers.calls.containers import FOUND_NONE, PUT, TAKE
from checkers.engines.register_layout import Integer
from checkers.engines.stack_graph_rows import (
    BOTTOM,
    COUNT,
    FRAME,
    HAD,
    IS_FULL,
    NONE,
    SPENT,
    WORD,
    clear,
    put,
)
from checkers.engines.stack_graph_space import LEVEL, NONES, OPEN, WORK, Sweep
from checkers.engines.stack_graph_steps import put_on_top, take_at_once, take_top
from checkers.engines.stack_steps import Calls
from checkers.kernels import bare_kernel

PASSED: Final = -1
FULL: Final = -2
OUT_OF_WORK: Final = -3


@bare_kernel
def sweep_levels(calls: Calls, sweep: Sweep, last: Integer, most: Integer) -> Integer:
    """Passes completions, from where the sweep stands to `last`.

    Returns:
        The first call that no state passes, PASSED, FULL before a completion for which there is too
        little room, or OUT_OF_WORK where more work than `most` was done.
    """
    at = sweep.at
    while at[LEVEL] < last:
        counts = sweep.frames.at[COUNT], sweep.edges.at[COUNT], sweep.words.at[COUNT]
        it = calls.levels[at[LEVEL]]
        _list_open(calls, sweep)
        _pass(calls, sweep, it)
        if _is_full(sweep):
            sweep.frames.at[COUNT], sweep.edges.at[COUNT], sweep.words.at[COUNT] = counts
            return FULL
        if sweep.passed.at[COUNT] == 0:
            return np.int64(it)
        _take_over(sweep)
        at[LEVEL] += 1
        if at[WORK] > most:
            return OUT_OF_WORK
    return PASSED


@bare_kernel
def _is_full(sweep: Sweep) -> bool:
    """Says whether something had no room, and forgets that."""
    full = sweep.passed.at[IS_FULL] + sweep.seen.at[IS_FULL] + sweep.made.at[IS_FULL]
    full += sweep.frames.at[IS_FULL] + sweep.edges.at[IS_FULL] + sweep.words.at[IS_FULL]
    sweep.frames.at[IS_FULL] = sweep.edges.at[IS_FULL] = sweep.words.at[IS_FULL] = 0
    return bool(full > 0)


@bare_kernel
def _take_over(sweep: Sweep) -> None:
    """Makes what passed the frontier."""
    count = sweep.passed.at[COUNT]
    for place in range(count):
        for column in range(WORD + 1):
            sweep.frontier.rows[place, column] = sweep.passed.rows[place, column]
    sweep.frontier.at[COUNT] = count


@bare_kernel
def _list_open(calls: Calls, sweep: Sweep) -> None:
    """Lists the open calls by their completions, and the bits of those that found none."""
    count, nones = 0, 0
    for slot in range(calls.opened.shape[1]):
        call = np.int64(calls.opened[sweep.at[LEVEL], slot])
        if call == NONE:
            continue
        if calls.action[call] == FOUND_NONE:
            nones |= 1 << slot
        place = count
        while place > 0 and calls.complete[sweep.opened[place - 1]] > calls.complete[call]:
            sweep.opened[place] = sweep.opened[place - 1]
            place -= 1
        sweep.opened[place] = call
        count += 1
    sweep.at[OPEN], sweep.at[NONES] = count, nones


@bare_kernel
def _pass(calls: Calls, sweep: Sweep, it: Integer) -> None:
    """Has a call that returns have its effect, in every state in which it has not had it yet."""
    clear(sweep.passed)
    clear(sweep.seen)
    clear(sweep.made)
    bit = 1 << calls.slot[it]
    for place in range(sweep.frontier.at[COUNT]):
        row = sweep.frontier.rows[place]
        had, spent, frame, word = row[HAD], row[SPENT], row[FRAME], row[WORD]
        if frame == BOTTOM:
            had |= sweep.at[NONES]
        if had & bit != 0:
            put(sweep.passed, had & ~bit, spent, frame, word)
            continue
        if calls.action[it] == TAKE:
            take_at_once(calls, sweep, it, had, spent, frame, word)
        put(sweep.seen, had, spent, frame, word)
    sweep.at[WORK] += sweep.frontier.at[COUNT]
    place = 0
    while place < sweep.seen.at[COUNT]:
        take_top(calls, sweep, it, place)
        place += 1
    if calls.action[it] == PUT:
        place = 0
        while place < sweep.seen.at[COUNT]:
            put_on_top(calls, sweep, it, place)
            place += 1
