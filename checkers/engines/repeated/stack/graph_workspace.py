"""What a sweep over a stack works with (`checkers.engines.repeated.stack.graph_sweep`)."""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    BOTTOM,
    COUNT,
    EDGE_COLUMNS,
    FRAME_COLUMNS,
    NONE,
    WORD,
    WORD_COLUMNS,
    Heap,
    Table,
    new_heap,
    new_table,
)
from kraftproof.checkers.engines.repeated.stack.layout import MOST_SLOTS, Calls, Ints

LEVEL: Final = 0
OPEN: Final = 1
NONES: Final = 2
WORK: Final = 3
MOST_EDGES: Final = 4
MOST_COST: Final = 5
IS_APART: Final = 6
ARRIVED: Final = 7

NO_LIMIT: Final = 1 << 60
INDETERMINATE_COST: Final = 100
"""What it costs to use an indeterminate call."""

_MOST_SPENT: Final = 1 << 62


class Sweep(NamedTuple):
    """The workspace of a sweep.

    Attributes:
        frontier: The states at the last completion.
        passed: The states that pass the next completion.
        seen: The states on the way.
        made: The frames made by this completion: bits, the element as frame, and the frame as word.
        frames: int64[., FRAME_COLUMNS] as rows.
        edges: int64[., EDGE_COLUMNS] as rows.
        words: int64[., WORD_COLUMNS] as rows.
        opened: int64[MOST_SLOTS], the open calls, by their completions.
        radix: int64[k], the addend of an indeterminate call of each kind in the number of calls
            used; 0 for kinds that are not counted.
        counted: int64[.], the counted kinds, with the greatest addends first.
        begun: int64[k], the number of invoked indeterminate calls of each kind.
        at: int64[8], the next LEVEL, the number of OPEN calls, the bits of empty takes (NONES), the
            WORK done, the maximum number of edges of a frame, the maximum cost of a state, whether
            states with different indeterminate calls are kept apart, and the indeterminate calls
            that ARRIVED.
    """

    frontier: Table
    passed: Table
    seen: Table
    made: Table
    frames: Heap
    edges: Heap
    words: Heap
    opened: Ints
    radix: Ints
    counted: Ints
    begun: Ints
    at: Ints


def new_sweep(calls: Calls, capacity: int) -> Sweep:
    """Return a sweep at the beginning, with capacity for a number of states, a power of two."""
    frontier, frames = new_table(capacity), new_heap(2 * capacity, FRAME_COLUMNS)
    frontier.rows[0, WORD] = NONE
    frames.rows[BOTTOM] = NONE, NONE, NONE, 0, 0, 0, 1
    frontier.at[COUNT] = frames.at[COUNT] = 1
    radix = _radix(calls)
    return Sweep(
        frontier=frontier,
        passed=new_table(capacity),
        seen=new_table(capacity),
        made=new_table(capacity),
        frames=frames,
        edges=new_heap(16 * capacity, EDGE_COLUMNS),
        words=new_heap(8 * capacity, WORD_COLUMNS),
        opened=np.zeros(MOST_SLOTS, dtype=np.int64),
        radix=radix,
        counted=np.argsort(-radix)[: np.count_nonzero(radix)],
        begun=np.zeros(len(radix), dtype=np.int64),
        at=np.array([0, 0, 0, 0, NO_LIMIT, NO_LIMIT, 1, 0]),
    )


def counts_all(sweep: Sweep) -> bool:
    """Return whether indeterminate calls of all kinds are counted."""
    return bool((sweep.radix > 0).all())


def _radix(calls: Calls) -> Ints:
    """Return the addend of an indeterminate call of each kind, 0 beyond a word."""
    counts = np.diff(calls.indeterminate_from)
    radix, product = np.zeros(len(counts), dtype=np.int64), 1
    for kind in np.argsort(-counts, kind="stable").tolist():
        more = product * (int(counts[kind]) + 1)
        if more < _MOST_SPENT:
            radix[kind], product = product, more
    return radix
