"""Finds the model of a history by its functions and the shape of its values, if exactly one fits.

The inference never guesses: reads alone fit too many models, and a model that does not know a
function, or cannot read a value, does not fit. A model with lenient checks of values recognises
likely histories by `has_shape`.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, runtime_checkable

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import Model, models
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

_ASKS_ONLY: Final = frozenset({"read", "get"})
"""Names of read-only functions that many models share."""


@runtime_checkable
class ShapedModel(Model, Protocol):
    """A model that reads almost any value, and recognises likely histories of its own (a hint)."""

    def has_shape(self, operations: Sequence[Operation]) -> bool:
        """Return whether some readable operations are likely operations of this model."""
        ...


def infer_model(path: object, functions: Iterable[str], some: Iterable[Operation]) -> Model:
    """Return the single model that fits the functions and the values of a history.

    Args:
        path: the history, as errors name it.
        functions: its operations' functions.
        some: a sample of the operations of each function.

    Raises: CheckerInputError: no model fits, or several models fit; the message names the
        candidates.
    """
    used = sorted(set(functions))
    named = f"the operations {shortened(', '.join(used))}"
    knowing = [model for model in models().values() if model.functions.issuperset(used)]
    if not knowing:
        raise _refusal(path, f"no model fits {named}", list(models().values()))
    if len(knowing) == 1 and not _depends_on_values(knowing[0], used):
        return knowing[0]  # its own message names a mistake; the sample may be long
    sample = list(some)
    reading = [model for model in knowing if _can_read(model, sample)]
    if not reading and len(knowing) == 1:
        return knowing[0]  # its own message names the mistake
    fitting = [model for model in reading if _has_shape(model, sample)]
    if _ASKS_ONLY.issuperset(used):
        raise _refusal(path, f"{named} alone tell no model", fitting or knowing)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise _refusal(path, f"more than one model fits {named}", fitting)
    raise _refusal(path, f"no model fits {named} with such values", knowing)


def _depends_on_values(model: Model, functions: Sequence[str]) -> bool:
    """Return whether a sample decides if the only model that knows the functions fits."""
    return isinstance(model, ShapedModel) or _ASKS_ONLY.issuperset(functions)


def _refusal(path: object, what: str, named: Sequence[Model]) -> CheckerInputError:
    names = ", ".join(model.name for model in named)
    return CheckerInputError(f"{path}: {what}: give --model ({names})")


def _has_shape(model: Model, operations: Sequence[Operation]) -> bool:
    return not isinstance(model, ShapedModel) or model.has_shape(operations)


def _can_read(model: Model, operations: Iterable[Operation]) -> bool:
    try:
        for operation in operations:
            model.validate(operation)
    except ValueError:
        return False
    return True
