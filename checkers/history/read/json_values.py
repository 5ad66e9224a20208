"""The compiled scanner of JSON values: the end of a value, and whether its spelling is unique.

See `checkers.history.read.scan` for the guarantees. A position of -1 means that the scanner gives
up.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.kernels import bare_kernel

NULL: Final = 0
INTEGER: Final = 1
LITERAL: Final = 2
STRING: Final = 3
FLAT: Final = 4
OTHER: Final = 5
"""Forms of a value: absent or null, a plain integer, true or false, a string of printable ASCII
without escapes, a list of these without white space (all of which JSON spells in one way only); and
whatever else."""

FAILED: Final = -1
QUOTE, COMMA, COLON, NEWLINE, BRACE, END = (ord(mark) for mark in '",:\n{}')
OPEN, CLOSE = (ord(mark) for mark in "[]")
_ESCAPE, _MINUS = (ord(mark) for mark in "\\-")
_LONGEST_INTEGER: Final = 19


def padded(words: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return the words as rows, each ended by zeros."""
    longest = max(map(len, words)) + 1
    return np.array([list(word.encode().ljust(longest, b"\0")) for word in words], dtype=np.uint8)


_IS_PLAIN: Final = np.array(
    [32 <= mark <= 126 and mark not in {QUOTE, _ESCAPE} for mark in range(256)]
)
"""Whether a byte of a string stands for itself."""
_LITERALS: Final = padded(("null", "true", "false"))


@bare_kernel
def blank(text: NDArray[np.uint8], at: int) -> int:
    """Return where the white space that begins here, newlines apart, ends."""
    while text[at] == 32 or text[at] == 9 or text[at] == 13:
        at += 1
    return at


@bare_kernel
def place_among(text: NDArray[np.uint8], start: int, end: int, words: NDArray[np.uint8]) -> int:
    """Return the number of the matching word, or the count of words without a match."""
    length = end - start
    for place in range(len(words)):
        word = words[place]
        if length >= len(word) or word[length] != 0:
            continue
        same = 0
        while same < length and text[start + same] == word[same]:
            same += 1
        if same == length:
            return place
    return len(words)


@bare_kernel
def value_end(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """Return the end of the value at this position, and its form; -1 if the text is no value."""
    end, form = plain_end(text, at)
    if end != FAILED:
        return end, form
    if text[at] == QUOTE:
        return string_end(text, at)[0], OTHER
    if text[at] == OPEN:
        end = _flat(text, at)
        if end != FAILED:
            return end, FLAT
    if text[at] == OPEN or text[at] == BRACE:
        return _nested(text, at), OTHER
    return _number(text, at), OTHER


@bare_kernel
def plain_end(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """Return the end of a scalar with a unique JSON spelling, and its form; -1 if it is none."""
    mark = text[at]
    if mark == QUOTE:
        end, is_plain = string_end(text, at)
        return (end if is_plain else FAILED), STRING
    if mark == _MINUS or 48 <= mark <= 57:
        start = at + 1 if mark == _MINUS else at
        end = _digits(text, start)
        # Nanoseconds since 1970 have 19 digits, too; from 9 on a number may exceed 64 bits.
        longest = _LONGEST_INTEGER - 1 if text[start] == 57 else _LONGEST_INTEGER
        if not 0 < end - start <= longest or _number(text, end) > end:
            return FAILED, INTEGER
        if text[start] == 48 and (end - start > 1 or mark == _MINUS):
            return FAILED, INTEGER
        return end, INTEGER
    end = at
    while 97 <= text[end] <= 122:
        end += 1
    word = place_among(text, at, end, _LITERALS)
    if word == len(_LITERALS):
        return FAILED, LITERAL
    return end, NULL if word == 0 else LITERAL


@bare_kernel
def _digits(text: NDArray[np.uint8], at: int) -> int:
    while 48 <= text[at] <= 57:
        at += 1
    return at


@bare_kernel
def _number(text: NDArray[np.uint8], at: int) -> int:
    """Return where what may belong to a number ends."""
    while 48 <= text[at] <= 57 or text[at] in (43, 45, 46, 69, 101):
        at += 1
    return at


@bare_kernel
def string_end(text: NDArray[np.uint8], at: int) -> tuple[int, bool]:
    """Return where the string that begins here ends, and whether it is plain."""
    at += 1
    while _IS_PLAIN[text[at]]:
        at += 1
    is_plain = text[at] == QUOTE
    while text[at] != QUOTE:
        if text[at] == _ESCAPE:
            at += 1
        if text[at] < 32:
            return FAILED, False
        at += 1
    return at + 1, is_plain


@bare_kernel
def _flat(text: NDArray[np.uint8], at: int) -> int:
    """Return where a list of plain scalars without white space ends; -1 if it is none."""
    at += 1
    if text[at] == CLOSE:
        return at + 1
    while True:
        at, _ = plain_end(text, at)
        if at == FAILED:
            return FAILED
        if text[at] == CLOSE:
            return at + 1
        if text[at] != COMMA:
            return FAILED
        at += 1


@bare_kernel
def _nested(text: NDArray[np.uint8], at: int) -> int:
    """Return the end of the brackets that open here; -1 if the line does not close them."""
    depth = 0
    while True:
        mark = text[at]
        if mark == QUOTE:
            at, _ = string_end(text, at)
            if at == FAILED:
                return FAILED
            continue
        if mark < 32 and mark != 9:
            return FAILED
        if mark in (OPEN, BRACE):
            depth += 1
        elif mark in (CLOSE, END):
            depth -= 1
        at += 1
        if depth == 0:
            return at


@bare_kernel
def integer(text: NDArray[np.uint8], at: int, end: int) -> int:
    """Return the value of a plain integer."""
    sign = 1
    if text[at] == _MINUS:
        sign = -1
        at += 1
    value = 0
    while at < end:
        value = value * 10 + (text[at] - 48)
        at += 1
    return sign * value
