"""How many calls of a queue that need not have happened must have, as told by what is due soon.

For `checkers.engines.queue_repeated`. Let p puts of a value that completed, and t takes of it, have
their places among the next r of their kind, if nothing comes between that need not have happened:
then they take up max(p, t) places. What these make up for all values beyond r must have come
between, for at each place one value is put and taken.
"""

from typing import Final

import numpy as np

from checkers.columns import NEVER
from checkers.engines.queue_lines import Ints, Lines
from checkers.engines.queue_steps import State
from checkers.kernels import kernel

_AHEAD: Final = 64
"""So many puts and takes are looked at."""


@kernel
def must_be_lost(lines: Lines, state: State, count: Ints) -> int:
    """Returns how many calls that need not have happened must have their place yet.

    NEVER if there are not so many.

    Args:
        lines: the calls.
        state: what has its place.
        count: int64[2, v], zeros; how many puts and takes of each value there are, for its own use.
    """
    put_places, left = _placed(lines, state, 0, lines.takes)
    take_places, more = _placed(lines, state, lines.takes, lines.nones)
    puts, takes = lines.sure_puts, lines.sure_takes
    first_put = np.searchsorted(puts[0], put_places, side="right")
    first_take = np.searchsorted(takes[0], take_places, side="right")
    put, take = first_put, first_take
    last_put = min(puts.shape[1], first_put + _AHEAD)
    last_take = min(takes.shape[1], first_take + _AHEAD)
    needed, worst = 0, 0
    while put < last_put or take < last_take:
        put_in = puts[0, put] - put_places if put < last_put else NEVER
        take_in = takes[0, take] - take_places if take < last_take else NEVER
        if put_in <= take_in:
            needed += _counted(lines, state, puts[1, put], count, 0)
            put += 1
        else:
            needed += _counted(lines, state, takes[1, take], count, 1)
            take += 1
        worst = max(worst, needed - min(put_in, take_in))
    for it in range(first_put, put):
        count[0, lines.element[puts[1, it]]] = 0
    for it in range(first_take, take):
        count[1, lines.element[takes[1, it]]] = 0
    return worst if worst <= left + more else NEVER


@kernel
def _placed(lines: Lines, state: State, first: int, last: int) -> tuple[int, int]:
    """Returns of some lines how many sure calls have their place, and how many others have not."""
    placed, left = 0, 0
    for line in range(first, last):
        if lines.complete[lines.starts[line]] != NEVER:
            placed += state[line]
        else:
            left += lines.starts[line + 1] - lines.starts[line] - state[line]
    return placed, left


@kernel
def _counted(lines: Lines, state: State, call: int, count: Ints, kind: int) -> int:
    """Counts a call, unless it has its place; returns how many more places that takes: 0 or 1."""
    if call - lines.starts[lines.line[call]] < state[lines.line[call]]:
        return 0
    value = lines.element[call]
    count[kind, value] += 1
    return int(count[kind, value] > count[1 - kind, value])
