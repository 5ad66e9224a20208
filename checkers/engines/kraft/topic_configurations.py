"""Tables of the configurations of a sweep over a topic name (`topic_sweep`).

A configuration has the present topic, the open calls with a place, and the number of indeterminate
calls of each kind that took effect. Of two configurations with the same topic and the same placed
updates, the first *covers* the second if it has answered all calls that the second has and used no
more indeterminate calls of any kind. A table keeps no covered configuration.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.kraft.topic_layout import NONE, Ints
from kraftproof.checkers.kernels import bare_kernel

TOPIC: Final = 0
DONE: Final = 1
CREATES: Final = 2
DELETES: Final = 3
ENDS: Final = 4
IS_INDETERMINATE: Final = 5
STEP: Final = 6
COLUMNS: Final = 7
"""Of a row: the topic there, or ABSENT; the bits of the open calls that have their place; how many
lost creates took effect, lost deletes, and lost deletes by an id that nobody was told; whether a
lost create was placed last since the last completion; and the number of the last step."""

GONE: Final = -4
"""In place of the topic: another configuration stands for this one."""

COUNT: Final = 0
LIVE: Final = 1
AGE: Final = 2
IS_FULL: Final = 3


class Table(NamedTuple):
    """Configurations.

    Attributes:
        rows: int64[capacity, COLUMNS].
        links: int64[capacity], the next row of those that hash alike, or NONE.
        heads: int64[2^j], the first of those that hash so.
        ages: int64[2^j], in which age of the table that was.
        at: int64[4], the COUNT of rows, how many of them are LIVE, the table's AGE, and whether it
            ever was FULL, so that some are missing.
    """

    rows: Ints
    links: Ints
    heads: Ints
    ages: Ints
    at: Ints


def new_table(capacity: int) -> Table:
    """Return an empty table with capacity for so many rows, a power of two."""
    return Table(
        rows=np.zeros((capacity, COLUMNS), dtype=np.int64),
        links=np.zeros(capacity, dtype=np.int64),
        heads=np.zeros(capacity, dtype=np.int64),
        ages=np.zeros(capacity, dtype=np.int64),
        at=np.array([0, 0, 1, 0]),
    )


@bare_kernel
def clear(table: Table) -> None:
    """Empty a table."""
    table.at[COUNT] = table.at[LIVE] = 0
    table.at[AGE] += 1


@bare_kernel
def copy_row(rows: Ints, i: Integer, into: Ints, j: Integer) -> None:
    """Copy a row."""
    for column in range(COLUMNS):
        into[j, column] = rows[i, column]


@bare_kernel
def add(table: Table, new: Ints, updates: Integer) -> Integer:
    """Add a configuration unless another covers it; drop covered ones.

    Args:
        table: The table.
        new: int64[1, COLUMNS].
        updates: The bits of the open calls that change the topic.

    Returns:
        The number of configurations compared.
    """
    rows, at = table.rows, table.at
    head = _hash(new, updates) & (len(table.heads) - 1)
    if table.ages[head] != at[AGE]:
        table.ages[head], table.heads[head] = at[AGE], NONE
    place, looked_at = table.heads[head], 0
    while place != NONE:
        looked_at += 1
        is_alike = rows[place, TOPIC] == new[0, TOPIC]
        if is_alike and (rows[place, DONE] ^ new[0, DONE]) & updates == 0:
            if _stands_for(rows, place, new, 0):
                return looked_at
            if _stands_for(new, 0, rows, place):
                rows[place, TOPIC] = GONE
                at[LIVE] -= 1
        place = table.links[place]
    if at[COUNT] == len(rows):
        at[IS_FULL] = 1
        return looked_at
    copy_row(new, 0, rows, at[COUNT])
    table.links[at[COUNT]], table.heads[head] = table.heads[head], at[COUNT]
    at[COUNT] += 1
    at[LIVE] += 1
    return looked_at


@bare_kernel
def _hash(row: Ints, updates: Integer) -> Integer:
    mixed = np.uint64(row[0, DONE] & updates) + np.uint64(row[0, TOPIC] - GONE)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(mixed >> np.uint64(32))


@bare_kernel
def _stands_for(rows: Ints, i: Integer, others: Ints, j: Integer) -> bool:
    """Return whether one configuration has answered no less than another and used no more."""
    return bool(
        others[j, DONE] & ~rows[i, DONE] == 0
        and rows[i, CREATES] <= others[j, CREATES]
        and rows[i, DELETES] <= others[j, DELETES]
        and rows[i, ENDS] <= others[j, ENDS]
        and rows[i, IS_INDETERMINATE] <= others[j, IS_INDETERMINATE]
    )
