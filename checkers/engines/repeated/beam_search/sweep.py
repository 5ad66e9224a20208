"""The search by returns: from one return to the next, with the best configurations of each.

Kernels for `checkers.engines.repeated.beam_search.beam_search`, which says why they are right.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.engines.repeated.beam_search.configurations import (
    COMPARED,
    DROPPED,
    SIZE,
    Pool,
    add,
    clear,
    draft,
    is_full,
    judge_and_add,
    new_pool,
    thin_out,
)
from kraftproof.checkers.engines.repeated.beam_search.heuristic import COST
from kraftproof.checkers.engines.repeated.beam_search.steps import (
    DONE,
    STATE,
    USED,
    is_legal,
    is_needed,
    place,
    settle,
)
from kraftproof.checkers.engines.repeated.beam_search.window import (
    OPEN,
    Window,
    bit,
    enter,
    new_window,
)
from kraftproof.checkers.engines.repeated.layout import Ints, Layout
from kraftproof.checkers.kernels import bare_kernel

POSITION: Final = 0
WORK: Final = 1
ROUND: Final = 2
NODES: Final = 3

BEFORE: Final = 0
"""The column of a log that tells the update before."""

_STEP: Final = 8
"""What an update costs that is tried, in comparisons of two configurations."""
_CAPACITY: Final = 32
"""Rows in a pool for each that is kept of a return."""
_LOGGED: Final = 8 * _CAPACITY
"""Updates in a log for each row that is kept of a return."""


class Search(NamedTuple):
    """The workspace of a search.

    Attributes:
        window: The open calls.
        here: The configurations met at a return.
        there: The configurations past the return.
        met: int64[2 * kinds], the last ROUND in which a call of each kind was tried, unfinished or
            done.
        log: int64[., 6], the updates used since the search last began: the update BEFORE it, the
            CALL, the position AT which it was used, and the calls done EARLIER, WITH it (hidden by
            it), and LATER (harmless then). The k-th row of the beginning has the number -1 - k.
            Empty if no order is asked for.
        at: int64[4], the POSITION among the returns, the WORK done, the ROUND, and the NODES of the
            log.
    """

    window: Window
    here: Pool
    there: Pool
    met: Ints
    log: Ints
    at: Ints


def new_search(layout: Layout, most: int, *, is_logged: bool = False) -> Search:
    """Return a search at the beginning, with capacity for so many configurations of a return."""
    columns, registers = columns_of(layout), len(layout.initial)
    search = Search(
        window=new_window(layout),
        here=new_pool(_CAPACITY * most, columns, registers),
        there=new_pool(_CAPACITY * most, columns, registers),
        met=np.zeros(2 * layout.kinds, dtype=np.int64),
        log=np.zeros((_LOGGED * most if is_logged else 0, 6), dtype=np.int64),
        at=np.zeros(4, dtype=np.int64),
    )
    search.there.rows[0, STATE : STATE + registers] = layout.initial
    search.there.is_kept[0], search.there.at[SIZE] = True, 1
    return search


def columns_of(layout: Layout) -> int:
    """Return how many columns a configuration has."""
    return STATE + len(layout.initial) + len(layout.indeterminate)


def bytes_of(layout: Layout, most: int) -> int:
    """Return how much memory a search takes."""
    return 2 * _CAPACITY * most * (8 * columns_of(layout) + 16)


@bare_kernel
def sweep(
    layout: Layout, search: Search, most: int, until: int, horizon: int, depth: int, work: int
) -> bool:
    """Go on to a position; return whether a configuration comes there.

    Args:
        layout: the calls.
        search: where it stands.
        most: so many configurations of a return are kept.
        until: the position.
        horizon: the last event by which calls have to return.
        depth: so many updates are tried at most to use a returning call and is done already.
        work: it stops after so much, too, before `until`, and where the log may not do.
    """
    at, here, there, window = search.at, search.here, search.there, search.window
    while at[POSITION] < until and at[WORK] < work and _has_capacity(search):
        enter(layout, window, at[POSITION])
        clear(here)
        for number in range(there.at[SIZE]):
            if there.is_kept[number] and not is_full(here):
                draft(here, there.rows[number], there.nodes[number])
                settle(layout, window, here.rows[here.at[SIZE]])
                judge_and_add(layout, here, window, horizon)
        clear(there)
        _pass(layout, search, layout.returning[at[POSITION]], most, horizon, depth)
        at[WORK] += here.at[COMPARED] + there.at[COMPARED]
        here.at[COMPARED] = there.at[COMPARED] = 0
        if there.at[SIZE] == 0:
            return False
        thin_out(there, 0, most)
        at[POSITION] += 1
    return True


@bare_kernel
def _has_capacity(search: Search) -> bool:
    """Return whether the log has capacity for all configurations of a return."""
    return len(search.log) == 0 or search.at[NODES] + len(search.here.rows) <= len(search.log)


@bare_kernel
def _pass(layout: Layout, search: Search, call: int, most: int, horizon: int, depth: int) -> None:
    """Find the configurations that pass a return."""
    here, mark = search.here, bit(layout, call)
    first, level = 0, 0
    while first < here.at[SIZE]:
        thin_out(here, first, most)
        last = here.at[SIZE]
        level += 1
        for number in range(first, last):
            if not here.is_kept[number]:
                continue
            row = here.rows[number]
            is_done, is_used = row[DONE] & mark != 0, row[USED] & mark != 0
            if is_done:
                _let_pass(search, number, mark, here.scores[number] + COST * int(is_used))
            if is_done and layout.updates[call] and not is_used and level >= depth:
                here.at[DROPPED] += 1
            elif not is_done or (layout.updates[call] and not is_used):
                _expand(layout, search, number, call, horizon, depth)
            search.at[WORK] += _STEP
        first = last


@bare_kernel
def _let_pass(search: Search, number: int, mark: int, score: int) -> None:
    """Add a configuration to those that passed a return."""
    here, there = search.here, search.there
    if not is_full(there):
        draft(there, here.rows[number], here.nodes[number])
        there.rows[there.at[SIZE], DONE] &= ~mark
        there.rows[there.at[SIZE], USED] &= ~mark
        add(there, search.window, score)


@bare_kernel
def _expand(
    layout: Layout, search: Search, number: int, returning: int, horizon: int, depth: int
) -> None:
    """Add what a configuration becomes by each update that is legal."""
    window, registers, row = search.window, len(layout.initial), search.here.rows[number]
    search.at[ROUND] += 1
    for call in window.calls[: window.at[OPEN]]:
        mark = bit(layout, call)
        if layout.updates[call] and row[USED] & mark == 0:
            kind = 2 * layout.kind[call] + int(row[DONE] & mark != 0)
            if search.met[kind] != search.at[ROUND]:
                search.met[kind] = search.at[ROUND]
                if is_needed(layout, window, row, call, returning, depth):
                    _follow(layout, search, number, call, horizon)
    for indeterminate in range(len(window.indeterminate)):
        call, is_left = (
            layout.indeterminate[indeterminate],
            row[STATE + registers + indeterminate] < window.indeterminate[indeterminate],
        )
        if is_left and is_needed(layout, window, row, call, returning, depth):
            _follow(layout, search, number, call, horizon)


@bare_kernel
def _follow(layout: Layout, search: Search, number: int, call: int, horizon: int) -> None:
    at, here, log = search.at, search.here, search.log
    row, size = here.rows[number], here.at[SIZE]
    at[WORK] += _STEP
    if not is_legal(layout, row, call) or is_full(here):
        return
    draft(here, row, at[NODES])
    following = here.rows[size]
    place(layout, search.window, following, call)
    done = following[DONE]
    settle(layout, search.window, following)
    judge_and_add(layout, here, search.window, horizon)
    if len(log) and here.at[SIZE] > size:
        node = here.nodes[number], call, at[POSITION], row[DONE], done, following[DONE]
        log[at[NODES]] = node
        at[NODES] += 1


def positions(layout: Layout, cut: int) -> int:
    """Return how many calls return up to an event."""
    return int(np.searchsorted(layout.complete[layout.returning], cut, side="right"))
