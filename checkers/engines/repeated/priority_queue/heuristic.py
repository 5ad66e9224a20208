"""What tells good states of the sweep over a priority queue from others.

A state is the worse, the more lost takes it used or will need, and the more is in the way of each
open take that no other open take is known to take. One is hopeless if what is ahead shows that some
take will find no element, or something in its way.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.hashing import mix
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Ints, Layout
from kraftproof.checkers.engines.repeated.priority_queue.lookahead import (
    MOST,
    Ahead,
    lacking_puts,
    lacking_takes,
    look_ahead,
)
from kraftproof.checkers.engines.repeated.priority_queue.steps import (
    INSIDE,
    LOST,
    MARKS,
    Now,
    State,
    open_takes,
    pairs,
)
from kraftproof.checkers.kernels import bare_kernel, kernel

_LOST: Final = 8
"""A lost take that was used costs as much as so many elements in the way."""
_HOPELESS: Final = 1 << 20
"""What each take costs that is known to fail."""


class Taste(NamedTuple):
    """Which states are kept.

    Attributes:
        kept: so many.
        luck: so much is added at most to what a state costs, by chance; 0 for nothing.
        seed: of the chance.
    """

    kept: int
    luck: int
    seed: int


@kernel
def best(layout: Layout, now: Now, states: NDArray[np.int32], taste: Taste) -> Ints:
    """Returns the places of the best states; of none if all are hopeless.

    Args:
        layout: the calls.
        now: what is open.
        states: int32[k, w].
        taste: how many are kept.
    """
    cost = np.empty(len(states), dtype=np.int64)
    ahead = look_ahead(layout, now, open_takes(layout, now))
    for it in range(len(states)):
        cost[it] = _cost(layout, now, ahead, states[it])
    if cost.min() >= _HOPELESS:
        return np.empty(0, dtype=np.int64)
    if taste.luck > 0:
        for it in range(len(states)):
            cost[it] += _chance(layout, states[it], taste.seed) % taste.luck
    return np.argsort(cost, kind="mergesort")[: taste.kept]


@bare_kernel
def _cost(layout: Layout, now: Now, ahead: Ahead, state: State) -> int:
    needed, hopeless = lacking_takes(layout, now, ahead, state)
    hopeless += lacking_puts(layout, now, ahead, state)
    lost = _LOST * (state[LOST] + needed)
    return int(_HOPELESS * hopeless + lost + _in_the_way(layout, ahead.ready, state))


@bare_kernel
def _in_the_way(layout: Layout, ready: Ints, state: State) -> int:
    first = pairs(layout)
    place = first + 2 * (state[INSIDE] - 1)
    cost, ahead, last, takers = 0, 0, NOBODY, 0
    for call in ready:
        if state[MARKS + layout.lane[call]] != 0:
            continue
        rank = layout.rank[call]
        while place >= first and state[place] < rank and ahead < MOST:
            ahead += max(0, state[place + 1] - (takers if state[place] == last else 0))
            place -= 2
        takers = takers + 1 if rank == last else 1
        last = rank
        cost += min(ahead, MOST)
    return int(cost)


@bare_kernel
def _chance(layout: Layout, state: State, seed: int) -> int:
    """Returns a number that is the same for equal states, and by chance for others."""
    mixed = np.uint64(seed)
    for place in range(pairs(layout) + 2 * state[INSIDE]):
        mixed = mix(mixed, state[place])
    return int(mixed >> np.uint64(16))
