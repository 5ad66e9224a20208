"""A sweep over the completions of a stack, with the possible states at each.

The states of a completion are a table: all possible states, or the best of them.
`checkers.engines.repeated.stack.graph` states the order in which calls take effect, and
`checkers.engines.repeated.stack.graph_steps` makes each step.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    BOTTOM,
    COST,
    COUNT,
    FRAME,
    HAD,
    IS_FULL,
    NONE,
    SPENT,
    WORD,
    clear,
)
from kraftproof.checkers.engines.repeated.stack.graph_heuristic import Selection, keep_best
from kraftproof.checkers.engines.repeated.stack.graph_steps import (
    keep_as_is,
    put_on_top,
    take_at_once,
    take_top,
)
from kraftproof.checkers.engines.repeated.stack.graph_workspace import (
    ARRIVED,
    LEVEL,
    NONES,
    OPEN,
    WORK,
    Sweep,
)
from kraftproof.checkers.engines.repeated.stack.layout import Calls
from kraftproof.checkers.kernels import bare_kernel, kernel

PASSED: Final = -1
FULL: Final = -2
OUT_OF_WORK: Final = -3


@kernel
def sweep_levels(
    calls: Calls, sweep: Sweep, last: Integer, most: Integer, selection: Selection
) -> Integer:
    """Pass completions, from where the sweep stands to `last`.

    Args:
        calls: the calls of a key.
        sweep: where it stands.
        last: how many completions to pass, from the first.
        most: how much work to do at most.
        selection: how many states to keep, and which; of all of them nothing is left out.

    Returns:
        The first call that no state passes, PASSED, FULL before a completion for which there is too
        little capacity, or OUT_OF_WORK.
    """
    at = sweep.at
    while at[LEVEL] < last:
        counts = sweep.frames.at[COUNT], sweep.edges.at[COUNT], sweep.words.at[COUNT]
        it = calls.levels[at[LEVEL]]
        _begin(calls, sweep, it)
        _pass(calls, sweep, it)
        if _is_full(sweep, selection.kept == 0):
            sweep.frames.at[COUNT], sweep.edges.at[COUNT], sweep.words.at[COUNT] = counts
            return FULL
        if sweep.passed.at[COUNT] == 0:
            return np.int64(it)
        keep_best(calls, sweep, it, selection)
        at[LEVEL] += 1
        if at[WORK] > most:
            return OUT_OF_WORK
    return PASSED


@bare_kernel
def _is_full(sweep: Sweep, are_all_kept: bool) -> bool:  # noqa: FBT001 a kernel
    """Return whether a necessary row had no capacity, and reset the marks."""
    full = sweep.frames.at[IS_FULL] + sweep.edges.at[IS_FULL] + sweep.words.at[IS_FULL]
    if are_all_kept:
        full += sweep.passed.at[IS_FULL] + sweep.seen.at[IS_FULL] + sweep.made.at[IS_FULL]
    sweep.frames.at[IS_FULL] = sweep.edges.at[IS_FULL] = sweep.words.at[IS_FULL] = 0
    return bool(full > 0)


@bare_kernel
def _begin(calls: Calls, sweep: Sweep, it: Integer) -> None:
    """List the open calls by their completions, and what is indeterminate, as a call returns."""
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
    arrived = sweep.at[ARRIVED]
    while arrived < len(calls.kinds) and calls.invoke[calls.arrivals[arrived]] < calls.complete[it]:
        sweep.begun[calls.kinds[arrived]] += 1
        arrived += 1
    sweep.at[ARRIVED] = arrived


@bare_kernel
def _pass(calls: Calls, sweep: Sweep, it: Integer) -> None:
    """Let a returning call take effect in every state in which it has not yet."""
    clear(sweep.passed)
    clear(sweep.seen)
    clear(sweep.made)
    bit = 1 << calls.slot[it]
    for place in range(sweep.frontier.at[COUNT]):
        row = sweep.frontier.rows[place]
        had, frame, word, cost, spent = row[HAD], row[FRAME], row[WORD], row[COST], row[SPENT]
        if frame == BOTTOM:
            had |= sweep.at[NONES]
        if had & bit != 0:
            keep_as_is(sweep, sweep.passed, had & ~bit, frame, word, cost, spent)
            continue
        if calls.action[it] == TAKE:
            take_at_once(calls, sweep, it, had, place)
        keep_as_is(sweep, sweep.seen, had, frame, word, cost, spent)
    place = 0
    while place < sweep.seen.at[COUNT]:
        take_top(calls, sweep, it, place)
        place += 1
    if calls.action[it] == PUT:
        place = 0
        while place < sweep.seen.at[COUNT]:
            put_on_top(calls, sweep, it, place)
            place += 1
    sweep.at[WORK] += sweep.frontier.at[COUNT] + sweep.seen.at[COUNT]
