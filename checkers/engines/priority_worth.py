"""What tells good states of the sweep over a priority queue from others.

A state is the worse, the more lost takes it used, and the more is in the way of each open take that
no other open take is known to take.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from checkers.engines.priority_layout import NOBODY, Ints, Layout
from checkers.engines.priority_steps import INSIDE, LOST, MARKS, State, pairs
from checkers.kernels import bare_kernel, kernel

_LOST: Final = 8
"""A lost take that was used costs as much as so many elements in the way."""
_MOST: Final = 16
"""More than so many in the way of one take are no worse."""


@kernel
def worth(layout: Layout, ready: Ints, states: NDArray[np.int32]) -> Ints:
    """Returns the places of states, the best first.

    Args:
        layout: the calls.
        ready: the open takes, of `open_takes`.
        states: int32[k, w].
    """
    cost = np.empty(len(states), dtype=np.int64)
    for it in range(len(states)):
        cost[it] = _cost(layout, ready, states[it])
    return np.argsort(cost, kind="mergesort")


@bare_kernel
def _cost(layout: Layout, ready: Ints, state: State) -> int:
    first = pairs(layout)
    place = first + 2 * (state[INSIDE] - 1)
    cost, ahead, last, takers = _LOST * state[LOST], 0, NOBODY, 0
    for call in ready:
        if state[MARKS + layout.lane[call]] != 0:
            continue
        rank = layout.rank[call]
        while place >= first and state[place] < rank and ahead < _MOST:
            ahead += max(0, state[place + 1] - (takers if state[place] == last else 0))
            place -= 2
        takers = takers + 1 if rank == last else 1
        last = rank
        cost += min(ahead, _MOST)
    return int(cost)
