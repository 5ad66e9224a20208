"""Numbers JSON texts quickly where all are integers or null, as registers' values often are.

`checkers.calls.values.numbered` does it for any texts, at several times the cost.
"""

from collections.abc import Sequence
from typing import Final, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from typing_extensions import override

from kraftproof.checkers.calls.values import numbered

_MINUS: Final = ord("-")
_ZERO: Final = ord("0")
_SPREAD: Final = 4
"""A table of all numbers between the least and the greatest may have this many times the texts."""


class IntegerTexts(Sequence[str]):
    """The text of null, number 0, and those of distinct integers, made when asked for."""

    def __init__(self, integers: NDArray[np.int64]) -> None:
        self._integers = integers

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    @override
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return "null" if place == 0 else str(self._integers[place - 1])

    @override
    def __len__(self) -> int:
        return len(self._integers) + 1


def number_texts(texts: pa.Array) -> tuple[NDArray[np.int32], Sequence[str]]:
    """Numbers JSON texts, null among them, by value.

    Returns:
        int32[n], each text's number, and the texts by number.

    Raises:
        ValueError: a text is no JSON.
    """
    is_null = pc.equal(texts, "null")
    integers = _integers(pc.if_else(is_null, None, texts))
    if integers is None:
        codes, names = numbered(texts)
        return codes.astype(np.int32), names
    numbers: NDArray[np.int32] = np.zeros(len(texts), dtype=np.int32)
    known = ~is_null.to_numpy(zero_copy_only=False)
    ranks, distinct = _ranked(integers.drop_null().to_numpy())
    numbers[known] = ranks + 1
    return numbers, IntegerTexts(distinct)


def _integers(texts: pa.Array) -> pa.Array | None:
    """Return texts as integers, None if any is not spelled as JSON spells an integer."""
    try:
        integers = pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return None
    _, offsets_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32)[: len(texts) + 1]
    data = np.frombuffer(data_buffer, dtype=np.uint8)[: offsets[-1]]
    is_digit = (data >= _ZERO) & (data <= _ZERO + 9)
    if not (is_digit | (data == _MINUS)).all():
        return None  # hexadecimal
    return None if _has_leading_zero(offsets, data) else integers


def _has_leading_zero(offsets: NDArray[np.int32], data: NDArray[np.uint8]) -> bool:
    long = np.flatnonzero(np.diff(offsets) > 1)
    first = data[offsets[long]]
    second = data[offsets[long] + 1]
    return bool(((first == _ZERO) | ((first == _MINUS) & (second == _ZERO))).any())


def _ranked(integers: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the ranks of integers, and the distinct integers, ascending."""
    if not len(integers):
        return np.zeros(0, dtype=np.int32), integers
    low, high = int(integers.min()), int(integers.max())
    if high - low > _SPREAD * len(integers) + 1_000:
        distinct, ranks = np.unique(integers, return_inverse=True)
        return ranks.astype(np.int32), distinct
    places = integers - low
    is_there = np.zeros(high - low + 1, dtype=np.bool_)
    is_there[places] = True
    numbers = np.cumsum(is_there, dtype=np.int32)[places] - 1
    return numbers.astype(np.int32), np.flatnonzero(is_there) + low
