"""Which states of a sweep over a stack are kept if there is no capacity for all.

For `checkers.engines.repeated.stack.beam`. The cost of a state is the cost of its indeterminate
calls. Among equal costs, the likelihood decides: if a call may take effect at any time of its
interval with equal probability, the likelihood of a state is the product over the open calls that
have, or have not, taken effect. The beam keeps equally many states of each cost, because all cheap
states may be wrong: a later call may need the effect of an indeterminate call that they lack.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    COLUMNS,
    COST,
    COUNT,
    FRAME,
    HAD,
    TOTAL,
)
from kraftproof.checkers.engines.repeated.stack.graph_workspace import (
    INDETERMINATE_COST,
    MOST_COST,
    OPEN,
    Sweep,
)
from kraftproof.checkers.engines.repeated.stack.layout import MOST_SLOTS, Calls, Ints
from kraftproof.checkers.kernels import bare_kernel, kernel

_CHANCE_COST: Final = 20
"""What it costs that something was e times less likely: an indeterminate call costs as much as
e^5.
"""
_LEAST_SHARE: Final = 0.02


class Selection(NamedTuple):
    """The rule by which states are kept.

    Attributes:
        kept: The number of states to keep; 0 for all.
        more: The number of indeterminate calls allowed beyond the fewest.
    """

    kept: int
    more: int


@kernel
def keep_best(calls: Calls, sweep: Sweep, it: Integer, selection: Selection) -> None:
    """Make what passed a returning call the frontier, or the best of it."""
    passed, count = sweep.passed.rows, sweep.passed.at[COUNT]
    sweep.frontier.at[COUNT] = 0
    if selection.kept == 0:
        for place in range(count):
            _keep(sweep, place)
        return
    costs = np.empty(count, dtype=np.int64)
    for place in range(count):
        row = passed[place]
        costs[place] = sweep.frames.rows[row[FRAME], TOTAL] + row[COST]
    least = costs.min()
    sweep.at[MOST_COST] = least + selection.more * INDETERMINATE_COST
    if count <= selection.kept:
        for place in range(count):
            _keep(sweep, place)
        return
    odds, left = _odds(calls, sweep, it), np.int64(selection.kept)
    for more in range(selection.more + 1):
        (places,) = np.nonzero(costs == least + more * INDETERMINATE_COST)
        among = selection.more + 1 - more
        left -= _keep_of(calls, sweep, places, odds, (left + among - 1) // among)


@bare_kernel
def _keep(sweep: Sweep, place: Integer) -> None:
    new = sweep.frontier.at[COUNT]
    for column in range(COLUMNS):
        sweep.frontier.rows[new, column] = sweep.passed.rows[place, column]
    sweep.frontier.at[COUNT] += 1


@kernel
def _keep_of(
    calls: Calls, sweep: Sweep, places: Ints, odds: NDArray[np.float64], most: Integer
) -> Integer:
    """Keep the likeliest of some states; return how many."""
    if len(places) <= most:
        for place in places:
            _keep(sweep, place)
        return np.int64(len(places))
    if most == 0:
        return np.int64(0)
    chance = np.zeros(len(places), dtype=np.int64)
    for number in range(len(places)):
        had, sum_of_odds = sweep.passed.rows[places[number], HAD], 0.0
        for place in range(sweep.at[OPEN]):
            slot = calls.slot[sweep.opened[place]]
            if had >> slot & 1 != 0:
                sum_of_odds += odds[slot]
        chance[number] = np.int64(_CHANCE_COST * sum_of_odds)
    least = np.partition(chance, most - 1)[most - 1]
    kept = 0
    for is_alike in range(2):  # those that are just good enough only as far as there is capacity
        for number in range(len(places)):
            is_one = chance[number] == least if is_alike else chance[number] < least
            if is_one and kept < most:
                _keep(sweep, places[number])
                kept += 1
    return np.int64(kept)


@kernel
def _odds(calls: Calls, sweep: Sweep, it: Integer) -> NDArray[np.float64]:
    """Return by how much each open call is likelier not to have had its effect: float64[slots]."""
    odds, now = np.zeros(MOST_SLOTS), calls.complete[it]
    for place in range(sweep.at[OPEN]):
        call = sweep.opened[place]
        share = (now - calls.invoke[call]) / (calls.complete[call] - calls.invoke[call])
        share = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
        if call != it:
            odds[calls.slot[call]] = np.log(1 - share) - np.log(share)
    return odds
