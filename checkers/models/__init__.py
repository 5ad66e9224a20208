"""The models that a history can be checked against, and how to find them.

A model is a small class, one file each, named in the entry-point group `kraftproof.models`; a
plug-in adds its own there. `Model` is what every model can do. What else one can do are separate
protocols: `SequentialModel` is checked for linearizability by an engine, `PropertyModel` checks
properties of its own; one may be both. `ColumnarModel` is the hint that makes the compiled engines
(`checkers.engines`) take over from the general one.
"""

import sys
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final, Protocol, runtime_checkable
from zlib import crc32

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.crash import origin_of
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError, Finding

ENTRY_POINT_GROUP: Final = "kraftproof.models"
NO_MODEL: Final = "no model: it has to be a Specification, a SequentialModel or a PropertyModel"


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
        """Returns the key to check the operation under, apart from all others (a hint)."""
        return operation.key


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
class CommutingModel(SequentialModel, Protocol):
    """A model that knows which calls commute (a hint: engines leave out what leads nowhere new)."""

    def commutes(self, one: Hashable, other: Hashable) -> bool:
        """Says whether two calls commute.

        They do if, from every state, either order of them is legal exactly if the other is, and
        leads to the same state. False where it is not known. This has to be right: an engine that
        is told so of calls that don't can miss a legal order.
        """
        ...


@runtime_checkable
class ProposingModel(Model, Protocol):
    """A model that often knows a legal order (a hint: it is replayed before it is believed)."""

    def proposed(self, operations: Sequence[Operation]) -> Sequence[int] | None:
        """Returns places among the operations of one key in an order to try, None for no idea."""
        ...


@runtime_checkable
class PropertyModel(Model, Protocol):
    """A model that checks properties other than linearizability."""

    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        """Returns what is wrong, or slow, among the operations of one key, in invocation order."""
        ...


@runtime_checkable
class ColumnarModel(Model, Protocol):
    """A model that turns whole columns into calls for a compiled engine (a hint).

    What it is given is under its keys already. It stands for `validate`, too. A model whose engine
    names the anomaly of what is invalid says so by `names_anomalies = True`: then the engine is
    asked about short histories, too. A model whose engine is quick without compiled code says so
    by `is_compiled = False`: then the general engine does not take long before that engine.
    """

    def calls_of(self, columns: Columns) -> Calls | None:
        """Returns the calls of all keys, or None where only the general engine will do.

        Raises:
            ValueError: a value can't be read; the message says which field wants what.
        """
        ...


def names_anomalies(model: Model) -> bool:
    """Says whether the model's compiled engine names the anomaly of what is invalid."""
    return bool(getattr(model, "names_anomalies", False))


def is_compiled(model: Model) -> bool:
    """Says whether the model's engine loads compiled code."""
    return bool(getattr(model, "is_compiled", True))


def has_own_keys(model: Model) -> bool:
    """Says whether the model checks operations under other keys than the history's."""
    return getattr(type(model), "key", Model.key) is not Model.key


_of_files: Final[dict[str, Model]] = {}
"""The models that were taken from files, by name."""


@cache
def models() -> dict[str, Model]:
    """Returns all registered models by name, sorted.

    Raises:
        CheckerInputError: none is registered, or two that are not the same have one name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            both = " and ".join(sorted(map(origin_of, (other, entry))))
            raise CheckerInputError(
                f"model {entry.name}: registered twice in {ENTRY_POINT_GROUP}, as {both}:"
                " rename or uninstall one"
            )
    if not found:
        raise CheckerInputError(
            f"no model is registered in {ENTRY_POINT_GROUP}: install kraftproof"
        )
    return {name: _loaded(found[name]) for name in sorted(found)}


def _loaded(entry: EntryPoint) -> Model:
    named = f"{entry.name} ({origin_of(entry)})"
    try:
        return _required(named, entry.load()())
    except CheckerInputError:
        raise
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {shortened(' '.join(str(error).split()))}"
        raise CheckerInputError(f"model {named} can't be loaded: {said}") from error


def model_named(name: str) -> Model:
    """Returns the model of that name, or of a class in a file, path/to/file.py:ClassName.

    A model that was taken from a file is known by its name from then on.

    Raises:
        CheckerInputError: there is no such model; the message says which there are.
    """
    if ".py:" in name:
        return model_of_file(name)
    if name.endswith(".py"):
        raise CheckerInputError(
            f"model {shortened(name)}: a file, give its class too, as in"
            f" {shortened(name)}:ClassName"
        )
    try:
        return _of_files.get(name) or models()[name]
    except KeyError:
        known = ", ".join(models())
        raise CheckerInputError(
            f"model {shortened(name)}: no such model; there are {known}"
        ) from None


@cache
def model_of_file(reference: str) -> Model:
    """Returns the model that a class in a file is; the file is run once.

    Raises:
        CheckerInputError: the file can't be run, or the class is no model.
    """
    path, _, class_name = reference.rpartition(":")
    unique = f"kraftproof_model_{crc32(str(Path(path).absolute()).encode()):08x}"
    spec = spec_from_file_location(unique, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[unique] = module
    try:
        spec.loader.exec_module(module)
        model = getattr(module, class_name)()
    except (Exception, SystemExit) as error:
        del sys.modules[unique]
        said = (str(error).strip().splitlines() or ["no reason given"])[0].replace(unique, path)
        raise CheckerInputError(
            f"model {shortened(reference)}: {type(error).__name__}: {shortened(said)}"
        ) from error
    found = _required(reference, model)
    _of_files[found.name] = found
    return found


def _required(reference: str, model: object) -> Model:
    if not isinstance(model, SequentialModel | PropertyModel):
        raise CheckerInputError(f"model {reference}: {type(model).__name__} is {NO_MODEL}")
    name, functions = (getattr(model, field, None) for field in ("name", "functions"))
    if not isinstance(name, str) or not name:
        raise CheckerInputError(f"model {reference}: its name is {name!r}, not a text")
    is_set = isinstance(functions, Collection) and not isinstance(functions, str)
    if is_set and all(isinstance(one, str) for one in functions or ()):
        return model
    raise CheckerInputError(
        f"model {reference}: its functions are {functions!r}, not a set of texts"
    )


def reference_to(model: Model) -> str | None:
    """Returns what `model_named` finds the model by in another process, None if nothing does."""
    kind = type(model)
    if kind is type(models().get(model.name)):
        return model.name
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    is_of_file = kind.__module__.startswith("kraftproof_model_")
    return f"{Path(file).absolute()}:{kind.__name__}" if is_of_file and file else None


def unknown_function(model: Model, operation: Operation) -> ValueError:
    """Returns the error for an operation that the model does not know."""
    known = ", ".join(sorted(model.functions))
    return ValueError(
        f"field f: {shortened(operation.f)} is no operation of {model.name}, which has {known}"
    )
