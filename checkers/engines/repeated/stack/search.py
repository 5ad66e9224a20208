"""A search of bounded width for a legal order of a stack's calls, whose elements may be equal.

Kernels for `checkers.engines.repeated.stack.stack`, which says what a state is. It goes from
completion to completion, with the best states; where none is left it is turned back some
completions and keeps more, until it is past that one. Which states are the best is told by how long
the open calls have been open, and by the calls that follow
(`checkers.engines.repeated.stack.lookahead`); each time in another way, and every other time states
whose elements have other bounds are kept apart. A search that finds nothing shows nothing. Work is
counted in states met.
"""

from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.repeated.stack.cells import (
    BELOW,
    BOTTOM,
    CAP,
    HASH,
    HI,
    LO,
    ODD,
    ODD_UNIT,
    VALUE,
    WIDTH,
    compacted,
)
from kraftproof.checkers.engines.repeated.stack.layout import Calls, Ints
from kraftproof.checkers.engines.repeated.stack.lookahead import Ahead
from kraftproof.checkers.engines.repeated.stack.steps import (
    LOST,
    MOST_FOUND,
    MOST_MADE,
    POINTERS,
    ROW,
    SPARES,
    SPENT,
    TOP,
    USED,
    following,
    scratch,
    settle,
)
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel, kernel

_FIRST_KEPT: Final = 16
_WIDER: Final = 4
_STRIDE: Final = 32
"""One in so many completions can be turned back to."""
_MOST_TURNS: Final = 14
"""So often it is turned back farther and keeps more, to get past one completion; then anew."""
_MOST_ROUNDS: Final = 8
"""So often that begins anew, with other tastes."""
_CELLS: Final = 1 << 16
_SPENT_COST: Final = 3.0
"""What a call costs that need not have happened: as much as chance one in twenty."""
_LEAST_SHARE: Final = 0.02
_FREEDOM: Final = 0.02
_LOOKED_AT: Final = 12
_WEIGHTS: Final = (0.5, 0.5, 0.15, 0.15, 1.0, 1.0, 0.05, 0.3)
"""How much it counts, by taste, that the order of the stack is odd: the truth may be odd too."""
_LEAST_KINDS: Final = 64
"""The kept states are of so many kinds, or of all: else they would differ in deep elements only."""
_NEAR: Final = 3
"""So many elements from the top make up a kind, with the open calls that had their effect."""
_SEED: Final = 0x9E3779B97F4A7C15


