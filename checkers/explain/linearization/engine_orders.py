"""Asks a compiled engine for a legal order, for the longest linearization.

A proposal: `checkers.explain.reduction.update_order` replays it by the model's own steps.
"""

from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.engines import registry
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.models import ColumnarModel, SequentialModel
from kraftproof.checkers.options import Limits

_SHARE: Final = 0.8
"""Share of the time limit for the engine's order; a search of another kind uses the rest."""


def engine_order(
    model: SequentialModel, operations: Sequence[Operation], end: int, seconds: float
) -> list[int] | None:
    """Return the indices of operations, up to an event, in an order; None if no engine has one.

    Args:
        model: the model.
        operations: all of one key.
        end: the event.
        seconds: what the engine may take, counted in steps.
    """
    if not isinstance(model, ColumnarModel):
        return None
    by_invocation = sorted(operations, key=lambda operation: operation.invoke_index)
    calls = model.calls_of(columns_of(operations_table(by_invocation)))
    if calls is None:
        return None
    rows = registry.order_of(calls, end, Limits(seconds=seconds * _SHARE))
    return None if rows is None else [by_invocation[row].index for row in rows.tolist()]
