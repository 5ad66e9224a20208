"""Decide histories with many indeterminate calls by the general engine, from both sides.

The choice of indeterminate calls that took effect makes most of the configurations of a search, and
a search without success has to visit all of them. If an indeterminate call may take effect any
number of times, no choice has to be remembered. Every legal order remains one, so no order passes
the completion at which this relaxed search fails. If an order of all earlier completions exists,
that completion is the first illegal one; a search for an existing order seldom has to go back. If
no such order exists, the search names the earlier illegal completion.

A first search with little memory decides most histories, so that the relaxation costs nothing
there.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kraftproof.checkers.engines.wgl.plan import Plan, make_plan, plan_of
from kraftproof.checkers.engines.wgl.search import Found, search
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_FIRST_BYTES: Final = 4_000_000
_RELAXED_BYTES: Final = 20_000_000


def check_linearizable(
    model: SequentialModel, operations: Sequence[Operation], limits: Limits
) -> Found:
    """Return whether the operations of a key are linearizable under the model."""
    started = time.monotonic()
    return decided(model, make_plan(model, operations), limits, started)


def decided(model: SequentialModel, plan: Plan, limits: Limits, started: float) -> Found:
    """Decide whether a plan is linearizable from the initial state.

    Args:
        model: the model.
        plan: the operations of a key.
        limits: the limits.
        started: the moment from which its time is counted.
    """
    first = _with_memory(limits, _FIRST_BYTES)
    if plan.indeterminate and first != limits:
        found = search(model, plan, first, [model.init()], started=started)
        if found.verdict is not Verdict.UNKNOWN:
            return found
        decided = from_both_sides(model, plan, limits, started)
        if decided is not None:
            return decided
    return search(model, plan, limits, [model.init()], started=started)


def from_both_sides(
    model: SequentialModel, plan: Plan, limits: Limits, started: float
) -> Found | None:
    """Decide a plan by what is stuck though indeterminate calls take effect as often as they like.

    None if nothing is.
    """
    few = _with_memory(limits, _RELAXED_BYTES)
    above = search(model, plan, few, [model.init()], started=started, is_relaxed=True)
    if above.first_illegal is None or above.first_illegal.complete_index is None:
        return None
    before = _until(model, plan, above.first_illegal.complete_index)
    found = search(model, before, limits, [model.init()], started=started)
    return replace(above, states=()) if found.verdict is Verdict.VALID else found


def _with_memory(limits: Limits, memory_bytes: int) -> Limits:
    less = min(limits.memory_bytes, memory_bytes)
    return msgspec.structs.replace(limits, memory_bytes=less)


def _until(model: SequentialModel, plan: Plan, end: int) -> Plan:
    """Return the plan of the calls invoked before a completion; open calls are optional."""
    kept = []
    for operation, call in zip(plan.operations, plan.calls, strict=True):
        cut = _cut(operation, end)
        if operation.invoke_index < end and (cut.status == "ok" or not model.is_pure(call)):
            kept.append((cut, call))
    return plan_of(model, kept)


def _cut(operation: Operation, end: int) -> Operation:
    is_open = operation.status == "ok" and (operation.complete_index or 0) >= end
    return msgspec.structs.replace(operation, status="info") if is_open else operation
