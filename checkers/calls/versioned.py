"""Calls on registers that number their values: get, set, set-if; one register a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import canonical, numbered
from kraftproof.checkers.history.columns import OK, Columns
from kraftproof.checkers.text import as_json

UNTOLD: Final = -1
"""Stands for an unknown version, and for no version to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedCalls(Calls):
    """Answered gets, and sets that succeeded or may have succeeded.

    Attributes:
        is_get: bool[n].
        value: int32[n], what is set or was seen.
        version: int64[n], the version that a get returned or a set made; UNTOLD if unknown.
        expected: int64[n], the version that a set-if compares with, else UNTOLD.
        initial: the value of every register at version 0.
        values: each value's text, by number; equal values have the same number.
    """

    is_get: NDArray[np.bool_]
    value: NDArray[np.int32]
    version: NDArray[np.int64]
    expected: NDArray[np.int64]
    initial: int
    values: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedCall:
    """A call: the value set or seen, and its versions."""

    is_get: bool
    value: str
    version: int
    expected: int

    @property
    def about(self) -> int:
        """The version seen or made; UNTOLD if unknown."""
        is_compared = self.version == UNTOLD != self.expected
        return self.expected + 1 if is_compared else self.version


def versioned_call(
    f: str, asked: object, answer: object, *, is_answered: bool
) -> VersionedCall | None:
    """Return an operation's call, None for a get without an answer.

    Raises:
        ValueError: a value can't be read; the message names the field.
    """
    if f == "get":
        if not is_answered:
            return None
        value, version = _pair(answer, "get answers [value, version]")
        seen = _version(version, "get answers")
        return VersionedCall(is_get=True, value=canonical(value), version=seen, expected=UNTOLD)
    expected = UNTOLD
    if f == "set-if":
        compared, asked = _pair(asked, "set-if takes [version, value]")
        expected = _version(compared, "set-if takes")
    made = _version(answer, f"{f} answers") if is_answered else UNTOLD
    return VersionedCall(is_get=False, value=canonical(asked), version=made, expected=expected)


def _pair(value: object, phrase: str) -> tuple[object, object]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"field value: {phrase}, not {as_json(value)}")
    return value[0], value[1]


def _version(value: object, phrase: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise ValueError(f"field value: {phrase} a version, an integer, not {as_json(value)}")
    return value


def versioned_calls(columns: Columns) -> VersionedCalls:
    """Return the calls of operations get, set and set-if, on registers null at version 0.

    Raises:
        ValueError: a value can't be read.
    """
    decode = msgspec.json.Decoder().decode
    observed: list[VersionedCall] = []
    rows: list[int] = []
    texts = (columns.column(name).to_pylist() for name in ("input", "output", "status"))
    for row, (asked, answer, status) in enumerate(zip(*texts, strict=True)):
        f = columns.functions[columns.f[row]]
        is_answered = columns.status[row] == OK
        call = versioned_call(f, decode(asked), decode(answer), is_answered=bool(is_answered))
        if call is not None and status != "fail":
            observed.append(call)
            rows.append(row)
    codes, values = numbered(pa.array([*(call.value for call in observed), "null"], pa.string()))
    kept = np.asarray(rows, dtype=np.int64)
    return VersionedCalls(
        starts=np.searchsorted(kept, columns.starts).astype(np.int64),
        rows=kept,
        invoke=columns.invoke[kept],
        complete=columns.complete[kept],
        is_get=np.asarray([call.is_get for call in observed], dtype=np.bool_),
        value=codes[:-1].astype(np.int32),
        version=np.asarray([call.version for call in observed], dtype=np.int64),
        expected=np.asarray([call.expected for call in observed], dtype=np.int64),
        initial=int(codes[-1]),
        values=values,
    )
