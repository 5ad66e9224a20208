"""Which states of the sweep over a priority queue are kept if there are too many.

A state costs the more, the more indeterminate takes it used, and the more elements each open take
has to wait for that no other open take is known to take.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.hashing import mix
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Ints, Layout
from kraftproof.checkers.engines.repeated.priority_queue.steps import (
    INDETERMINATE,
    INSIDE,
    MARKS,
    Now,
    State,
    open_takes,
    pairs,
)
from kraftproof.checkers.kernels import bare_kernel, kernel

_INDETERMINATE_COST: Final = 8
"""The cost of an indeterminate take that was used, in elements that a take has to wait for."""
_MOST_WAITED_FOR: Final = 16
"""The number of elements beyond which a take costs no more."""


class Selection(NamedTuple):
    """The rule by which states are kept.

    Attributes:
        kept: The number of states to keep.
        perturbation: The upper bound of the random number added to each cost; 0 for none.
        seed: The seed of these random numbers.
    """

    kept: int
    perturbation: int
    seed: int


@kernel
def best(layout: Layout, now: Now, states: NDArray[np.int32], selection: Selection) -> Ints:
    """Return the places of the states with the least costs.

    Args:
        layout: The calls.
        now: The open calls.
        states: int32[k, w].
        selection: The number of states to keep, and the random numbers.
    """
    cost, ready = np.empty(len(states), dtype=np.int64), open_takes(layout, now)
    for it in range(len(states)):
        used = states[it, INDETERMINATE]
        cost[it] = _INDETERMINATE_COST * used + _waited_for(layout, ready, states[it])
        if selection.perturbation > 0:
            cost[it] += _random(layout, states[it], selection.seed) % selection.perturbation
    return np.argsort(cost, kind="mergesort")[: selection.kept]


@bare_kernel
def _waited_for(layout: Layout, ready: Ints, state: State) -> int:
    """Return the number of elements that open takes wait for, up to a bound for each take."""
    first = pairs(layout)
    place = first + 2 * (state[INSIDE] - 1)
    cost, waited_for, last, takers = 0, 0, NOBODY, 0
    for call in ready:
        if state[MARKS + layout.lane[call]] != 0:
            continue
        rank = layout.rank[call]
        while place >= first and state[place] < rank and waited_for < _MOST_WAITED_FOR:
            waited_for += max(0, state[place + 1] - (takers if state[place] == last else 0))
            place -= 2
        takers = takers + 1 if rank == last else 1
        last = rank
        cost += min(waited_for, _MOST_WAITED_FOR)
    return int(cost)


@bare_kernel
def _random(layout: Layout, state: State, seed: int) -> int:
    """Return a pseudo-random number that depends on the state and the seed alone."""
    mixed = np.uint64(seed)
    for place in range(pairs(layout) + 2 * state[INSIDE]):
        mixed = mix(mixed, state[place])
    return int(mixed >> np.uint64(16))
