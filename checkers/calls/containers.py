"""Calls on containers that give back what was put in: queues, stacks, priority queues.

Each key is one container, initially empty. The module shares the form of the calls; each kind of
container has its own class here, which selects its engine.
"""

from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import (
    NO_VALUE,
    canonical,
    key_numbers,
    numbered,
    of_function,
    require_functions,
    texts_of,
    within_keys,
)
from kraftproof.checkers.history.columns import FAIL, OK, Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import as_json

PUT: Final = 0
TAKE: Final = 1
FOUND_NONE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerCalls(Calls):
    """Puts, takes, and takes that found the container empty.

    Attributes:
        action: int8[n], PUT, TAKE or FOUND_NONE.
        element: int64[n], the element put or taken, numbered from 0 within its key; NO_VALUE for
            FOUND_NONE and for a take with an unknown answer.
    """

    action: NDArray[np.int8]
    element: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCalls(ContainerCalls):
    """Calls on queues: first in, first out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackCalls(ContainerCalls):
    """Calls on stacks: last in, first out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityQueueCalls(ContainerCalls):
    """Calls on priority queues: the least goes first, which is the one with the least number."""


Kind = TypeVar("Kind", bound=ContainerCalls)


def container_calls(kind: type[Kind], columns: Columns, *, model: str, put: str, take: str) -> Kind:
    """Return the calls of operations that put their input and take their answer.

    A take that answers null found the container empty.

    Raises:
        ValueError: an operation of another function, or an element that can't be one.
    """
    require_functions(columns, model, frozenset({put, take}))
    is_take = of_function(columns, take)
    codes, texts = numbered(texts_of(columns, is_take))
    is_null = codes == (texts.index("null") if "null" in texts else NO_VALUE)
    if (is_null & ~is_take).any():
        (require_priority if kind is PriorityQueueCalls else require_element)(None, put)
    if kind is PriorityQueueCalls:
        codes = _ranks(texts, put)[codes]
    answered = columns.status == OK
    known = ~is_take | (answered & ~is_null)
    action = np.where(is_take, np.where(answered & is_null, FOUND_NONE, TAKE), PUT)
    rows = np.flatnonzero(columns.status != FAIL)
    element = within_keys(key_numbers(columns), codes, known)
    return kind(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=action[rows].astype(np.int8),
        element=element[rows],
    )


def container_call(operation: Operation, take: str) -> tuple[str, str | None]:
    """Return one operation as a call for the general engine.

    Returns: ("put", element), ("take", element), ("take", None) for an unknown answer, or ("found
        none", None).
    """
    if operation.f != take:
        return ("put", canonical(operation.input))
    if operation.status != "ok":
        return ("take", None)
    if operation.output is None:
        return ("found none", None)
    return ("take", canonical(operation.output))


def require_element(value: object, put: str) -> None:
    """Raise ValueError if a value can't be put: null stands for nothing."""
    if value is None:
        raise ValueError(f"field value: {put} takes a value other than null")


def require_priority(value: object, f: str) -> None:
    """Raise ValueError if a value is no number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number:
        raise ValueError(f"field value: {f} has a number, not {as_json(value)}")


def _ranks(texts: list[str], f: str) -> NDArray[np.int64]:
    """Return each text's place in the order of numbers."""
    values = [msgspec.json.decode(text) for text in texts]
    for value in values:
        if value is not None:
            require_priority(value, f)
    places = {value: place for place, value in enumerate(sorted(set(values) - {None}))}
    return np.asarray([places.get(value, NO_VALUE) for value in values], dtype=np.int64)
