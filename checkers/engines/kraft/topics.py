"""Topic names whose topics are created, deleted and looked up: a frontier of what may be there.

Creates and deletes take turns, and few are open at a time, so there is little to choose from
(`checkers.engines.kraft.topic_sweep`): time is mostly O(n c), not with how many calls are
indeterminate, and grows with c at worst exponentially. Memory is that of the frontier.

A sweep begins with little capacity, and again with more where that was too little. What passes with
any capacity has an order, so a valid name seldom needs much.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.topics import TopicCalls
from kraftproof.checkers.engines.kernels.bisection import outcome_of, spans
from kraftproof.checkers.engines.kraft.topic_layout import Layout, layout_of
from kraftproof.checkers.engines.kraft.topic_sweep import GIVEN_UP, PASSED, sweep_calls
from kraftproof.checkers.engines.kraft.topic_workspace import (
    ROW_BYTES,
    WORK,
    Sweep,
    new_sweep,
    with_capacity,
)
from kraftproof.checkers.engines.kraft.topic_workspace import order_of as order_of_sweep
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_ENGINE: Final = "topics"
_CAPACITIES: Final = (1 << 10, 1 << 14, 1 << 18, 1 << 21)
_WORK_A_SECOND: Final = 5_000_000
"""So much on any machine; the cost of a key is counted, not timed."""


class _UndecidedError(Exception):
    """A sweep would exceed a limit, which the message names."""


def decide(calls: TopicCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each topic name, None for what does not fit into a sweep."""
    return [_outcome(calls, start, end, limits) for start, end in spans(calls)]


def order_of(calls: TopicCalls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
    """Return the updates of the only key up to an event in a legal order, None if unknown."""
    layout = layout_of(calls, 0, len(calls), cut)
    if layout is None:
        return None
    try:
        first_illegal, sweep = _swept(layout, limits)
    except _UndecidedError:
        return None
    return np.asarray(order_of_sweep(sweep), dtype=np.int64) if first_illegal == PASSED else None


def _outcome(calls: TopicCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    layout = layout_of(calls, start, end, NEVER)
    if layout is None:
        return None
    try:
        first_illegal, _ = _swept(layout, limits)
    except _UndecidedError as error:
        return Outcome(verdict=Verdict.UNKNOWN, engine=_ENGINE, reason=str(error))
    return outcome_of(
        calls, start, end, None if first_illegal == PASSED else start + first_illegal, _ENGINE
    )


def _swept(layout: Layout, limits: Limits) -> tuple[int, Sweep]:
    """Return the first illegal call, or PASSED, and the sweep that found it.

    Raises:
        _UndecidedError: A limit was reached.
    """
    most = int(limits.seconds * _WORK_A_SECOND)
    sweep = new_sweep(_CAPACITIES[0], len(layout.action))
    first_illegal = int(sweep_calls(layout, sweep, most))
    if first_illegal == GIVEN_UP:
        narrow = with_capacity(sweep, _CAPACITIES[0], may_drop=True)
        if sweep_calls(layout, narrow, most) == PASSED:
            return PASSED, narrow
    for capacity in _CAPACITIES[1:]:
        if first_illegal != GIVEN_UP:
            break
        if sweep.at[WORK] > most:
            raise _UndecidedError(f"no verdict within {most} steps of a search")
        if capacity * ROW_BYTES > limits.memory_bytes:
            raise _UndecidedError(f"no verdict within {limits.memory_bytes} bytes")
        sweep = with_capacity(sweep, capacity)
        first_illegal = int(sweep_calls(layout, sweep, most))
    if first_illegal == GIVEN_UP:
        raise _UndecidedError(f"no verdict with capacity for {_CAPACITIES[-1]} configurations")
    return first_illegal, sweep
