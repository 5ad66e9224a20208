"""The compiled scanner of JSON lines: where each event's fields lie in a piece of a file.

The scanner reads the output of well-formed writers: one object a line, fields in any order, white
space wherever JSON allows it. For any other input the scanner gives up (-1); then
`checkers.history.operations`, which is exact, reads the file and reports the mistakes. The scanner
never accepts an input that the exact reader refuses: numbers, names and plain strings are checked
here, and every other value is marked OTHER and decoded by the caller. No byte below 32 is stepped
over, so that a line stays a line and the newline that ends the piece ends every scan. Memory: none;
time: one pass.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.history.read.json_values import (
    BRACE,
    COLON,
    COMMA,
    END,
    FAILED,
    INTEGER,
    NEWLINE,
    NULL,
    OTHER,
    QUOTE,
    STRING,
    blank,
    integer,
    padded,
    place_among,
    string_end,
    value_end,
)
from kraftproof.checkers.kernels import kernel

INDEX, PROCESS, TIME, TYPE, F, KEY, VALUE, NODE, ERROR, UNKNOWN = range(10)
FIELDS: Final = ("index", "process", "time", "type", "f", "key", "value", "node", "error")
TYPES: Final = ("invoke", "ok", "fail", "info")

_REQUIRED: Final = 1 << INDEX | 1 << PROCESS | 1 << TYPE | 1 << F
_FIELD_NAMES: Final = padded(FIELDS)
_TYPE_NAMES: Final = padded(TYPES)


@kernel
def scan(
    text: NDArray[np.uint8],
    numbers: NDArray[np.int64],
    spans: NDArray[np.int32],
    forms: NDArray[np.int8],
) -> int:
    """Find the fields of every line.

    Args:
        text: uint8[bytes], whole lines; the last byte is a newline.
        numbers: int64[lines, 4], filled: index, process, time, and the place of the type in TYPES.
        spans: int32[lines, 9, 2], filled: where the value of each of FIELDS begins and ends.
        forms: int8[lines, 9], filled: the form of each.

    Returns: The number of events, or -1 if the scanner gives up.
    """
    at, row = 0, 0
    while at < len(text):
        at = blank(text, at)
        if text[at] == NEWLINE:
            at += 1
            continue
        forms[row, :] = NULL
        at = _line(text, at, numbers[row], spans[row], forms[row])
        if at == FAILED:
            return FAILED
        row += 1
    return row


@kernel
def gather(
    text: NDArray[np.uint8],
    starts: NDArray[np.int32],
    offsets: NDArray[np.int32],
    data: NDArray[np.uint8],
) -> None:
    """Copy slices of a text one after the other, each as long as `offsets` leaves capacity for."""
    for row in range(len(starts)):
        start, begin = starts[row], offsets[row]
        for place in range(offsets[row + 1] - begin):
            data[begin + place] = text[start + place]


@kernel
def _line(
    text: NDArray[np.uint8],
    at: int,
    numbers: NDArray[np.int64],
    spans: NDArray[np.int32],
    forms: NDArray[np.int8],
) -> int:
    """Read one object and the end of its line; returns where the next line begins."""
    if text[at] != BRACE:
        return FAILED
    seen = 0
    while True:
        at, field = _name(text, blank(text, at + 1))
        if at == FAILED:
            return FAILED
        end, form = value_end(text, at)
        if end == FAILED or not _keep(text, field, (at, end), form, numbers):
            return FAILED
        if field != UNKNOWN:
            if seen >> field & 1:
                return FAILED
            seen |= 1 << field
            spans[field, 0], spans[field, 1], forms[field] = at, end, form
        at = blank(text, end)
        if text[at] != COMMA:
            break
    if text[at] != END or seen & _REQUIRED != _REQUIRED:
        return FAILED
    at = blank(text, at + 1)
    return at + 1 if text[at] == NEWLINE else FAILED


@kernel
def _keep(
    text: NDArray[np.uint8],
    field: int,
    span: tuple[int, int],
    form: int,
    numbers: NDArray[np.int64],
) -> bool:
    """Check that a field's value has the right type, and store a number."""
    at, end = span
    if field in (INDEX, PROCESS, TIME):
        if form == INTEGER:
            numbers[field] = integer(text, at, end)
        return form == INTEGER or (field == TIME and form == NULL)
    if field == TYPE:
        numbers[TYPE] = place_among(text, at + 1, end - 1, _TYPE_NAMES)
        return form == STRING and numbers[TYPE] < len(_TYPE_NAMES)
    if field == F:
        return form == STRING
    if field == NODE:
        return form in (NULL, INTEGER, STRING)
    return form != OTHER or field != UNKNOWN


@kernel
def _name(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """Read `"name":`; return the position of the value, and the field."""
    if text[at] != QUOTE:
        return FAILED, UNKNOWN
    end, is_plain = string_end(text, at)
    if end == FAILED or not is_plain:
        return FAILED, UNKNOWN
    field = place_among(text, at + 1, end - 1, _FIELD_NAMES)
    at = blank(text, end)
    if text[at] != COLON:
        return FAILED, UNKNOWN
    return blank(text, at + 1), field
