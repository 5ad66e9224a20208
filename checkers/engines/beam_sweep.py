"""The search by returns: from one return to the next, with the best configurations of each.

Kernels for `checkers.engines.beam`, which says why they are right.
"""

from typing import Final, NamedTuple

import numpy as np

from checkers.engines.beam_layout import Ints, Layout
from checkers.engines.beam_rows import (
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
from checkers.engines.beam_steps import DONE, STATE, USED, is_legal, is_needed, place, settle
from checkers.engines.beam_window import OPEN, Window, bit, enter, new_window
from checkers.engines.beam_worth import COST
from checkers.kernels import bare_kernel

POSITION: Final = 0
WORK: Final = 1
ROUND: Final = 2

_STEP: Final = 8
"""What an update costs that is tried, in comparisons of two configurations."""
_ROOM: Final = 32
"""Rows in a pool for each that is kept of a return."""


class Search(NamedTuple):
    """What a search works with.

    Attributes:
        window: what is open.
        here: the configurations met at a return.
        there: those that passed it.
        met: int64[2 * kinds], the last ROUND in which a call of each kind was tried, that was not
            done or was.
        at: int64[3], the POSITION among the returns, the WORK done, and the ROUND.
    """

    window: Window
    here: Pool
    there: Pool
    met: Ints
    at: Ints


def new_search(layout: Layout, most: int) -> Search:
    """Returns a search at the beginning, with room for so many configurations of a return."""
    columns = columns_of(layout)
    search = Search(
        window=new_window(layout),
        here=new_pool(_ROOM * most, columns),
        there=new_pool(_ROOM * most, columns),
        met=np.zeros(2 * layout.kinds, dtype=np.int64),
        at=np.zeros(3, dtype=np.int64),
    )
    search.there.rows[0, STATE : STATE + len(layout.initial)] = layout.initial
    search.there.is_kept[0], search.there.at[SIZE] = True, 1
    return search


def columns_of(layout: Layout) -> int:
    """Returns how many columns a configuration has."""
    return STATE + len(layout.initial) + len(layout.lost)


def bytes_of(layout: Layout, most: int) -> int:
    """Returns how much memory a search takes."""
    return 2 * _ROOM * most * (8 * columns_of(layout) + 16)


@bare_kernel
def sweep(
    layout: Layout, search: Search, most: int, until: int, horizon: int, depth: int, work: int
) -> bool:
    """Goes on to a position; says whether a configuration comes there.

    Args:
        layout: the calls.
        search: where it stands.
        most: so many configurations of a return are kept.
        until: the position.
        horizon: the last event by which calls have to return.
        depth: so many updates are tried at most to use a call that returns and is done already.
        work: it stops after so much, too, before `until`.
    """
    at, here, there, window = search.at, search.here, search.there, search.window
    while at[POSITION] < until and at[WORK] < work:
        enter(layout, window, at[POSITION])
        clear(here)
        for number in range(there.at[SIZE]):
            if there.is_kept[number] and not is_full(here):
                draft(here, there.rows[number])
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
def _pass(layout: Layout, search: Search, call: int, most: int, horizon: int, depth: int) -> None:
    """Finds the configurations that pass a return, from those that come to it."""
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
                _let_pass(search, row, mark, here.scores[number] + COST * int(is_used))
            if is_done and layout.updates[call] and not is_used and level >= depth:
                here.at[DROPPED] += 1
            elif not is_done or (layout.updates[call] and not is_used):
                _expand(layout, search, row, call, horizon, depth)
            search.at[WORK] += _STEP
        first = last


@bare_kernel
def _let_pass(search: Search, row: Ints, mark: int, score: int) -> None:
    """Adds a configuration to those that passed a return."""
    there = search.there
    if not is_full(there):
        draft(there, row)
        there.rows[there.at[SIZE], DONE] &= ~mark
        there.rows[there.at[SIZE], USED] &= ~mark
        add(there, search.window, score)


@bare_kernel
def _expand(
    layout: Layout, search: Search, row: Ints, returning: int, horizon: int, depth: int
) -> None:
    """Adds what a configuration becomes by each update that is legal."""
    window, registers = search.window, len(layout.initial)
    search.at[ROUND] += 1
    for call in window.calls[: window.at[OPEN]]:
        mark = bit(layout, call)
        if layout.updates[call] and row[USED] & mark == 0:
            kind = 2 * layout.kind[call] + int(row[DONE] & mark != 0)
            if search.met[kind] != search.at[ROUND]:
                search.met[kind] = search.at[ROUND]
                if is_needed(layout, window, row, call, returning, depth):
                    _follow(layout, search, row, call, horizon)
    for lost in range(len(window.lost)):
        call, is_left = layout.lost[lost], row[STATE + registers + lost] < window.lost[lost]
        if is_left and is_needed(layout, window, row, call, returning, depth):
            _follow(layout, search, row, call, horizon)


@bare_kernel
def _follow(layout: Layout, search: Search, row: Ints, call: int, horizon: int) -> None:
    here = search.here
    search.at[WORK] += _STEP
    if is_legal(layout, row, call) and not is_full(here):
        draft(here, row)
        place(layout, search.window, here.rows[here.at[SIZE]], call)
        judge_and_add(layout, here, search.window, horizon)


def positions(layout: Layout, cut: int) -> int:
    """Returns how many calls return up to an event."""
    return int(np.searchsorted(layout.complete[layout.returning], cut, side="right"))
