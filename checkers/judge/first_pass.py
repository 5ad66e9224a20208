"""First pass: asks the engines for the verdict on each key of a history.

The general engine decides most short histories without compiled code. Loading compiled code takes
a second, and the first compilation on a machine takes tens of seconds. The general engine gives up
after a number of configurations, not of seconds, so that the same history always gets the same
verdict in the same words: first after a few thousand a key, then after all that plain Python looks
at in about a second, shared by the keys that are left. The calls for a compiled engine are made
when the engine is asked.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

import msgspec

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.engines.wgl.replay import is_legal
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import (
    ColumnarModel,
    ProposingModel,
    SequentialModel,
    is_compiled,
    names_anomalies,
)
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict

_SHORT_HISTORY: Final = 5_000
"""Operations, up to which the general engine is asked before a compiled one."""
_SHORT_FOR_PLAIN: Final = 2_000
"""Maximum number of operations for asking the general engine before an engine without compiled
code.
"""
_FIRST_PASS_BYTES: Final = 1_000_000
"""Memory for each key at first: some 2,500 configurations."""
_SECOND_PASS_BYTES: Final = 16_000_000
"""Memory for all keys still open together: some 40,000 configurations, a second of plain Python."""

Keys = list[list[Operation]]
"""The operations of each key."""


def read(model: ColumnarModel, columns: Columns) -> Keys | Calls | None:
    """Return the input of the first engine; None if only the general engine can decide the history.

    Raises:
        ValueError: the model can't read a value.
    """
    most = _SHORT_HISTORY if is_compiled(model) else _SHORT_FOR_PLAIN
    if len(columns) > most or not isinstance(model, SequentialModel):
        return model.calls_of(columns)
    keys = [columns.operations(key) for key in range(len(columns.keys))]
    for operations in keys:
        for operation in operations:
            model.validate(operation)
    return keys


def outcomes_of(
    model: ColumnarModel, columns: Columns, given: Keys | Calls, options: CheckOptions
) -> Sequence[Outcome | None]:
    """Return the outcome of each key, None for a key that the general engine has to decide.

    Args:
        model: what the history is checked against.
        columns: the history.
        given: what `read` returned.
        options: limits, and how many processes there may be.
    """
    if isinstance(given, Calls):
        return registry.decide(given, options.limits, options.processes)
    outcomes = _first_pass(cast("SequentialModel", model), columns, given, options.limits)
    asked_again = {Verdict.UNKNOWN, *([Verdict.INVALID] if names_anomalies(model) else [])}
    if asked_again.isdisjoint(outcome.verdict for outcome in outcomes):
        return outcomes
    calls = model.calls_of(columns)
    if calls is None:
        return [None if one.verdict is Verdict.UNKNOWN else one for one in outcomes]
    decided = registry.decide(calls, options.limits, options.processes)
    return [
        second if first.verdict is Verdict.UNKNOWN else _named(first, second)
        for first, second in zip(outcomes, decided, strict=True)
    ]


def _first_pass(
    model: SequentialModel, columns: Columns, keys: Keys, limits: Limits
) -> list[Outcome]:
    """Return the general engine's outcome of each key, with little memory first, then with more."""

    def decided(key: int, memory_bytes: int) -> Outcome:
        memory = min(limits.memory_bytes, memory_bytes)
        less = msgspec.structs.replace(limits, memory_bytes=memory)
        return searched(model, keys[key], less).within(-int(columns.starts[key]))

    outcomes = [decided(key, _FIRST_PASS_BYTES) for key in range(len(keys))]
    left = [key for key, one in enumerate(outcomes) if one.verdict is Verdict.UNKNOWN]
    share = _SECOND_PASS_BYTES // max(1, len(left))
    if share > _FIRST_PASS_BYTES and is_compiled(model):
        for key in left:
            outcomes[key] = decided(key, share)
    return outcomes


def _named(first: Outcome, second: Outcome | None) -> Outcome:
    """Return the general engine's outcome with the anomaly that a compiled engine names."""
    return first if second is None else replace(first, anomaly=second.anomaly)


def searched(model: SequentialModel, operations: Sequence[Operation], limits: Limits) -> Outcome:
    """Return what the general engine says; rows are places among the operations.

    An order that the model proposes is tried first.
    """
    order = model.proposed(operations) if isinstance(model, ProposingModel) else None
    if order is not None and is_legal(model, operations, order):
        return Outcome(verdict=Verdict.VALID, engine="witness")
    return check_linearizable(model, operations, limits).among(operations)


def or_refuted(
    model: SequentialModel, outcome: Outcome, operations: Sequence[Operation]
) -> Outcome:
    """Return the outcome, or invalid if the outcome is unknown and an answer is impossible.

    Rows are places among the operations.
    """
    if outcome.verdict is not Verdict.UNKNOWN:
        return outcome
    from kraftproof.checkers.judge.refute import refute  # and all that explanations need

    return refute(model, operations) or outcome
