"""Reachable states of some calls, and the calls that cannot enable any other call.

A plain search of the model's steps, bounded: beyond the bounds the answer is that nothing is known.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.models import SequentialModel

_MOST_STATES: Final = 256
_MOST_STEPS: Final = 400_000
_MOST_PAIRS: Final = 40_000_000
"""Pairs of states, once for each call, that one round of the search for a simulation looks at."""


def reachable(
    model: SequentialModel,
    starts: Sequence[Hashable],
    calls: Sequence[Hashable],
    normal: Callable[[Hashable], Hashable] = lambda state: state,
) -> tuple[Hashable, ...] | None:
    """Return all states that the calls reach, with repetition; None above the limit of states."""
    found = dict.fromkeys(normal(state) for state in starts)
    waiting = list(found)
    while waiting:
        state = waiting.pop()
        for call in calls:
            following = model.step(state, call)
            if following is not None and (after := normal(following)) not in found:
                found[after] = None
                waiting.append(after)
        if len(found) > _MOST_STATES or len(found) * len(calls) > _MOST_STEPS:
            return None
    return tuple(found)


def useless_calls(
    model: SequentialModel, starts: Sequence[Hashable], calls: Sequence[Hashable]
) -> frozenset[Hashable]:
    """Return the calls that enable nothing: every later call was possible without the call, too.

    In other words, each state simulates its successor under the call.
    """
    distinct = list(dict.fromkeys(calls))
    normal = model.normal_form(distinct)
    states = reachable(model, starts, distinct, normal)
    if states is None:
        return frozenset()
    steps = _steps(model, states, distinct, normal)
    simulates = _simulation(steps)
    if simulates is None:
        return frozenset()
    here = np.arange(len(states))
    helpless = np.all((steps < 0) | simulates[here, steps], axis=1)
    return frozenset(call for call, is_so in zip(distinct, helpless, strict=True) if is_so)


def _steps(
    model: SequentialModel,
    states: Sequence[Hashable],
    calls: Sequence[Hashable],
    normal: Callable[[Hashable], Hashable],
) -> NDArray[np.int32]:
    """Return int32[calls, states]: the number of the successor state; -1 if the call is illegal."""
    numbers = {state: number for number, state in enumerate(states)}
    found = np.full((len(calls), len(states)), -1, dtype=np.int32)
    for row, call in enumerate(calls):
        for column, state in enumerate(states):
            following = model.step(state, call)
            if following is not None:
                found[row, column] = numbers[normal(following)]
    return found


def _simulation(steps: NDArray[np.int32]) -> NDArray[np.bool_] | None:
    """Return bool[states, states]: whether the first can do whatever the second can, for ever.

    The result is the greatest simulation, refined from the full relation (Milner 1971). None if the
    refinement would take too long.
    """
    rows = np.unique(steps, axis=0)
    states = steps.shape[1]
    if rows.shape[0] * states * states > _MOST_PAIRS:
        return None
    simulates = np.ones((states, states), dtype=np.bool_)
    while True:
        before = simulates.copy()
        for following in rows:
            can = following >= 0
            goes_on = can[:, None] & simulates[following[:, None], following[None, :]]
            simulates &= ~can[None, :] | goes_on
        if np.array_equal(before, simulates):
            return simulates
