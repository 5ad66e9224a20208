"""Explains an impossible answer in one sentence: the model's reason, or a general reason.

See `checkers.models.reasons` for the rules that models share, and `checkers.explain` for the
smallest set of operations that proves a history invalid.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import Model
from kraftproof.checkers.text import shortened


@runtime_checkable
class ReasoningModel(Model, Protocol):
    """A model that can say why an answer can't be (a hint: else the sentence is a general one)."""

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why an operation cannot have had its answer, None without an obvious reason.

        Args:
            operations: all of the key, in the order of their invocations.
            wrong: the completed operation that no legal order contains.
        """
        ...


def reason_of(
    model: Model, operations: Sequence[Operation] | None, wrong: Operation, outcome: Outcome
) -> str:
    """Return why an operation can't have had its answer; a general sentence where need be.

    Args:
        model: the model that the history breaks.
        operations: all operations of the key; None above the limit.
        wrong: the operation that has no place.
        outcome: the engine's.
    """
    said = None
    if operations is not None and isinstance(model, ReasoningModel):
        try:
            among = next(one for one in operations if one.index == wrong.index)
            said = model.reason(operations, among)
        except Exception:  # noqa: BLE001 a model may raise anything: the verdict stands without
            said = None
    named = "" if outcome.anomaly is None else f" ({outcome.anomaly})"
    return f"{said or general_reason(outcome)}{named}"


def general_reason(outcome: Outcome) -> str:
    """Return a sentence for any model: no legal order contains the operation."""
    count = outcome.linearizable
    if count is None:
        return (
            "no legal order contains this operation; whether the operations completed earlier have"
            " a legal order was not decided"
        )
    if count == 0:
        return "no legal order of the operations begun by then contains this operation"
    before = f"the {count:,} operations" if count > 1 else "the one operation"
    has = "have" if count > 1 else "has"
    left = " or ".join(map(shortened, outcome.states))
    leaves = f", which leaves {left}" if left else ""
    return (
        f"{before} completed earlier {has} a legal order{leaves};"
        " no legal order also contains this operation"
    )
