"""Reads the lines of a packed or plain file, and the elements of a JSON array in the lines.

Lines are numbered from 1, blank ones left out. See `checkers.history.operations` for what a line
means.
"""

from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Final, Protocol

import msgspec

from kraftproof.checkers.history.unpacking import UNREADABLE, open_unpacked
from kraftproof.checkers.verdict import CheckerInputError

MAX_ARRAY_BYTES: Final = 1 << 30
"""A longer array is refused; use one event a line instead."""

MAX_LINE_BYTES: Final = 64 << 20
"""A longer line is refused: an archive of a few bytes may hold one without an end."""

NumberedLine = tuple[int, bytes]
"""A line's number, from 1, and its text without surrounding white space."""


class SupportsReadline(Protocol):
    """A file that can be read line by line."""

    def readline(self, limit: int, /) -> bytes:
        """Return the next line, or its first `limit` bytes; nothing at the end."""
        ...


class HistoryError(CheckerInputError):
    """A history that can't be read; the message is a single line."""


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[NumberedLine]]:
    """Open a file, unpack a packed file, and yield its non-blank lines.

    Raises:
        HistoryError: the file can't be read, or a line is longer than MAX_LINE_BYTES.
    """
    try:
        with open_unpacked(path) as file:
            yield _numbered(path, file)
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or (str(error).splitlines() or [""])[0]
        raise HistoryError(f"{path}: can't be read: {reason}") from error


def _numbered(path: Path, file: SupportsReadline) -> Iterator[NumberedLine]:
    for number in count(start=1):
        line = file.readline(MAX_LINE_BYTES + 1)
        if len(line) > MAX_LINE_BYTES:
            raise HistoryError(f"{path}:{number}: a line longer than {MAX_LINE_BYTES} bytes")
        if not line:
            return
        stripped = line.removeprefix(BOM_UTF8).strip() if number == 1 else line.strip()
        if stripped:
            yield number, stripped


def each_value(path: Path, lines: Iterator[NumberedLine]) -> Iterator[NumberedLine]:
    """Yield the JSON of each event; the elements of an array are events."""
    for number, line in lines:
        if not line.startswith(b"["):
            yield number, line
            continue
        yield from _elements(path, number, chain([(number, line)], lines))


def _elements(path: Path, first: int, lines: Iterable[NumberedLine]) -> Iterator[NumberedLine]:
    """Yield the elements of a JSON array that ends with the file, each with its line."""
    numbers, ends, text = [], [], bytearray()
    for number, line in lines:
        numbers.append(number)
        text += line + b"\n"
        ends.append(len(text))
        if len(text) > MAX_ARRAY_BYTES:
            raise HistoryError(f"{path}: an array longer than {MAX_ARRAY_BYTES} bytes")
    whole = bytes(text)
    try:
        elements = msgspec.json.decode(whole, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HistoryError(f"{path}:{first}: not a JSON array of events: {error}") from error
    at = 0
    for element in elements:
        raw = bytes(element)
        at = whole.index(raw, at)
        yield numbers[bisect_right(ends, at)], raw
        at += len(raw)
