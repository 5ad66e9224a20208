"""The values that a system starts with, as a user states them, put before a history.

A stated value becomes operations that were over before the first of the history: a write of it, for
a register. So every engine, every explanation and every reference knows what it means, and no
engine has to be told. These operations have negative numbers and events, the history's keep theirs.
Only models that are `StartingModel` have initial values to state.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation, as_text
from kraftproof.checkers.history.tables import iterate_rows, operations_table
from kraftproof.checkers.models import Model, models
from kraftproof.checkers.stated import InitialValues
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

Step = tuple[str, object, object]
"""An operation that sets up a value: its function, input and output."""

_LAST_EVENT: Final = -2
"""The completion of the last operation that sets up a value; -1 stands for no event in places."""


@runtime_checkable
class StartingModel(Model, Protocol):
    """A model whose initial values can be stated."""

    def starting_with(self, value: object) -> Sequence[Step]:
        """Returns the operations that set up a value.

        Raises:
            ValueError: the model can't start with that value.
        """
        ...


@runtime_checkable
class PlacedModel(StartingModel, Protocol):
    """A model of several places under one key, each with a value of its own.

    Its `starting_with` takes a map of places to values.
    """

    def places(self, operations: Iterable[Operation]) -> Collection[str]:
        """Returns the places that operations name, as JSON."""
        ...


def parse_initial(texts: Iterable[str] | None) -> InitialValues | None:
    """Returns what `--initial VALUE` and `--initial KEY=VALUE` state; None if nothing does.

    Raises:
        CheckerInputError: a text is neither.
    """
    default, by_key = None, {}
    for text in texts or ():
        key, mark, value = text.partition("=")
        if _is_json(text):
            default = text
        elif mark and _is_json(value):
            by_key[key] = value
        else:
            raise CheckerInputError(
                f"--initial {shortened(text)}: JSON, or KEY=JSON, is expected; a text needs quotes,"
                " as in '\"a\"'"
            )
    return InitialValues(default=default, by_key=by_key) if default or by_key else None


def started(path: object, model: Model, table: pa.Table, values: InitialValues) -> pa.Table:
    """Returns the operations of a history after those that set up its initial values.

    Raises:
        CheckerInputError: the model has no initial value, or not such a one.
    """
    if not isinstance(model, StartingModel):
        able = ", ".join(name for name, one in models().items() if isinstance(one, StartingModel))
        raise CheckerInputError(
            f"{path}: --initial: the model {model.name} has no initial value to state, as {able}"
        )
    steps: list[tuple[str, Step]] = []
    for key in table.column("key").unique().to_pylist():
        steps += [(key, step) for step in _steps_of(path, model, table, values, key)]
    before = operations_table(_operations(steps)).cast(table.schema)
    return pa.concat_tables([before, table])


def _steps_of(
    path: object, model: StartingModel, table: pa.Table, values: InitialValues, key: str
) -> Sequence[Step]:
    try:
        if isinstance(model, PlacedModel):
            named = model.places(iterate_rows(table.filter(pc.equal(table.column("key"), key))))
            stated = {name: values.of(_plain(name)) for name in sorted(named)}
            held = {name: value for name, value in stated.items() if values.is_stated(_plain(name))}
            return model.starting_with(held) if held else []
        return model.starting_with(values.of(key)) if values.is_stated(key) else []
    except ValueError as error:
        raise CheckerInputError(f"{path}: --initial: {error}") from error


def _plain(name: str) -> str:
    """Returns a place as a user writes it: a text without its quotes."""
    return as_text(msgspec.json.decode(name))


def _operations(steps: Sequence[tuple[str, Step]]) -> Iterator[Operation]:
    for place, (key, (function, asked, told)) in enumerate(steps):
        left = len(steps) - 1 - place
        yield Operation(
            index=-1 - left,
            process=-1,
            f=function,
            key=key,
            input=asked,
            output=told,
            status="ok",
            invoke_index=_LAST_EVENT - 1 - 2 * left,
            complete_index=_LAST_EVENT - 2 * left,
        )


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True
