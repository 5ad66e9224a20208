"""Tables of a sweep over a graph-structured stack (`graph`).

A *frame* is an element, put after a set of open calls took effect, on top of one of the frames that
its *edges* name: a frame stands for all stacks with the same top, whatever lies below (Tomita's
graph-structured stack). A *word* is a finished sequence on top of a frame: an earlier word or none,
then a put, a word, and the take of the put element.

Tables have a fixed capacity. A row beyond the capacity is dropped, and the table is marked full.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.repeated.stack.layout import Ints
from kraftproof.checkers.kernels import bare_kernel

NONE: Final = -1
BOTTOM: Final = 0
"""The frame below all."""

HAD: Final = 0
FRAME: Final = 1
KEY: Final = 2
WORD: Final = 3
COST: Final = 4
SPENT: Final = 5
"""Columns of a state: the bits of the open calls that took effect; the top frame; a key that keeps
equal states apart; the word on top of the frame; the cost of the state; and the number of used
indeterminate calls, by kind."""

COLUMNS: Final = 6
"""Of a state."""

VALUE: Final = 0
EDGE: Final = 1
BEST: Final = 2
TOTAL: Final = 3
USES: Final = 4
EDGES: Final = 5
IS_FIXED: Final = 6
FRAME_COLUMNS: Final = 7
"""Columns of a frame: its element, its last edge, and its cheapest edge; the cost up to it by that
edge, and the indeterminate calls used; the number of edges; and whether the cheapest edge must
stay, since later costs rest on it."""

BELOW: Final = 0
BEFORE: Final = 1
CALL: Final = 2
NEXT: Final = 3
PAID: Final = 4
WENT: Final = 5
EDGE_COLUMNS: Final = 6
"""Columns of an edge: the frame below, the word on top of the frame below, the put, and the frame's
edge made before; the cost of the word, and the indeterminate calls that it used."""

OUTER: Final = 0
PUT_BY: Final = 1
INNER: Final = 2
TAKEN_BY: Final = 3
WORD_COLUMNS: Final = 4
"""Of a word."""

COUNT: Final = 0
AGE: Final = 1
IS_FULL: Final = 2


class Table(NamedTuple):
    """States, the same three keys once: HAD, FRAME and KEY.

    Attributes:
        rows: int64[capacity, COLUMNS].
        slots: int64[2^j], the places of rows by their hashes.
        ages: int64[2^j], in which age of the table each was filled.
        at: int64[3], the COUNT of rows, the table's AGE, and whether it IS FULL.
    """

    rows: Ints
    slots: Ints
    ages: Ints
    at: Ints


class Heap(NamedTuple):
    """Rows that refer to each other by number.

    Attributes:
        rows: int64[capacity, columns].
        number: int64[capacity], the new number of each row after unreachable rows were dropped.
        at: int64[3], the COUNT of rows; whether the heap IS FULL.
    """

    rows: Ints
    number: Ints
    at: Ints


def new_table(capacity: int) -> Table:
    """Return an empty table with capacity for so many rows, a power of two."""
    return Table(
        rows=np.zeros((capacity, COLUMNS), dtype=np.int64),
        slots=np.zeros(2 * capacity, dtype=np.int64),
        ages=np.zeros(2 * capacity, dtype=np.int64),
        at=np.array([0, 1, 0]),
    )


def new_heap(capacity: int, columns: int) -> Heap:
    """Return an empty heap."""
    return Heap(
        rows=np.zeros((capacity, columns), dtype=np.int64),
        number=np.zeros(capacity, dtype=np.int64),
        at=np.zeros(3, dtype=np.int64),
    )


@bare_kernel
def clear(table: Table) -> None:
    """Empty a table."""
    table.at[COUNT] = table.at[IS_FULL] = 0
    table.at[AGE] += 1


@bare_kernel
def place_of(
    table: Table, had: Integer, frame: Integer, key: Integer, cost: Integer
) -> tuple[Integer, bool]:
    """Find the row of a state, or add it.

    Returns:
        Its place, or the capacity if the table is full; and whether the row must be written: it is
        new, or has become cheaper.
    """
    rows, at = table.rows, table.at
    slot = _hash(had, frame, key) & (len(table.slots) - 1)
    while table.ages[slot] == at[AGE]:
        place = table.slots[slot]
        row = rows[place]
        if row[HAD] == had and row[FRAME] == frame and row[KEY] == key:
            is_less = cost < row[COST]
            if is_less:
                row[COST] = cost
            return np.int64(place), is_less
        slot = (slot + 1) & (len(table.slots) - 1)
    place = at[COUNT]
    if place == len(rows):
        at[IS_FULL] = 1
        return np.int64(place), False
    table.ages[slot], table.slots[slot] = at[AGE], place
    row = rows[place]
    row[HAD], row[FRAME], row[KEY], row[COST] = had, frame, key, cost
    at[COUNT] += 1
    return np.int64(place), True


@bare_kernel
def _hash(had: Integer, frame: Integer, key: Integer) -> Integer:
    mixed = np.uint64(had) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(frame)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return np.int64(mixed >> np.uint64(32))


@bare_kernel
def new_row(heap: Heap) -> Integer:
    """Return the number of a new row; of the last, unused row if there is no capacity."""
    new = heap.at[COUNT]
    if new == len(heap.rows) - 1:
        heap.at[IS_FULL] = 1
        return np.int64(new)
    heap.at[COUNT] += 1
    return np.int64(new)
