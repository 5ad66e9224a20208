"""Stacks that share what lies deep in them: cells that are never changed, for a search of many.

Kernels for `checkers.engines.repeated.stack.search`. An arena is int64[n, WIDTH], a cell a row;
what a cell lies on was made before it, row 0 is the bottom. An element's cell has when its put was
invoked and by when it has to be put at the latest: by its completion, and below its `CAP`, which
holds for all that lies below as well; and how odd it is that it lies there, with all below it, and
how many of each group of elements are there (`checkers.engines.repeated.stack.lookahead`).
"""

from typing import Final

import numpy as np

from kraftproof.checkers.engines.repeated.stack.lookahead import GROUPS, Ahead, Ints, oddness
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel, kernel

BELOW: Final = 0
CALL: Final = 1
VALUE: Final = 2
LO: Final = 3
HI: Final = 4
CAP: Final = 5
HASH: Final = 6
ODD: Final = 7
COUNTS: Final = 8
WIDTH: Final = COUNTS + GROUPS
BOTTOM: Final = 0
ODD_UNIT: Final = 100
"""How odd a place is, is told in hundredths."""

DEEPEST: Final = 40
"""So far down an element is looked for."""


@bare_kernel
def make(cells: Ints, count: int, below: int, call: int, value: int) -> int:
    """Makes a cell; returns its number, which is `count` now: the next one is one more."""
    mixed = np.uint64(cells[below, HASH] + value + 1) * np.uint64(0x9E3779B97F4A7C15)
    cells[count, BELOW], cells[count, CALL], cells[count, VALUE] = below, call, value
    cells[count, LO], cells[count, HI], cells[count, CAP] = -1, NEVER, NEVER
    cells[count, HASH] = np.int64((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(1))
    return count


@bare_kernel
def take_out(
    ahead: Ahead, level: int, net: Ints, cells: Ints, count: int, path: Ints, depth: int
) -> tuple[int, int, int]:
    """Takes out the last element of a path from the top, below which all others of it were put.

    Args:
        ahead: what is expected of the stack.
        level: the completion.
        net: how many more lost puts than lost takes had their effect, by group.
        cells: the arena.
        count: how many cells it has.
        path: int64[DEEPEST], from the top.
        depth: the place of the last.

    Returns:
        The new top, by when the element was put at the latest, and the number of cells.
    """
    it, cap = path[depth], NEVER
    for place in range(depth + 1):
        cap = min(cap, cells[path[place], CAP])
    latest, top = min(cells[it, HI], cap), cells[it, BELOW]
    if top != BOTTOM and cells[top, CAP] > latest:
        top = _again(ahead, level, net, cells, count, top, cells[top, BELOW], latest)
        count += 1
    for place in range(depth - 1, -1, -1):
        top = _again(ahead, level, net, cells, count, path[place], top, latest)
        count += 1
    return top, latest, count


@bare_kernel
def _again(
    ahead: Ahead, level: int, net: Ints, cells: Ints, count: int, it: int, below: int, cap: int
) -> int:
    make(cells, count, below, cells[it, CALL], cells[it, VALUE])
    cells[count, LO], cells[count, HI] = cells[it, LO], cells[it, HI]
    cells[count, CAP] = min(cap, cells[it, CAP])
    weigh(ahead, level, net, cells, count)
    return count


@bare_kernel
def weigh(ahead: Ahead, level: int, net: Ints, cells: Ints, it: int) -> None:
    """Says how odd it is that a cell comes to lie where it does, as `oddness`, and all below it."""
    below, own = cells[it, BELOW], cells[it, VALUE] % GROUPS
    for column in range(COUNTS, WIDTH):
        cells[it, column] = cells[below, column]
    cells[it, COUNTS + own] += 1
    odd = oddness(ahead, level, net, cells[it, COUNTS:], own)
    cells[it, ODD] = cells[below, ODD] + np.int64(ODD_UNIT * odd)


@bare_kernel
def reachable(cells: Ints, top: int, path: Ints, depth: int, highest: int, cap: int) -> bool:
    """Says whether the last of a path can be on top: all others can have been put below it.

    Args:
        cells: the arena.
        top: the last of the path.
        path: int64[DEEPEST], from the top.
        depth: its place.
        highest: the last invocation of a put of the others.
        cap: the least of what caps it.

    Returns:
        Whether it can, and leaves no better one of the same value: that is one put later, and
        invoked before.
    """
    if highest >= min(cells[top, HI], cap):
        return False
    for place in range(depth):
        other = path[place]
        if cells[other, VALUE] == cells[top, VALUE] and cells[other, LO] >= cells[top, LO]:
            return False
    return True


@bare_kernel
def _mark(cells: Ints, rows: Ints, place: Ints) -> None:
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            cell = rows[row, column]
            while place[cell] == 0:
                place[cell] = 1
                cell = cells[cell, BELOW]


@kernel
def compacted(cells: Ints, count: int, roots: list[Ints], pointers: int) -> tuple[Ints, int]:
    """Keeps what some rows lead to, whose first columns are numbers of cells; rewrites both.

    Returns:
        The arena, twice as large if it was half full; and how many cells it has.
    """
    place, kept = np.zeros(count, dtype=np.int64), 0
    place[BOTTOM] = 1
    for rows in roots:
        _mark(cells, rows[:, :pointers], place)
    for cell in range(count):
        if place[cell]:
            place[cell] = kept
            cells[kept] = cells[cell]
            cells[kept, BELOW] = place[cells[kept, BELOW]]
            kept += 1
    for rows in roots:
        for row in range(len(rows)):
            for column in range(pointers):
                rows[row, column] = place[rows[row, column]]
    if 4 * kept > len(cells):
        larger = np.empty((2 * len(cells), cells.shape[1]), dtype=np.int64)
        larger[:kept] = cells[:kept]
        return larger, kept
    return cells, kept
