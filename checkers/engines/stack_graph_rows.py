"""Tables of a sweep over a stack whose states share what is below (`checkers.engines.stack_graph`).

A *frame* is an element that was put where certain calls had had their effect, on top of one of the
frames that its *edges* name: so one frame stands for all stacks that are alike in it, whatever is
below (Tomita's graph-structured stack). A *word* is what happened on top of a frame and is over:
another word, or nothing, then a put, a word, and the take of what was put.

Tables have a room. What is added beyond it is not there, and the table says that it is full.
"""

from typing import Final, NamedTuple

import numpy as np

from checkers.engines.register_layout import Integer
from checkers.engines.stack_ahead import Ints
from checkers.kernels import bare_kernel

NONE: Final = -1
BOTTOM: Final = 0
"""The frame below all."""

HAD: Final = 0
SPENT: Final = 1
FRAME: Final = 2
WORD: Final = 3
"""Of a state: the bits of the open calls that had their effect; a number that says how many lost
ones of each kind had; what is on top; and what happened on top of that."""

VALUE: Final = 0
EDGE: Final = 1
"""Of a frame: its element, and the last of its edges."""

OWNER: Final = 0
BELOW: Final = 1
BEFORE: Final = 2
CALL: Final = 3
NEXT: Final = 4
"""Of an edge: the frame, that below, what had happened on top of that one, the put, the edge of the
same frame that was made before."""

OUTER: Final = 0
PUT_BY: Final = 1
INNER: Final = 2
TAKEN_BY: Final = 3
"""Of a word."""

COUNT: Final = 0
AGE: Final = 1
IS_FULL: Final = 2


class Table(NamedTuple):
    """Rows of three keys and a datum, the same keys once.

    Attributes:
        rows: int64[room, 4].
        slots: int64[2^j], the places of rows by their hashes.
        ages: int64[2^j], in which age of the table each was filled.
        at: int64[3], the COUNT of rows, the table's AGE, and whether it IS FULL.
    """

    rows: Ints
    slots: Ints
    ages: Ints
    at: Ints


class Heap(NamedTuple):
    """Rows that refer to each other by their numbers.

    Attributes:
        rows: int64[room, columns].
        number: int64[room], the number of each after what nothing refers to was left out.
        at: int64[3], the COUNT of rows; whether it IS FULL.
    """

    rows: Ints
    number: Ints
    at: Ints


def new_table(room: int) -> Table:
    """Returns an empty table with room for so many rows, a power of two."""
    return Table(
        rows=np.zeros((room, 4), dtype=np.int64),
        slots=np.zeros(2 * room, dtype=np.int64),
        ages=np.zeros(2 * room, dtype=np.int64),
        at=np.array([0, 1, 0]),
    )


def new_heap(room: int, columns: int) -> Heap:
    """Returns an empty heap."""
    return Heap(
        rows=np.zeros((room, columns), dtype=np.int64),
        number=np.zeros(room, dtype=np.int64),
        at=np.zeros(3, dtype=np.int64),
    )


@bare_kernel
def clear(table: Table) -> None:
    """Empties a table."""
    table.at[COUNT] = table.at[IS_FULL] = 0
    table.at[AGE] += 1


@bare_kernel
def put(table: Table, had: Integer, spent: Integer, last: Integer, datum: Integer) -> Integer:
    """Adds a row if its three keys are new.

    Returns:
        Its place if they are, or if the table is full, the room; else ~place of what is there.
    """
    rows, at = table.rows, table.at
    slot = _hash(had, spent, last) & (len(table.slots) - 1)
    while table.ages[slot] == at[AGE]:
        place = table.slots[slot]
        row = rows[place]
        if row[HAD] == had and row[SPENT] == spent and row[FRAME] == last:
            return np.int64(~place)
        slot = (slot + 1) & (len(table.slots) - 1)
    place = at[COUNT]
    if place == len(rows):
        at[IS_FULL] = 1
        return np.int64(place)
    table.ages[slot], table.slots[slot] = at[AGE], place
    row = rows[place]
    row[HAD], row[SPENT], row[FRAME], row[WORD] = had, spent, last, datum
    at[COUNT] += 1
    return np.int64(place)


@bare_kernel
def _hash(had: Integer, spent: Integer, last: Integer) -> Integer:
    mixed = np.uint64(had) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(last)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(spent)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return np.int64(mixed >> np.uint64(32))


@bare_kernel
def new_row(heap: Heap) -> Integer:
    """Returns the number of a row that is new: the last, which nothing has, if there is no room."""
    new = heap.at[COUNT]
    if new == len(heap.rows) - 1:
        heap.at[IS_FULL] = 1
        return np.int64(new)
    heap.at[COUNT] += 1
    return np.int64(new)
