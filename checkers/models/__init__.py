"""The models for checking histories, and their registry.

A model is a small class, one file each, named in the entry-point group `kraftproof.models`; a
plug-in adds its own there. `Model` is the common protocol of all models. Further protocols add
abilities: an engine checks a `SequentialModel` for linearizability, a `PropertyModel` checks its
own properties; a model may be both. `ColumnarModel` is the hint that makes the compiled engines
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

import pyarrow as pa

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.crash import origin_of, reraise_interrupt
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.renamed import require_new_names
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError, Finding
from kraftproof.spelling import nearest

ENTRY_POINT_GROUP: Final = "kraftproof.models"
NO_MODEL: Final = "no model: it has to be a Specification, a SequentialModel or a PropertyModel"


class Model(Protocol):
    """The common protocol of all models."""

    @property
    def name(self) -> str:
        """The model's name for users and workloads."""
        ...

    @property
    def functions(self) -> frozenset[str]:
        """The function names `f` of its operations."""
        ...

    def validate(self, operation: Operation) -> None:
        """Raise ValueError, naming the field, for an operation whose values it can't read."""
        ...

    def key(self, operation: Operation) -> str:
        """Return the key of the operation; keys are checked independently (a hint)."""
        return operation.key


@runtime_checkable
class SequentialModel(Model, Protocol):
    """A model with a sequential specification, for a linearizability engine.

    A *call* is an operation made small and hashable, its answer included. Equal calls are
    interchangeable. A state is hashable and never None.
    """

    def init(self) -> Hashable:
        """Return the state before the first operation."""
        ...

    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        """Return each operation's call; None for an operation without a constraint."""
        ...

    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        """Return the state after the call, or None where the call can't have had its answer."""
        ...

    def is_pure(self, call: Hashable) -> bool:
        """Return whether the call changes no state (a hint: engines apply it at once)."""
        ...

    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Return a map from states to normal forms (a hint: engines search fewer states).

        Two states may share a normal form only if no sequence of the calls distinguishes the
        states, for example states with different values that no call reads.
        """
        return _as_it_is

    def describe(self, state: Hashable) -> str:
        """Return the state in words."""
        ...


def _as_it_is(state: Hashable) -> Hashable:
    return state


@runtime_checkable
class CommutingModel(SequentialModel, Protocol):
    """A model that knows which calls commute (a hint: engines skip redundant orders)."""

    def commutes(self, one: Hashable, other: Hashable) -> bool:
        """Return whether two calls commute.

        Two calls commute if, from every state, either order is legal exactly if the other order is,
        with the same final state. False if unknown. A wrong answer can make an engine miss a legal
        order.
        """
        ...


@runtime_checkable
class ProposingModel(Model, Protocol):
    """A model that proposes a legal order (a hint: the order is replayed before use)."""

    def proposed(self, operations: Sequence[Operation]) -> Sequence[int] | None:
        """Return places among the operations of one key in an order to try, None for no idea."""
        ...


@runtime_checkable
class PropertyModel(Model, Protocol):
    """A model that checks properties beyond linearizability."""

    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        """Return the findings on the operations of one key, given in invocation order."""
        ...


@runtime_checkable
class TableModel(Model, Protocol):
    """A model that judges the operations of a key as columns, without objects."""

    def judge_rows(
        self, key: str, rows: pa.Table, options: CheckOptions
    ) -> tuple[list[Finding], str | None]:
        """Return the findings, and why a key without a finding is unknown, or None if valid.

        Raises: ValueError: a value can't be read; the message names the field.
        """
        ...


@runtime_checkable
class ColumnarModel(Model, Protocol):
    """A model that turns whole columns into calls for a compiled engine (a hint).

    The columns are already grouped by key. It stands for `validate`, too. A model whose engine
    names anomalies sets `names_anomalies = True`: then the engine decides short invalid histories
    again. A model whose engine is quick without compiled code sets `is_compiled = False`: then the
    general engine gives up earlier.
    """

    def calls_of(self, columns: Columns) -> Calls | None:
        """Return the calls of all keys, or None if only the general engine can decide the history.

        Raises: ValueError: a value can't be read; the message names the field and the expected
            value.
        """
        ...


def names_anomalies(model: Model) -> bool:
    """Return whether the model's compiled engine names the anomaly of what is invalid."""
    return bool(getattr(model, "names_anomalies", False))


def is_compiled(model: Model) -> bool:
    """Return whether the model's engine loads compiled code."""
    return bool(getattr(model, "is_compiled", True))


def has_own_keys(model: Model) -> bool:
    """Return whether the model checks operations under other keys than the history's."""
    return getattr(type(model), "key", Model.key) is not Model.key


_of_files: Final[dict[str, Model]] = {}
"""The models that were taken from files, by name."""


@cache
def models() -> dict[str, Model]:
    """Return all registered models by name, sorted.

    Raises: CheckerInputError: no model is registered, or two different models have the same name.
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
    except BaseException as error:
        reraise_interrupt(error)
        said = f"{type(error).__name__}: {shortened(' '.join(str(error).split()))}"
        raise CheckerInputError(f"model {named} can't be loaded: {said}") from error


def model_named(name: str) -> Model:
    """Return the model of that name, or of a class in a file, path/to/file.py:ClassName.

    A model from a file is known by its name afterwards.

    Raises: CheckerInputError: there is no such model; the message lists the known models.
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
        said = f"no such model{nearest(name, models())}; there are {', '.join(models())}"
        raise CheckerInputError(f"model {shortened(name)}: {said}") from None


@cache
def model_of_file(reference: str) -> Model:
    """Return the model that a class in a file is; the file is run once.

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
    except BaseException as error:
        reraise_interrupt(error)
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
    require_new_names(reference, model)
    is_set = isinstance(functions, Collection) and not isinstance(functions, str)
    if is_set and all(isinstance(one, str) for one in functions or ()):
        return model
    raise CheckerInputError(
        f"model {reference}: its functions are {functions!r}, not a set of texts"
    )


def reference_to(model: Model) -> str | None:
    """Return the reference by which `model_named` finds the model in another process, or None."""
    kind = type(model)
    if kind is type(models().get(model.name)):
        return model.name
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    is_of_file = kind.__module__.startswith("kraftproof_model_")
    return f"{Path(file).absolute()}:{kind.__name__}" if is_of_file and file else None


def unknown_function(model: Model, operation: Operation) -> ValueError:
    """Return the error for an operation that the model does not know."""
    known = ", ".join(sorted(model.functions))
    return ValueError(
        f"field f: {shortened(operation.f)} is no operation of {model.name}, which has {known}"
    )
