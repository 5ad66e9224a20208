"""Calls on registers: read, write, compare-and-set; one register a key."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.numbers import number_texts
from kraftproof.checkers.calls.values import NO_VALUE, canonical, of_function
from kraftproof.checkers.history.columns import FAIL, NEVER, OK, Columns
from kraftproof.checkers.text import as_json

READ: Final = 0
WRITE: Final = 1
CAS: Final = 2

_SCALAR: Final = r'-?[0-9]+|null|true|false|"[^"\\]*"'
_PAIR: Final = rf"^\[(?P<old>{_SCALAR}),(?P<new>{_SCALAR})\]$"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterCalls(Calls):
    """Answered reads, and writes and compare-and-sets that succeeded or may have succeeded.

    Attributes:
        action: int8[n], READ, WRITE or CAS.
        expected: int32[n], the value that a read answered or a CAS compares with, else NO_VALUE.
        new: int32[n], the value that a write or a CAS sets, else NO_VALUE.
        initial: the value of every register at first.
        values: each value's text, by number; equal values have the same number.
    """

    action: NDArray[np.int8]
    expected: NDArray[np.int32]
    new: NDArray[np.int32]
    initial: int
    values: Sequence[str]


def register_calls(columns: Columns) -> RegisterCalls:
    """Return the calls of operations read, write and cas, on registers that are null at first.

    Raises:
        ValueError: a cas has no two values, or succeeded with the answer false.
    """
    is_read, is_cas = of_function(columns, "read"), of_function(columns, "cas")
    happened = columns.status != FAIL
    is_write = of_function(columns, "write") & happened
    is_read &= columns.status == OK
    if "false" in _texts(columns, "output", is_cas & (columns.status == OK)).unique().to_pylist():
        raise refused_cas()
    old, new = _pairs(_texts(columns, "input", is_cas))
    observed = [
        _texts(columns, "output", is_read),
        old,
        _texts(columns, "input", is_write),
        new,
        pa.array(["null"]),
    ]
    codes, values = number_texts(pa.concat_arrays(observed))
    parts = np.split(codes, np.cumsum([len(texts) for texts in observed])[:-1])
    expected, set_to = (np.full(len(columns), NO_VALUE, dtype=np.int32) for _ in range(2))
    expected[is_read], expected[is_cas] = parts[0], parts[1]
    set_to[is_write], set_to[is_cas] = parts[2], parts[3]
    action = np.where(is_cas, CAS, np.where(is_write, WRITE, READ)).astype(np.int8)
    rows = np.flatnonzero(is_read | is_write | (is_cas & happened))
    return RegisterCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=action[rows],
        expected=expected[rows],
        new=set_to[rows],
        initial=int(parts[4][0]),
        values=values,
    )


def refused_cas() -> ValueError:
    """Return the error of a cas that is recorded as a success and answers false."""
    return ValueError(
        "field value: cas of status ok answers false: a cas that did not find its old value is "
        'recorded with the status "fail"'
    )


def since(calls: RegisterCalls, key: int, time: int) -> RegisterCalls:
    """Return the calls of a key that had not returned by a time, as one key.

    Of those then open, reads are left out, and compare-and-sets may or may not happen.
    """
    start, end = calls.starts[key], calls.starts[key + 1]
    is_open = calls.invoke[start:end] < time
    is_kept = (calls.complete[start:end] > time) & ~(is_open & (calls.action[start:end] == READ))
    kept = start + np.flatnonzero(is_kept)
    is_optional = (calls.invoke[kept] < time) & (calls.action[kept] == CAS)
    return replace(
        calls,
        starts=np.array([0, len(kept)]),
        rows=calls.rows[kept],
        invoke=calls.invoke[kept],
        complete=np.where(is_optional, NEVER, calls.complete[kept]),
        action=calls.action[kept],
        expected=calls.expected[kept],
        new=calls.new[kept],
    )


def _texts(columns: Columns, name: str, wanted: NDArray[np.bool_]) -> pa.Array:
    return columns.column(name, np.flatnonzero(wanted)).cast(pa.string())


def _pairs(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the two values of each text [old, new], as texts."""
    encoded = pc.dictionary_encode(texts)
    found = pc.extract_regex(encoded.dictionary, _PAIR)
    old, new = (pc.struct_field(found, name) for name in ("old", "new"))
    if found.null_count:
        pairs = [_pair(text) for text in encoded.dictionary.to_pylist()]
        old, new = (pa.array(values, pa.string()) for values in zip(*pairs, strict=True))
    return old.take(encoded.indices), new.take(encoded.indices)


def _pair(text: str) -> tuple[str, str]:
    value = msgspec.json.decode(text)
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"field value: cas takes [old, new], not {as_json(value)}")
    return canonical(value[0]), canonical(value[1])