@kernel
def search(
    calls: Calls, expected: Ahead, last: int, room: int, most: int, most_cells: int
) -> tuple[bool, Ints, Ints]:
    """Searches for an order of the calls up to a completion.

    Args:
        calls: those of one key.
        expected: what is expected of the stack.
        last: how many completions to go.
        room: so many states may be kept.
        most: so many may be met.
        most_cells: so many cells there may be.

    Returns:
        Whether one was found; the cells; and the state that it leads to.
    """
    cells, count = np.zeros((_CELLS, WIDTH), dtype=np.int64), 1
    cells[BOTTOM, CAP] = NEVER
    rows = np.zeros((1, ROW), dtype=np.int64)
    trail, level, failed, turned, rounds = [rows.copy()], 0, -1, 0, 0
    while level < last and most > 0 and len(cells) <= most_cells:
        if 2 * count > len(cells):
            cells, count = compacted(cells, count, [rows, *trail], POINTERS)
        if level == len(trail) * _STRIDE:
            trail.append(rows.copy())
        met, cells, count = _advance(calls, expected, level, cells, count, rows)
        most -= len(met)
        keep = min(_FIRST_KEPT * _WIDER ** ((turned + 1) // 2), room)
        rows = _best(calls, level, cells, met, keep, turned + 3 * rounds)
        if len(rows) > 0:
            level += 1
            if level > failed + _STRIDE:
                turned, rounds = 0, 0
            continue
        failed, turned = max(failed, level), turned + 1
        place = min(max(0, failed // _STRIDE - 2 ** (turned // 2)), len(trail) - 1)
        if rounds > _MOST_ROUNDS or (failed < _STRIDE and keep == room):
            break
        if turned > _MOST_TURNS:
            turned, rounds = 1, rounds + 1
        while len(trail) > place + 1:
            trail.pop()
        level, rows = place * _STRIDE, trail[place].copy()
    return level == last, cells, rows[0] if level == last else np.zeros(ROW, dtype=np.int64)


@kernel
def _advance(
    calls: Calls, expected: Ahead, level: int, cells: Ints, count: int, rows: Ints
) -> tuple[Ints, Ints, int]:
    """Returns the states after a completion, the cells, and how many of these there are."""
    met, known = np.empty((4 * len(rows) + MOST_FOUND, ROW), dtype=np.int64), 0
    found, ahead, path = scratch()
    for row in rows:
        if count + MOST_MADE > len(cells):
            cells = np.concatenate((cells, np.empty_like(cells)))
        settle(calls, level, row)
        several, count = following(calls, expected, level, cells, count, row, found, ahead, path)
        if known + several > len(met):
            larger = np.empty((2 * len(met) + several, met.shape[1]), dtype=np.int64)
            larger[:known] = met[:known]
            met = larger
        met[known : known + several] = found[:several]
        known += several
    return met[:known], cells, count


@kernel
def _best(calls: Calls, level: int, cells: Ints, rows: Ints, keep: int, taste: int) -> Ints:
    """Returns the best of some states, not too many of one kind; tastes differ."""
    is_apart, weight = taste % 2 == 1, _WEIGHTS[taste % len(_WEIGHTS)] / ODD_UNIT
    chance, cost = _chances(calls, level), np.empty(len(rows))
    for place in range(len(rows)):
        odd = cells[rows[place, TOP], ODD]
        cost[place] = _cost(cells, rows[place], chance) + weight * odd
    size = 4 * keep
    seen, kinds = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    alike, most_alike = np.zeros(size, dtype=np.int64), max(1, keep // _LEAST_KINDS)
    kept, known = np.empty(keep, dtype=np.int64), 0
    for place in np.argsort(cost, kind="mergesort"):
        if known == keep:
            break
        key, kind = _key(cells, rows[place], is_apart), _kind(cells, rows[place])
        at, near = _place(seen, key), _place(kinds, kind)
        if seen[at] == 0 and alike[near] < most_alike:
            kinds[near], alike[near] = kind, alike[near] + 1
            seen[at], kept[known] = key, place
            known += 1
    return rows[kept[:known]]


@bare_kernel
def _place(table: Ints, key: int) -> int:
    """Returns where in a table a number is, or may be put; 0 stands for none."""
    at = key % len(table)
    while table[at] != 0 and table[at] != key:
        at = (at + 1) % len(table)
    return at


@kernel
def _chances(calls: Calls, level: int) -> NDArray[np.float64]:
    """Returns how unlikely it is that open calls had no effect yet, or had: float64[2, slots]."""
    opened = calls.opened[level]
    chance = np.zeros((2, len(opened)))
    now = calls.complete[calls.levels[level]]
    for slot in range(len(opened)):
        call = opened[slot]
        if call >= 0 and calls.complete[call] > now:
            begun, over = calls.invoke[call], calls.complete[call]
            share = (now - begun) / (over - begun)
            chance[0, slot] = -log(max(1 - share, _LEAST_SHARE))
            chance[1, slot] = -log(max(share, _LEAST_SHARE))
    return chance


@bare_kernel
def _cost(cells: Ints, row: Ints, chance: NDArray[np.float64]) -> float:
    """Returns how unlikely a state is, the less free to put its elements elsewhere the more."""
    cost = _SPENT_COST * row[SPENT]
    for slot in range(chance.shape[1]):
        cost += chance[(row[USED] >> slot) & 1, slot]
    cell, cap = row[TOP], cells[row[TOP], CAP]
    for _ in range(_LOOKED_AT):
        if cell == BOTTOM:
            break
        cap = min(cap, cells[cell, CAP])
        cost -= _FREEDOM * (min(cells[cell, HI], cap) - cells[cell, LO])
        cell = cells[cell, BELOW]
    return float(cost)


@bare_kernel
def _kind(cells: Ints, row: Ints) -> int:
    """Returns a number that is the same for states that differ only deep in the stack."""
    mixed, cell = _mixed(np.uint64(row[USED]), 0), row[TOP]
    for _ in range(_NEAR):
        if cell == BOTTOM:
            break
        mixed = _mixed(mixed, cells[cell, VALUE] + 1)
        cell = cells[cell, BELOW]
    return int(mixed >> np.uint64(1)) | 1


@bare_kernel
def _key(cells: Ints, row: Ints, is_apart: bool) -> int:  # noqa: FBT001
    """Returns a number that differs for states that are to be kept apart."""
    mixed = np.uint64(cells[row[TOP], HASH])
    for part in (row[USED], row[SPARES], cells[row[LOST], HASH]):
        mixed = _mixed(mixed, part)
    cell, cap = row[TOP], NEVER
    for _ in range(_LOOKED_AT):
        if not is_apart or cell == BOTTOM:
            break
        cap = min(cap, cells[cell, CAP])
        for part in (cells[cell, LO], min(cap, cells[cell, HI])):
            mixed = _mixed(mixed, part)
        cell = cells[cell, BELOW]
    return int(mixed >> np.uint64(1)) | 1


@bare_kernel
def _mixed(mixed: np.uint64, part: int) -> np.uint64:
    mixed = (mixed + np.uint64(part)) * np.uint64(_SEED)
    return mixed ^ (mixed >> np.uint64(29))
