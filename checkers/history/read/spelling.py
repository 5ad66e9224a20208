"""The compiled check of the spelling of JSON texts: whether msgspec spells each value so.

The check gives up at a text whose spelling it is not sure of, such as a float, an escape, a letter
beyond ASCII, or an object of many keys. Whoever asks then decodes and encodes the text.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.history.read.json_values import (
    BRACE,
    CLOSE,
    COLON,
    COMMA,
    END,
    FAILED,
    NEWLINE,
    OPEN,
    QUOTE,
    plain_end,
    string_end,
)
from kraftproof.checkers.kernels import bare_kernel, kernel

_MOST: Final = 32
"""Brackets that may be open, and keys of the open objects."""
AT_ONCE: Final = 50_000
"""Texts that are copied into one text at a time."""


def are_canonical(texts: pa.Array) -> bool:
    """Return whether all texts are surely spelled as msgspec spells their values.

    An absent text has no spelling.
    """
    return all(
        _are_canonical(texts.slice(start, AT_ONCE)) for start in range(0, len(texts), AT_ONCE)
    )


def _are_canonical(texts: pa.Array) -> bool:
    """Check the texts as the lines of one text: a text with a line feed is never canonical."""
    there = texts.drop_null()
    if not len(there):
        return True
    whole = pa.ListArray.from_arrays([0, len(there)], there)
    lines = np.frombuffer(pc.binary_join(whole, "\n")[0].as_buffer(), dtype=np.uint8)
    text = np.append(lines, np.uint8(NEWLINE))
    open_brackets = np.zeros((2, _MOST), dtype=np.int64)
    keys = np.zeros((2, _MOST), dtype=np.int64)
    return canonical_lines(text, open_brackets, keys) == len(there)


@kernel
def canonical_lines(
    text: NDArray[np.uint8], open_brackets: NDArray[np.int64], keys: NDArray[np.int64]
) -> int:
    """Return the number of lines if all lines are canonical; -1 if not, or if unsure.

    Args:
        text: the lines, each with a newline.
        open_brackets: int64[2, n], a workspace: the closing mark of each open bracket, and the
            number of keys at its begin.
        keys: int64[2, n], a workspace: the begin and the end of each key of the open objects.
    """
    at, row = 0, 0
    while at < len(text):
        at = _canonical_end(text, at, open_brackets, keys)
        if at == FAILED or text[at] != NEWLINE:
            return FAILED
        at += 1
        row += 1
    return row


@bare_kernel
def _canonical_end(
    text: NDArray[np.uint8],
    at: int,
    open_brackets: NDArray[np.int64],
    keys: NDArray[np.int64],
) -> int:
    """Return the end of the canonical value that begins here; -1 if unsure."""
    depth, named = 0, 0
    while True:
        is_value = True
        if text[at] in (OPEN, BRACE):
            if depth == _MOST:
                return FAILED
            open_brackets[0, depth] = CLOSE if text[at] == OPEN else END
            open_brackets[1, depth] = named
            depth += 1
            at += 1
            is_value = text[at] == open_brackets[0, depth - 1]
        else:
            at, _ = plain_end(text, at)
        if is_value and at != FAILED:
            at, depth, named = _next(text, at, depth, named, open_brackets)
        if at == FAILED or depth == 0:
            return at
        if open_brackets[0, depth - 1] == END:
            at = _key_end(text, at, open_brackets[1, depth - 1], named, keys)
            if at == FAILED:
                return FAILED
            named += 1


@bare_kernel
def _next(
    text: NDArray[np.uint8], at: int, depth: int, named: int, open_brackets: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Close the brackets that end here, and step over the comma before the next value or key.

    Return the place, the number of open brackets, and the number of keys of the open objects.
    """
    while depth > 0 and text[at] == open_brackets[0, depth - 1]:
        depth -= 1
        named = open_brackets[1, depth]
        at += 1
    if depth == 0:
        return at, depth, named
    return (at + 1 if text[at] == COMMA else FAILED), depth, named


@bare_kernel
def _key_end(
    text: NDArray[np.uint8], at: int, first: int, named: int, keys: NDArray[np.int64]
) -> int:
    """Read `"key":` and keep the key; return the place of the value.

    Return -1 if the object has the key already, since msgspec drops the first of two.

    Args:
        text: the text.
        at: the begin of the key.
        first: the number of the object's first key.
        named: the number of all keys of the open objects.
        keys: the keys of the open objects.
    """
    if text[at] != QUOTE or named == keys.shape[1]:
        return FAILED
    end, is_plain = string_end(text, at)
    if end == FAILED or not is_plain or text[end] != COLON:
        return FAILED
    for place in range(first, named):
        begin = keys[0, place]
        if keys[1, place] - begin != end - at:
            continue
        same = 0
        while same < end - at and text[begin + same] == text[at + same]:
            same += 1
        if same == end - at:
            return FAILED
    keys[0, named], keys[1, named] = at, end
    return end + 1
