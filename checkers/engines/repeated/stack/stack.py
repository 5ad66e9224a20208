"""Last-in-first-out stacks whose elements may be equal, or whose takes were lost.

Whether such a history has a legal order is NP-complete to say in general. Where few calls are open
at a time and none, or few, were lost, `checkers.engines.repeated.stack.graph` says it. Else it is
valid if a search finds an order (`checkers.engines.repeated.stack.order`) and stepping through it
shows it legal; it is invalid if what is necessary fails by some completion, and an order is found
of all before it. Necessary is

- what counting shows (`checkers.engines.repeated.counting`);
- that the elements put once have lives that can be nested: without all calls of some elements a
  legal order is one of a smaller stack, so `checkers.engines.kernels.distinct_elements` decides
  that one.
"""

from dataclasses import replace

import numpy as np

from kraftproof.checkers.calls.containers import PUT, ContainerCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.bisection import first_stuck, outcome_of
from kraftproof.checkers.engines.kernels.distinct_elements import Containers
from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.engines.repeated.stack.graph import swept
from kraftproof.checkers.engines.repeated.stack.layout import Calls, calls_of, is_lossy
from kraftproof.checkers.engines.repeated.stack.order import searched, shares
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits


def decide_repeated(stacks: Containers, start: int, end: int, limits: Limits) -> Outcome | None:
    """Returns the outcome of one stack, None if nothing shows what it is within the limits.

    Where calls were lost a sweep mostly takes too much, so it goes last; else it goes first.
    """
    known = calls_of(stacks.calls, start, end)
    sweeping, searching = shares(known, limits)
    ways = [(by_sweep, sweeping), (by_bounds, searching)]
    found = None
    for way, limit in reversed(ways) if is_lossy(known) else ways:
        outcome = way(stacks, start, end, known, limit)
        if outcome is not None and outcome.linearizable is not None:
            return outcome
        found = found or outcome
    return found


def by_sweep(
    stacks: Containers, start: int, end: int, known: Calls, limits: Limits
) -> Outcome | None:
    """Returns the outcome by all that may be inside, None if that takes too much."""
    found = swept(known, len(known.levels), limits)
    if found is None:
        return None
    stuck = None if found.stuck is None else start + found.stuck
    return outcome_of(stacks.calls, start, end, stuck, "stack-graph")


def by_bounds(
    stacks: Containers, start: int, end: int, known: Calls, limits: Limits
) -> Outcome | None:
    """Returns the outcome by what is necessary, and an order that is found; else None.

    Where what is necessary fails, but no order is found of all before, it says so.
    """
    calls = stacks.calls
    complete = calls.complete[start:end]
    shown = min(
        short_at(
            calls.action[start:end], calls.element[start:end], calls.invoke[start:end], complete
        ),
        _crossed_at(stacks, start, end),
    )
    passed = int(np.count_nonzero(complete < shown))
    is_passed = searched(known, passed, limits) is not None
    if not is_passed and shown == NEVER:
        return None
    if shown == NEVER:
        return outcome_of(calls, start, end, None, "stack-repeated")
    stuck = start + int(np.flatnonzero(complete == shown)[0])
    outcome = outcome_of(calls, start, end, stuck, "stack-repeated")
    return outcome if is_passed else replace(outcome, linearizable=None)


def _crossed_at(stacks: Containers, start: int, end: int) -> int:
    """Returns a completion by which elements that are put once can't be nested; NEVER if none."""
    once = put_once(stacks.calls, start, end)
    stuck = first_stuck(once, 0, len(once), replace(stacks, calls=once).may_be_legal)
    return NEVER if stuck is None else int(once.complete[stuck])


def put_once(calls: ContainerCalls, start: int, end: int) -> ContainerCalls:
    """Returns the calls of one key that are of elements put at most once, or of none."""
    element = calls.element[start:end]
    puts = np.bincount(
        element[calls.action[start:end] == PUT], minlength=element.max(initial=0) + 1
    )
    kept = start + np.flatnonzero((element == NO_VALUE) | (puts[element] <= 1))
    return replace(
        calls,
        starts=np.asarray([0, len(kept)]),
        rows=calls.rows[kept],
        invoke=calls.invoke[kept],
        complete=calls.complete[kept],
        action=calls.action[kept],
        element=calls.element[kept],
    )
