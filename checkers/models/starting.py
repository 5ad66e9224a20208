"""What a model needs to start with a value that a user states.

`checkers.initial` puts the operations of `starting_with` before a history. Only a model that is a
`StartingModel` has initial values to state; another one may say why not by `no_initial_value`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from kraftproof.checkers.history.operations import Operation, as_text
from kraftproof.checkers.models import Model
from kraftproof.checkers.text import as_json

Step = tuple[str, object, object]
"""An operation that sets an initial value: its function, input and output."""


@runtime_checkable
class StartingModel(Model, Protocol):
    """A model whose initial values can be stated."""

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the operations that set up a value.

        Raises:
            ValueError: the model can't start with that value.
        """
        ...


@runtime_checkable
class PlacedModel(StartingModel, Protocol):
    """A model of several places under one key, each with a value of its own.

    Its `starting_with` takes a map of places to values.
    """

    def places(self, key: str, operations: Iterable[Operation]) -> Mapping[str, str]:
        """Return the places that the operations of a key name, each with the name to state."""
        ...


@runtime_checkable
class UncertainModel(PlacedModel, Protocol):
    """A model that takes its initial values from the history, which may allow several."""

    def other_starts(self, operations: Iterable[Operation]) -> Iterator[Mapping[str, object]]:
        """Yield other initial values by place, each of which the history may have."""
        ...


def plain_name(name: str) -> str:
    """Return a place's JSON as a user writes it: a text without its quotes."""
    return as_text(msgspec.json.decode(name))


def require_list(value: object, phrase: str) -> list[object]:
    """Return a value that has to be a list; null is an empty one.

    Raises:
        ValueError: it is neither.
    """
    if value is not None and not isinstance(value, list):
        raise ValueError(f"{phrase}, not {as_json(value)}")
    return value or []


def require_records(value: object, phrase: str, below: int) -> list[tuple[int, object]]:
    """Return a value that has to be the records of a log, [[offset, value], ...], in their order.

    Raises:
        ValueError: the value is something else.
    """
    wanted = f"{phrase} its records, [[offset, value], ...] by rising offsets"
    found: list[tuple[int, object]] = []
    for record in require_list(value, wanted):
        if not isinstance(record, list) or len(record) != 2 or type(record[0]) is not int:
            raise ValueError(f"{wanted}, not {as_json(value)}")
        if abs(record[0]) >= below or (found and found[-1][0] >= record[0]):
            raise ValueError(f"{wanted}; offset {as_json(record[0])} is out of order")
        found.append((record[0], record[1]))
    return found
