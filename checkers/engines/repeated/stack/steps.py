"""One step of the search for an order of a stack's calls: what may come by a completion.

Kernels for `checkers.engines.repeated.stack.search`. A state is a row of numbers: the cell on top;
the last cell of its log, in which each take that took something is, with what it took; that of the
lost puts it used, by value; which of the calls that are open have had their effect, by slot; how
many takes without a known answer have; how many calls have that need not have had; and of these how
many more puts than takes, by group of elements.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE
from kraftproof.checkers.engines.repeated.stack.cells import (
    BELOW,
    BOTTOM,
    CALL,
    CAP,
    DEEPEST,
    HI,
    LO,
    VALUE,
    make,
    reachable,
    take_out,
    weigh,
)
from kraftproof.checkers.engines.repeated.stack.layout import Calls
from kraftproof.checkers.engines.repeated.stack.lookahead import GROUPS, Ahead, Ints
from kraftproof.checkers.kernels import bare_kernel, kernel

TOP: Final = 0
LOG: Final = 1
LOST: Final = 2
POINTERS: Final = 3
USED: Final = 3
SPARES: Final = 4
SPENT: Final = 5
NET: Final = 6
ROW: Final = NET + GROUPS

MOST_FOUND: Final = 256
MOST_MADE: Final = 2 * MOST_FOUND + 8 * DEEPEST
"""So much room one step from one state is given; what would take more is left out."""
_MOST_SPARES: Final = 2
"""So many takes without a known answer have their effect by one completion and not before."""
PAIRED: Final = -1
"""The moment of a put that a take follows at once."""


@kernel
def scratch() -> tuple[Ints, Ints, Ints]:
    """Returns arrays for `following`: of states found, of states on the way, and a path."""
    found = np.empty((MOST_FOUND, ROW), dtype=np.int64)
    return found, np.empty_like(found), np.empty(DEEPEST, dtype=np.int64)


@bare_kernel
def _copy(row: Ints, to: Ints) -> None:
    for number in range(len(row)):
        to[number] = row[number]


@bare_kernel
def settle(calls: Calls, level: int, row: Ints) -> None:
    """Lets takes find none that are open while nothing is there."""
    if row[TOP] == BOTTOM:
        for slot in range(calls.opened.shape[1]):
            call = calls.opened[level, slot]
            if call >= 0 and calls.action[call] == FOUND_NONE:
                row[USED] |= 1 << slot


@bare_kernel
def following(
    calls: Calls,
    expected: Ahead,
    level: int,
    cells: Ints,
    count: int,
    row: Ints,
    found: Ints,
    ahead: Ints,
    path: Ints,
) -> tuple[int, int]:
    """Finds the states after a completion; returns how many, and the number of cells."""
    it = calls.levels[level]
    bit, value = 1 << calls.slot[it], calls.element[it]
    if row[USED] & bit:
        _copy(row, found[0])
        found[0, USED] ^= bit
        return 1, count
    known = 0
    if calls.action[it] == TAKE:
        known, count = _paired(calls, level, cells, count, row, found)
    _copy(row, ahead[0])
    waiting, done = 1, 0
    while done < waiting and known < MOST_FOUND:
        state = ahead[done]
        done += 1
        if calls.action[it] == PUT:
            _copy(state, found[known])
            cell = make(cells, count, state[TOP], it, value)
            cells[cell, LO], cells[cell, HI] = calls.invoke[it], calls.complete[it]
            weigh(expected, level, state[NET:], cells, cell)
            found[known, TOP], count, known = cell, count + 1, known + 1
        elif calls.action[it] == FOUND_NONE and state[TOP] == BOTTOM:
            _copy(state, found[known])
            found[known, USED] &= ~bit
            known += 1
        if calls.action[it] == TAKE:
            known, count = _taken(
                calls, expected, level, cells, count, state, value, found, known, path
            )
        waiting, count = _taken(
            calls, expected, level, cells, count, state, -1, ahead, waiting, path
        )
    return known, count


@bare_kernel
def _paired(
    calls: Calls, level: int, cells: Ints, count: int, row: Ints, found: Ints
) -> tuple[int, int]:
    """Finds the states in which a take took what was put just before; as `following`."""
    it, known = calls.levels[level], 0
    value, now = calls.element[it], calls.complete[it]
    slot = _open(calls, level, row[USED], PUT, value)
    if slot >= 0:
        _copy(row, found[known])
        found[known, USED] |= 1 << slot
        put = calls.opened[level, slot]
        found[known, LOG] = _told(cells, count, row[LOG], it, put, now, PAIRED)
        known, count = known + 1, count + 1
    last = row[LOST]
    while last != BOTTOM and cells[last, VALUE] != value:
        last = cells[last, BELOW]
    number = calls.lost_from[value] + (cells[last, LO] if last != BOTTOM else 0)
    if number < calls.lost_from[value + 1] and calls.invoke[calls.lost[number]] < now:
        _copy(row, found[known])
        found[known, SPENT] += 1
        found[known, NET + value % GROUPS] += 1
        found[known, LOST] = make(cells, count, row[LOST], -1, value)
        cells[count, LO] = number + 1 - calls.lost_from[value]
        put = calls.lost[number]
        found[known, LOG] = _told(cells, count + 1, row[LOG], it, put, now, PAIRED)
        known, count = known + 1, count + 2
    return known, count


@bare_kernel
def _taken(
    calls: Calls,
    expected: Ahead,
    level: int,
    cells: Ints,
    count: int,
    row: Ints,
    value: int,
    found: Ints,
    known: int,
    path: Ints,
) -> tuple[int, int]:
    """Finds the states after one more take.

    Args:
        calls: all calls.
        expected: what is expected of the stack.
        level: the completion.
        cells: the arena.
        count: how many cells it has.
        row: the state.
        value: what the call takes that completes, -1 for any other take that is open.
        found: the states, to be added to.
        known: how many these are.
        path: int64[DEEPEST], for its own use.

    Returns:
        How many there are then, and the number of cells.
    """
    it = calls.levels[level]
    cell, highest, cap = row[TOP], -1, cells[row[TOP], CAP]
    for depth in range(DEEPEST):
        if cell == BOTTOM or highest >= cap or known + 2 > len(found):
            break
        if count + MOST_FOUND + 4 * DEEPEST > len(cells):
            break
        path[depth], cap = cell, min(cap, cells[cell, CAP])
        slot = -1
        if value < 0:
            but = row[USED] | (1 << calls.slot[it])
            slot = _open(calls, level, but, TAKE, cells[cell, VALUE])
        elif cells[cell, VALUE] == value:
            slot = calls.slot[it]
        if slot >= 0 and reachable(cells, cell, path, depth, highest, cap):
            take = calls.opened[level, slot]
            _copy(row, found[known])
            if value < 0:
                found[known, USED] |= 1 << slot
            count = _without(calls, expected, level, cells, count, found[known], path, depth, take)
            known += 1
        more = row[SPARES] - found[0, SPARES]
        if value < 0 and depth == 0 and more < _MOST_SPARES and _has_spare(calls, level, row):
            _copy(row, found[known])
            found[known, SPARES] += 1
            found[known, SPENT] += 1
            found[known, NET + cells[cell, VALUE] % GROUPS] -= 1
            take = calls.lost[calls.lost_from[-2] + row[SPARES]]
            count = _without(calls, expected, level, cells, count, found[known], path, depth, take)
            known += 1
        highest, cell = max(highest, cells[cell, LO]), cells[cell, BELOW]
    return known, count


@bare_kernel
def _has_spare(calls: Calls, level: int, row: Ints) -> bool:
    """Says whether a lost take is left: of the lost calls they are the last kind."""
    number = calls.lost_from[-2] + row[SPARES]
    if number >= len(calls.lost):
        return False
    return bool(calls.invoke[calls.lost[number]] < calls.complete[calls.levels[level]])


@bare_kernel
def _without(
    calls: Calls,
    expected: Ahead,
    level: int,
    cells: Ints,
    count: int,
    row: Ints,
    path: Ints,
    depth: int,
    take: int,
) -> int:
    """Changes a state to the one after a take of the last of a path; returns the count of cells."""
    now = calls.complete[calls.levels[level]]
    row[TOP], latest, count = take_out(expected, level, row[NET:], cells, count, path, depth)
    put = cells[path[depth], CALL]
    row[LOG] = _told(cells, count, row[LOG], take, put, now, latest)
    settle(calls, level, row)
    return count + 1


@bare_kernel
def _told(cells: Ints, count: int, before: int, take: int, put: int, now: int, latest: int) -> int:
    """Writes down that a take took what was put: when, and by when that was put at the latest."""
    cell = make(cells, count, before, take, put)
    cells[cell, LO], cells[cell, HI] = now, latest
    return cell


@bare_kernel
def _open(calls: Calls, level: int, used: int, action: int, value: int) -> int:
    """Returns the slot of the open call of a kind that completes first, -1 if there is none."""
    best = -1
    for slot in range(calls.opened.shape[1]):
        call = calls.opened[level, slot]
        if call < 0 or (used >> slot) & 1:
            continue
        if calls.action[call] != action or calls.element[call] != value:
            continue
        if best < 0 or calls.complete[call] < calls.complete[calls.opened[level, best]]:
            best = slot
    return best
