"""The values of operations as numbers: equal JSON values get one number.

What the makers of calls (`checkers.models`) share. The callers choose the fields and the texts.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.history.columns import FAIL, Columns
from kraftproof.checkers.text import as_json, shortened

T = TypeVar("T")

NO_VALUE = -1
"""Stands for a missing value or a value that no answer contains."""


def canonical(value: object) -> str:
    """Return a value as JSON text that is equal for equal values."""
    if type(value) is int:
        return str(value)  # most values are integers, and this is eight times as quick
    return msgspec.json.encode(value, order="sorted").decode()


def key_numbers(columns: Columns) -> NDArray[np.int64]:
    """Return each row's key as a number: int64[n]."""
    return np.repeat(np.arange(len(columns.keys), dtype=np.int64), np.diff(columns.starts))


def of_function(columns: Columns, name: str) -> NDArray[np.bool_]:
    """Return the rows of a function's operations: bool[n]."""
    if name not in columns.functions:
        return np.zeros(len(columns), dtype=np.bool_)
    found: NDArray[np.bool_] = columns.f == columns.functions.index(name)
    return found


def require_functions(columns: Columns, model: str, known: frozenset[str]) -> None:
    """Raise ValueError if a history has an operation that the model does not know."""
    for name in columns.functions:
        if name not in known:
            there = ", ".join(sorted(known))
            raise ValueError(
                f"field f: {shortened(name)} is no operation of {model}, which has {there}"
            )


def texts_of(columns: Columns, from_output: NDArray[np.bool_]) -> pa.Array:
    """Return each row's `output` if the mask is set, else its `input`: n JSON texts."""
    chosen = pa.array(from_output)
    return pc.if_else(chosen, columns.column("output"), columns.column("input"))


def numbered(texts: pa.Array) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers JSON texts by value.

    Returns:
        int64[n], each text's number, and the texts by number.
    """
    encoded = pc.dictionary_encode(texts)
    distinct = encoded.dictionary.to_pylist()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if not any("{" in text for text in distinct):
        return codes, distinct
    numbers: dict[str, int] = {}
    renamed = [
        numbers.setdefault(canonical(msgspec.json.decode(text)), len(numbers)) for text in distinct
    ]
    return np.asarray(renamed, dtype=np.int64)[codes], list(numbers)


def within_keys(
    keys: NDArray[np.int64], codes: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Numbers values from 0 within each key, in the order of their codes; NO_VALUE if not known."""
    found = np.full(len(keys), NO_VALUE, dtype=np.int64)
    if not known.any():
        return found
    span = int(codes.max()) + 1
    distinct, places = np.unique(keys[known] * span + codes[known], return_inverse=True)
    first = np.searchsorted(distinct, keys[known] * span)
    found[known] = places - first
    return found


def require_integer(value: object, phrase: str, below: int) -> None:
    """Raise ValueError if a value is no integer between -below and below, both left out."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not isinstance(value, int) or abs(value) >= below:
        size = f" of less than {below} either way"
        raise ValueError(f"field value: {phrase} an integer{size}, not {as_json(value)}")


def integers(
    columns: Columns, rows: NDArray[np.bool_], *, is_output: bool, below: int
) -> NDArray[np.int64]:
    """Return the integers that some rows ask with or answer, 0 elsewhere: int64[n].

    Raises: ValueError: a value is no integer, or is too large.
    """
    found = np.zeros(len(columns), dtype=np.int64)
    texts = texts_of(columns, np.full(len(columns), is_output)).filter(pa.array(rows))
    try:
        found[rows] = pc.cast(texts, pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        pass
    else:
        if not ((found >= below) | (found <= -below)).any():  # abs(-(1 << 63)) is negative
            return found
    verb = "answers" if is_output else "takes"
    for row, text in zip(np.flatnonzero(rows).tolist(), texts.to_pylist(), strict=True):
        f = columns.functions[columns.f[row]]
        require_integer(msgspec.json.decode(text), f"{f} {verb}", below)
    raise AssertionError("integers that are none")


def booleans(columns: Columns, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of the given rows answer true: bool[n].

    Raises:
        ValueError: one answers neither true nor false.
    """
    codes, texts = numbered(texts_of(columns, rows))
    is_wrong = np.asarray([text not in {"true", "false"} for text in texts], dtype=np.bool_)
    for row in np.flatnonzero(rows & is_wrong[codes]):
        require_boolean(msgspec.json.decode(texts[codes[row]]), columns.functions[columns.f[row]])
    is_true = np.asarray([text == "true" for text in texts], dtype=np.bool_)
    found: NDArray[np.bool_] = rows & is_true[codes]
    return found


def require_boolean(value: object, f: str) -> None:
    """Raise ValueError if an answer is neither true nor false."""
    if value is not True and value is not False:
        raise ValueError(f"field value: {f} answers true or false, not {as_json(value)}")


def said_rows(columns: Columns, said: Sequence[T | None]) -> tuple[NDArray[np.int64], list[T]]:
    """Return the rows of operations with a statement that did not fail, and the statements.

    Args:
        columns: the operations.
        said: the statement of each operation, None without a statement.
    """
    is_call = np.asarray([one is not None for one in said], dtype=np.bool_)
    rows = np.flatnonzero(is_call & (columns.status != FAIL))
    return rows, [one for row in rows.tolist() if (one := said[row]) is not None]


def name_numbers(names: Iterable[str | None]) -> NDArray[np.int64]:
    """Return names as numbers from 0 in the order of first occurrence; NO_VALUE for None."""
    numbers: dict[str | None, int] = {None: NO_VALUE}
    found = [numbers.setdefault(name, len(numbers) - 1) for name in names]
    return np.asarray(found, dtype=np.int64)
