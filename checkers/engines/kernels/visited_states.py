"""Tables of states that were met: rows of whole numbers, found by hashing, in a few bytes each.

A state is a row int[k] of numbers from 0. A table is int[2^j, k], a free place of which has NONE in
its first column; it is at most half full. Open addressing with linear probing (Knuth, "The art of
computer programming", volume 3, 6.4).
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.hashing import mix
from kraftproof.checkers.kernels import kernel

NONE: Final = -1

Rows = NDArray[Any]
"""int32 or int64: as narrow as whoever searches needs its states to be."""


@kernel
def place_of(table: Rows, state: Rows) -> int:
    """Return where a state stands in a table, or would."""
    mixed = np.uint64(0)
    for number in state:
        mixed = mix(mixed, number)
    place = int(mixed >> np.uint64(16)) & (len(table) - 1)
    while table[place, 0] != NONE and (table[place] != state).any():
        place = (place + 1) & (len(table) - 1)
    return place


@kernel
def is_known(table: Rows, state: Rows) -> bool:
    """Return whether a state is in a table."""
    return bool(table[place_of(table, state), 0] != NONE)


@kernel
def remember(table: Rows, known: int, state: Rows) -> tuple[Rows, int]:
    """Add a state; return the table, a larger one if need be, and how many states are in it."""
    if 2 * known >= len(table):
        larger = np.full((2 * len(table), table.shape[1]), NONE, dtype=table.dtype)
        for place in range(len(table)):
            if table[place, 0] != NONE:
                larger[place_of(larger, table[place])] = table[place]
        table = larger
    place = place_of(table, state)
    is_new = table[place, 0] == NONE
    table[place] = state
    return table, known + int(is_new)
