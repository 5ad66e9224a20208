"""Counters by a frontier: additions of any size and sign, in memory bounded by the open calls.

A configuration is (applied, answered, sum): the open additions that took effect, the open reads
that met their value, and the sum. The sweep goes over the events in real time. At an invocation
nothing happens, except that a read meets its value at once in each configuration with that sum.
When an operation returns, the configurations without it apply open additions, in every order, until
it has taken effect; configurations in which that is impossible are dropped. If none is left, the
operation is the first illegal one. Applying additions only at a return, and meeting reads as soon
as possible, loses no order: both can move there.

A configuration is dropped for another that has answered as much and has applied a subset of the
same plain additions: the other can apply the rest at once. An indeterminate operation never returns
and keeps its bit. With more than 63 open operations, or beyond a number of configurations, the key
goes to the general engine.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.counter import ADD, ADD_AND_GET, READ, CounterCalls
from kraftproof.checkers.engines.kernels.bisection import outcome_of
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

MOST_CONFIGURATIONS: Final = 10_000_000
"""How many configurations one key may cost, in all."""

_MOST_AT_ONCE: Final = 500_000
"""How many configurations may lead from a completion to the next."""
_MOST_COMPARED: Final = 256
"""Larger frontiers are not pruned by comparing all with all."""

_SLOTS: Final = 63
_VALID: Final = -1
_NO_ANSWER: Final = -2

Ints = NDArray[np.int64]
Configuration = tuple[int, int, int]
"""(applied, answered, sum); the first two are bits by slot."""


def decide_by_frontier(
    calls: CounterCalls, start: int, end: int, most: int = MOST_CONFIGURATIONS
) -> Outcome | None:
    """Return the outcome of a key, None if it needs too many configurations or slots."""
    first_illegal = int(
        find_first_illegal_by_frontier(
            calls.action[start:end],
            calls.delta[start:end],
            calls.value[start:end],
            calls.invoke[start:end],
            calls.complete[start:end],
            most,
        )
    )
    if first_illegal == _NO_ANSWER:
        return None
    at = None if first_illegal == _VALID else start + first_illegal
    return outcome_of(calls, start, end, at, "counter-frontier")


@kernel
def find_first_illegal_by_frontier(
    action: NDArray[np.int8], delta: Ints, value: Ints, invoke: Ints, complete: Ints, most: int
) -> int:
    """Return the first call without a legal place when it returns.

    Args:
        action: int8[n], as in `CounterCalls`.
        delta: int64[n].
        value: int64[n].
        invoke: int64[n], ascending.
        complete: int64[n].
        most: The maximum number of configurations.

    Returns:
        The call, _VALID if every call has a place, _NO_ANSWER beyond a bound.
    """
    by_return = np.argsort(complete)
    slots = np.full(_SLOTS, -1)
    slot_of = np.zeros(len(action), dtype=np.int64)
    frontier = [(0, 0, 0)]
    is_growing = bool(np.all(delta >= 0))
    invoked, looked_at = 0, 0
    for returning in by_return:
        if complete[returning] == NEVER:
            break
        while invoked < len(action) and invoke[invoked] < complete[returning]:
            slot = _free(slots)
            if slot < 0:
                return _NO_ANSWER
            slots[slot], slot_of[invoked] = invoked, slot
            if action[invoked] == READ:
                frontier = _answered(frontier, slot, value[invoked])
            invoked += 1
        slot = slot_of[returning]
        frontier, cost = _returned(frontier, slot, slots, action, delta, value, is_growing)
        looked_at += cost
        if cost > _MOST_AT_ONCE or looked_at > most:
            return _NO_ANSWER
        if len(frontier) == 0:
            return int(returning)
        slots[slot] = -1
        if len(frontier) <= _MOST_COMPARED:
            frontier = _pruned(frontier, _plain(slots, action))
    return _VALID


@kernel
def _free(slots: Ints) -> int:
    for slot in range(len(slots)):
        if slots[slot] < 0:
            return slot
    return -1


@kernel
def _plain(slots: Ints, action: NDArray[np.int8]) -> int:
    """Return the bits of the open plain adds."""
    bits = 0
    for slot in range(len(slots)):
        if slots[slot] >= 0 and action[slots[slot]] == ADD:
            bits |= 1 << slot
    return bits


@kernel
def _answered(frontier: list[Configuration], slot: int, value: int) -> list[Configuration]:
    """Return the frontier after the invocation of a read of some value."""
    bit = 1 << slot
    return [
        (applied, answered | bit if total == value else answered, total)
        for applied, answered, total in frontier
    ]


@kernel
def _met(slots: Ints, action: NDArray[np.int8], value: Ints, total: int) -> int:
    """Return the bits of the open reads of a sum."""
    bits = 0
    for slot in range(len(slots)):
        call = slots[slot]
        if call >= 0 and action[call] == READ and value[call] == total:
            bits |= 1 << slot
    return bits


@kernel
def _goal(slots: Ints, action: NDArray[np.int8], value: Ints, answered: int) -> int:
    """Return the greatest sum that an open read without it, or an open add-and-get, waits for."""
    goal = -NEVER
    for slot in range(len(slots)):
        call = slots[slot]
        if call >= 0 and action[call] != ADD and not answered >> slot & 1:
            goal = max(goal, value[call])
    return goal


@kernel
def _returned(
    frontier: list[Configuration],
    slot: int,
    slots: Ints,
    action: NDArray[np.int8],
    delta: Ints,
    value: Ints,
    is_growing: bool,  # noqa: FBT001 a kernel takes no keywords
) -> tuple[list[Configuration], int]:
    """Return the frontier after a completion, and the number of configurations met.

    If the sum only grows, it need not exceed the values of open operations, except by the returning
    addition: the excess can come later.
    """
    bit = 1 << slot
    waiting = frontier.copy()
    seen = {(-1, -1)}
    for applied, answered, _ in frontier:
        seen.add((applied, answered))
    after = frontier[:0]
    cost = 0
    while len(waiting) > 0 and cost <= _MOST_AT_ONCE:
        cost += 1
        applied, answered, total = waiting.pop()
        if (applied | answered) & bit:
            after.append((applied & ~bit, answered & ~bit, total))
            continue
        goal = _goal(slots, action, value, answered) if is_growing else NEVER
        for other in range(len(slots)):
            call = slots[other]
            if call < 0 or action[call] == READ or applied >> other & 1:
                continue
            following = total + delta[call]
            if action[call] == ADD_AND_GET and following != value[call]:
                continue
            if other != slot and following > goal:
                continue
            bits = applied | 1 << other
            met = answered | _met(slots, action, value, following)
            if (bits, met) not in seen:
                seen.add((bits, met))
                waiting.append((bits, met, following))
    return after, cost


@kernel
def _pruned(frontier: list[Configuration], plain: int) -> list[Configuration]:
    """Return the frontier without what another configuration does as well as."""
    kept = frontier[:0]
    for place in range(len(frontier)):
        applied, answered, total = frontier[place]
        is_needed = True
        for other in range(len(frontier)):
            fewer, met, _ = frontier[other]
            more = applied & ~fewer
            if other == place or fewer & ~applied or answered & ~met or more & ~plain:
                continue
            is_same = applied == fewer and answered == met
            if not is_same or other < place:
                is_needed = False
                break
        if is_needed:
            kept.append((applied, answered, total))
    return kept
