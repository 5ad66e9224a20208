"""Decide a stack with repeated elements or indeterminate takes.

The problem is NP-complete. With few open and few indeterminate calls,
`checkers.engines.repeated.stack.graph` decides it. Otherwise a history is valid if the beam search
finds an order (`checkers.engines.repeated.stack.order`) and the replay confirms it; a history is
invalid if a necessary condition fails by some completion, and the first illegal completion is known
if an order is found of all calls before it. The necessary conditions are

- the counts of elements (`checkers.engines.repeated.counting`);
- that the intervals of unique elements can be nested: a legal order without all calls of some
  elements is an order of a smaller stack, which `checkers.engines.kernels.distinct_elements`
  decides.
"""

from dataclasses import replace

import numpy as np

from kraftproof.checkers.calls.containers import PUT, ContainerCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of
from kraftproof.checkers.engines.kernels.distinct_elements import Containers
from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.engines.repeated.stack.graph import swept
from kraftproof.checkers.engines.repeated.stack.layout import Calls, calls_of, has_indeterminate
from kraftproof.checkers.engines.repeated.stack.order import searched, shares
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits


def decide_repeated(stacks: Containers, start: int, end: int, limits: Limits) -> Outcome | None:
    """Return the outcome of a stack, None if the limits leave it open.

    With indeterminate calls a sweep mostly exceeds its limits, so it goes last; otherwise first.
    """
    known = calls_of(stacks.calls, start, end)
    sweeping, searching = shares(known, limits)
    ways = [(by_sweep, sweeping), (by_bounds, searching)]
    found = None
    for way, limit in reversed(ways) if has_indeterminate(known) else ways:
        outcome = way(stacks, start, end, known, limit)
        if outcome is not None and outcome.linearizable is not None:
            return outcome
        found = found or outcome
    return found


def by_sweep(
    stacks: Containers, start: int, end: int, known: Calls, limits: Limits
) -> Outcome | None:
    """Return the outcome of the sweep over all states, None beyond its limits."""
    found = swept(known, len(known.levels), limits)
    if found is None:
        return None
    first_illegal = None if found.first_illegal is None else start + found.first_illegal
    return outcome_of(stacks.calls, start, end, first_illegal, "stack-graph")


def by_bounds(
    stacks: Containers, start: int, end: int, known: Calls, limits: Limits
) -> Outcome | None:
    """Return the outcome by a necessary condition or an order that is found; else None.

    If the condition fails, and no order of all earlier calls is found, the outcome leaves open
    whether the illegal call is the first.
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
    first_illegal = start + int(np.flatnonzero(complete == shown)[0])
    outcome = outcome_of(calls, start, end, first_illegal, "stack-repeated")
    return outcome if is_passed else replace(outcome, linearizable=None)


def _crossed_at(stacks: Containers, start: int, end: int) -> int:
    """Return a completion by which elements that are put once can't be nested; NEVER otherwise."""
    once = put_once(stacks.calls, start, end)
    first_illegal = find_first_illegal(once, 0, len(once), replace(stacks, calls=once).may_be_legal)
    return NEVER if first_illegal is None else int(once.complete[first_illegal])


def put_once(calls: ContainerCalls, start: int, end: int) -> ContainerCalls:
    """Return the calls of a key that are of elements put at most once, or of none."""
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
