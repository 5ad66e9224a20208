"""The models that a history can be checked against, and how to find them.

A model is a small class, one file each, named in the entry-point group `kraftproof.models`; a
plug-in adds its own there. `Model` is what every model can do. What else one can do are separate
protocols: `SequentialModel` is checked for linearizability by an engine, `PropertyModel` checks
properties of its own. A model may be both.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Final, Protocol, runtime_checkable

from checkers.history import Operation
from checkers.options import CheckOptions
from checkers.verdict import CheckerInputError, Finding

ENTRY_POINT_GROUP: Final = "kraftproof.models"


class Model(Protocol):
    """What every model can do."""

    @property
    def name(self) -> str:
        """The name that users and workloads call it by."""
        ...

    @property
    def functions(self) -> frozenset[str]:
        """The `f` of the operations that it knows."""
        ...

    def validate(self, operation: Operation) -> None:
        """Raises ValueError, naming the field, for an operation whose values it can't read."""
        ...

    def key(self, operation: Operation) -> str:
        """Returns the key to check the operation under, apart from all others."""
        ...


@runtime_checkable
class SequentialModel(Model, Protocol):
    """A model with a sequential specification, for a linearizability engine.

    A *call* is an operation made small and hashable, its answer included. Equal calls are
    interchangeable. A state is hashable and never None.
    """

    def init(self) -> Hashable:
        """Returns the state before the first operation."""
        ...

    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        """Returns each operation's call; None for one that constrains nothing."""
        ...

    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        """Returns the state after the call, or None where the call can't have had its answer."""
        ...

    def is_pure(self, call: Hashable) -> bool:
        """Says whether the call leaves every state as it is (a hint: engines apply it at once)."""
        ...

    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Returns what maps a state to its normal form (a hint: engines search fewer states).

        Two states may have one normal form only if none of the calls, in any order, tells them
        apart; a state that no call asks for is the usual case.
        """
        return _as_it_is

    def describe(self, state: Hashable) -> str:
        """Returns the state in words."""
        ...


def _as_it_is(state: Hashable) -> Hashable:
    return state


@runtime_checkable
class PropertyModel(Model, Protocol):
    """A model that checks properties other than linearizability."""

    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        """Returns what is wrong, or slow, among the operations of one key, in invocation order."""
        ...


@cache
def models() -> dict[str, Model]:
    """Returns all registered models by name, sorted."""
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if not found:
        raise CheckerInputError(
            f"no model is registered in {ENTRY_POINT_GROUP}: install kraftproof"
        )
    return {name: found[name].load()() for name in sorted(found)}


def model_named(name: str) -> Model:
    """Returns the model of that name, or raises CheckerInputError with the names there are."""
    try:
        return models()[name]
    except KeyError:
        known = ", ".join(models())
        raise CheckerInputError(f"model {name}: no such model; there are {known}") from None


def infer_model(path: object, functions: Iterable[str]) -> Model:
    """Returns the one model that knows all of the functions of a history.

    Raises:
        CheckerInputError: no model fits, or more than one does.
    """
    used = sorted(set(functions))
    fitting = [model for model in models().values() if model.functions.issuperset(used)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(model.name for model in fitting or models().values())
    what = "more than one model fits" if fitting else "no model fits"
    raise CheckerInputError(
        f"{path}: {what} the operations {', '.join(used)}: give --model ({names})"
    )


def unknown_function(model: Model, operation: Operation) -> ValueError:
    """Returns the error for an operation that the model does not know."""
    known = ", ".join(sorted(model.functions))
    return ValueError(f"field f: {operation.f} is no operation of {model.name}, which has {known}")
