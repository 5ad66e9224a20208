"""The values that a system starts with, as a user states them, put before a history.

A stated value becomes operations that were over before the first of the history: a write of it, for
a register. So every engine, every explanation and every reference reads the initial values as
operations. These operations have negative numbers and events, the history's keep theirs. Only
models that are `StartingModel` have initial values to state; another one may say why not by
`no_initial_value`. A stated key that the history lacks is refused, since it is probably misspelt. A
workload may state keys that its run never used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows, operations_table
from kraftproof.checkers.models import Model, models
from kraftproof.checkers.models.starting import PlacedModel, StartingModel, Step
from kraftproof.checkers.stated import InitialValues
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

_LAST_EVENT: Final = -2
"""The completion of the last operation that sets up a value; -1 stands for no event in places."""
_KEYS_NAMED: Final = 5
"""The history's keys that an error names, at most."""


def parse_initial(
    texts: Iterable[str] | None, *, may_be_absent: bool = False
) -> InitialValues | None:
    """Return the values of `--initial VALUE` and `--initial KEY=VALUE`; None without the option.

    Args:
        texts: the values of the option.
        may_be_absent: whether keys that a history lacks may be stated.

    Raises:
        CheckerInputError: a text is neither, or two state one key.
    """
    stated: dict[str | None, str] = {}
    for text in texts or ():
        key, value = _key_and_value(text)
        if stated.get(key, value) != value:
            which = "every key" if key is None else f"the key {shortened(key)}"
            raise CheckerInputError(
                f"--initial {shortened(text)}: {which} starts with {shortened(stated[key])} already"
            )
        stated[key] = value
    if not stated:
        return None
    by_key = {key: value for key, value in stated.items() if key is not None}
    return InitialValues(default=stated.get(None), by_key=by_key, may_be_absent=may_be_absent)


def _key_and_value(text: str) -> tuple[str | None, str]:
    """Return the key, None for every key, and the JSON of its value."""
    if _is_json(text):
        return None, text
    places = (place for place, letter in enumerate(text) if letter == "=")
    for place in places:
        if _is_json(text[place + 1 :]):
            return text[:place], text[place + 1 :]
    raise CheckerInputError(
        f"--initial {shortened(text)}: JSON, or KEY=JSON, is expected; a text needs quotes,"
        " as in '\"a\"'"
    )


def started(path: object, model: Model, table: pa.Table, values: InitialValues) -> pa.Table:
    """Return the operations of a history, preceded by the operations that set its initial values.

    Raises:
        CheckerInputError: the model has no initial value, or not such a one; or the history lacks
            a key that a user stated.
    """
    if not isinstance(model, StartingModel):
        raise CheckerInputError(f"{path}: --initial: {_why_not(model)}")
    steps: list[tuple[str, Step]] = []
    named: set[str] = set()
    for key in table.column("key").unique().to_pylist():
        places = _places_of(model, table, key)
        named.update(places.values())
        try:
            steps += [(key, step) for step in _steps_of(model, values, places)]
        except ValueError as error:
            said = str(error).removeprefix("field value: ")
            raise CheckerInputError(f"{path}: --initial: {said}") from error
    absent = values.by_key.keys() - named
    if absent and not values.may_be_absent:
        raise CheckerInputError(f"{path}: {_absent_text(min(absent), named)}")
    before = operations_table(starting_operations(steps)).cast(table.schema)
    return pa.concat_tables([before, table])


def _why_not(model: Model) -> str:
    """Return why a model has no initial value to state, and what would be right."""
    why = getattr(model, "no_initial_value", None)
    if isinstance(why, str):
        return f"the model {model.name} has no initial value to state: {why}"
    able = ", ".join(name for name, one in models().items() if isinstance(one, StartingModel))
    return (
        f"the model {model.name} has no initial value to state, as {able}; a model of your own has"
        " one if its class has a method starting_with(value)"
    )


def _absent_text(key: str, named: Iterable[str]) -> str:
    there = sorted(named)
    some = ", ".join(map(shortened, there[:_KEYS_NAMED])) or "none"
    more = f" and {len(there) - _KEYS_NAMED} more" if len(there) > _KEYS_NAMED else ""
    if there == ["null"]:
        some = "none: give --initial VALUE"
    return f"--initial: no operation has the key {shortened(key)}; the history's are {some}{more}"


def _places_of(model: StartingModel, table: pa.Table, key: str) -> Mapping[str, str]:
    """Return the places of a key with their names; a key that is one place is named as it is."""
    if not isinstance(model, PlacedModel):
        return {key: key}
    rows = iterate_rows(table.filter(pc.equal(table.column("key"), key)))
    return model.places(key, (one for one in rows if _can_read(model, one)))


def _can_read(model: Model, operation: Operation) -> bool:
    """Return whether a model can read an operation; the check itself says what is wrong with it."""
    with suppress(Exception):  # a model may raise anything
        model.validate(operation)
        return True
    return False


def _steps_of(
    model: StartingModel, values: InitialValues, places: Mapping[str, str]
) -> Sequence[Step]:
    held = {
        place: values.of(name) for place, name in sorted(places.items()) if values.is_stated(name)
    }
    if isinstance(model, PlacedModel):
        return model.starting_with(held) if held else []
    return [step for value in held.values() for step in model.starting_with(value)]


def starting_operations(steps: Sequence[tuple[str, Step]]) -> Iterator[Operation]:
    """Yield the operations of steps, each with its key, before the events of any history."""
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
