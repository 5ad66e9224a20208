"""A legal order of a stack's calls, whose elements may be equal: found by a sweep or by a search.

The sweep over all states (`checkers.engines.repeated.stack.graph`) finds an order or shows that
none exists, and mostly exceeds its share of the limits if calls are indeterminate or many are open.
The beam search over the same graph (`checkers.engines.repeated.stack.beam`) finds an order or
shows nothing.
"""

from typing import Final

import numpy as np
from msgspec import structs

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, StackCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.repeated.stack.beam import found_order
from kraftproof.checkers.engines.repeated.stack.graph import swept
from kraftproof.checkers.engines.repeated.stack.layout import (
    Calls,
    Ints,
    calls_of,
    has_indeterminate,
)
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits

_SWEEPS: Final = 0.3
_SWEEPS_LOSSY: Final = 0.2
"""Share of the limits for the sweep: without and with indeterminate calls."""


def order_of(calls: StackCalls, cut: int, limits: Limits) -> Ints | None:
    """Return puts and takes of the only key up to an event in a legal order; None if unknown."""
    known = calls_of(calls, 0, len(calls))
    sweeping, searching = shares(known, limits)
    last = int(np.searchsorted(known.complete[known.levels], cut, side="right"))
    order = searched(known, last, searching) if has_indeterminate(known) else None
    if order is None and (found := swept(known, last, sweeping)) is not None:
        return found.order if found.first_illegal is None else None
    if order is None and not has_indeterminate(known):
        order = searched(known, last, searching)
    return order


def shares(calls: Calls, limits: Limits) -> tuple[Limits, Limits]:
    """Return what a sweep may take and what a search may: less, where calls are indeterminate."""
    sweeping = limits.seconds * (_SWEEPS_LOSSY if has_indeterminate(calls) else _SWEEPS)
    searching = limits.seconds - sweeping
    return (
        structs.replace(limits, seconds=sweeping),
        structs.replace(limits, seconds=searching),
    )


def searched(calls: Calls, last: int, limits: Limits) -> Ints | None:
    """Return the puts and takes in a legal order that the beam search finds; None if it finds none.

    Args:
        calls: The calls of a key.
        last: The number of completions that the order has to reach.
        limits: Time and memory of the search.
    """
    order = found_order(calls, last, limits)
    return order if order is not None and is_legal(calls, last, order) else None


@kernel
def is_legal(calls: Calls, last: int, order: Ints) -> bool:
    """Step through an order: return whether it is legal, keeps to real time and has all it must.

    Args:
        calls: the calls of a key.
        last: the number of completions; what completed must be in the order, but for empty
            takes: these need a moment at which nothing is inside.
        order: puts and takes.
    """
    is_there = np.zeros(len(calls.action), dtype=np.bool_)
    inside, height, latest = np.empty(len(order) + 1, dtype=np.int64), 0, -1
    begun = np.full(len(order) + 1, -1)  # at each moment, the last invocation of what was before
    is_empty = np.ones(len(order) + 1, dtype=np.bool_)
    for place in range(len(order)):
        it = order[place]
        if is_there[it] or calls.complete[it] <= latest:
            return False
        is_there[it], latest = True, max(latest, calls.invoke[it])
        if calls.action[it] == PUT:
            inside[height] = calls.element[it]
            height += 1
        else:
            height -= 1
            observed = calls.element[it]
            if height < 0 or (observed != NO_VALUE and observed != inside[height]):
                return False
        begun[place + 1], is_empty[place + 1] = latest, height == 0
    over = np.full(len(order) + 1, NEVER)  # the first completion of what comes after
    for place in range(len(order) - 1, -1, -1):
        over[place] = min(over[place + 1], calls.complete[order[place]])
    over[~is_empty] = -1
    for it in calls.levels[:last]:
        if calls.action[it] != FOUND_NONE and not is_there[it]:
            return False
        if calls.action[it] == FOUND_NONE and not _may_find_none(calls, it, begun, over):
            return False
    return True


@kernel
def _may_find_none(calls: Calls, it: int, begun: Ints, over: Ints) -> bool:
    """Return whether a call has a moment among some: after all that was over before, and so on."""
    is_so = (over > calls.invoke[it]) & (begun < calls.complete[it])
    return bool(is_so.any())
