"""What a sweep over a stack works with (`checkers.engines.stack_graph_sweep`)."""

from typing import Final, NamedTuple

import numpy as np

from checkers.engines.stack_ahead import Ints
from checkers.engines.stack_graph_rows import (
    BOTTOM,
    COUNT,
    NONE,
    Heap,
    Table,
    new_heap,
    new_table,
)
from checkers.engines.stack_steps import MOST_SLOTS

LEVEL: Final = 0
OPEN: Final = 1
NONES: Final = 2
WORK: Final = 3


class Sweep(NamedTuple):
    """What a sweep works with.

    Attributes:
        frontier: the states at the last completion.
        passed: those that pass the next.
        seen: those on the way.
        made: the frames that were made by this completion: bits, number of lost calls, element, and
            the frame.
        frames: int64[., 2] as rows.
        edges: int64[., 5] as rows.
        words: int64[., 4] as rows.
        opened: int64[MOST_SLOTS], the calls that are open, by their completions.
        radix: int64[v + 1], what one lost put of each element, and one lost take, add to a state's
            number of those that had their effect.
        at: int64[4], which LEVEL is next, how many calls are OPEN, the bits of those that found
            NONE, and how much WORK was done.
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
    at: Ints


def new_sweep(room: int, radix: Ints) -> Sweep:
    """Returns a sweep that has passed nothing, with room for so many states, a power of two."""
    frontier, frames = new_table(room), new_heap(2 * room, 2)
    frontier.rows[0] = 0, 0, BOTTOM, NONE
    frames.rows[BOTTOM] = NONE, NONE
    frontier.at[COUNT] = frames.at[COUNT] = 1
    return Sweep(
        frontier=frontier,
        passed=new_table(room),
        seen=new_table(room),
        made=new_table(room),
        frames=frames,
        edges=new_heap(16 * room, 5),
        words=new_heap(8 * room, 4),
        opened=np.zeros(MOST_SLOTS, dtype=np.int64),
        radix=radix,
        at=np.zeros(4, dtype=np.int64),
    )
