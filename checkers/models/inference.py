"""Tells a history's model from its functions and the shape of its values, if both fit exactly one.

Nothing is guessed: reads alone fit too many models, and a model that does not know a function, or
can't read a value, is none of them. A model whose own checks of values are lenient says by
`has_shape` which histories look like one of its own.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, runtime_checkable

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import Model, models
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

_ASKS_ONLY: Final = frozenset({"read", "get"})
"""Names of read-only functions that many models share."""


@runtime_checkable
class ShapedModel(Model, Protocol):
    """A model that reads almost any value, and knows which histories look like its own (a hint)."""

    def has_shape(self, operations: Sequence[Operation]) -> bool:
        """Says whether some operations of a history, which it can read, may well be its own."""
        ...


def infer_model(path: object, functions: Iterable[str], some: Iterable[Operation]) -> Model:
    """Returns the one model that fits the functions of a history and the shape of its values.

    Args:
        path: the history, as errors name it.
        functions: its operations' functions.
        some: some of its operations, of each function.

    Raises:
        CheckerInputError: no model fits, or more than one does; it says what may be meant.
    """
    used = sorted(set(functions))
    named = f"the operations {shortened(', '.join(used))}"
    knowing = [model for model in models().values() if model.functions.issuperset(used)]
    if not knowing:
        raise _refusal(path, f"no model fits {named}", list(models().values()))
    sample = list(some)
    reading = _those(knowing, lambda model: _can_read(model, sample))
    fitting = [model for model in reading if _has_shape(model, sample)]
    if _ASKS_ONLY.issuperset(used):
        raise _refusal(path, f"{named} alone tell no model", fitting or knowing)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise _refusal(path, f"more than one model fits {named}", fitting)
    raise _refusal(path, f"no model fits {named} with such values", knowing)


def _those(known: Sequence[Model], fits: Callable[[Model], bool]) -> Sequence[Model]:
    """Returns the models that fit; one that is alone need not, since it says what is wrong."""
    return known if len(known) == 1 else [model for model in known if fits(model)]


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
