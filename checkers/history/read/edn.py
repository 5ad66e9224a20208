"""Reads EDN, the notation of Jepsen's histories, one form at a time.

Our own, since the libraries for Python take a whole text at once, recurse as deep as it is nested,
and name no line where it is wrong. Here memory is bounded by one form, and what may be nested and
how deep by MAX_DEPTH and MAX_VALUES.

Values become those of JSON: nil null, keywords and symbols their text, vectors, lists and sets
lists (a set in the order of its elements' JSON, so that equal sets are equal), maps objects whose
keys are text. A tag is dropped and its value is kept. Simplified: a string ends in the line in
which it begins (Clojure prints a newline in one as an escape); characters, ratios (in lowest terms)
and symbolic numbers (##Inf) are text; decimals are floats.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final

import msgspec

MAX_DEPTH: Final = 100
MAX_VALUES: Final = 4_000_000

Form = tuple[int, object]
"""The line of a form's beginning, and the form's value."""

_TOKEN: Final = re.compile(
    r"""
      (?P<blank>[\s,]+|;.*)
    | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<open>\#?\{|\[|\(|\#:[^\s,:;"()\[\]{}\\]+\s*\{)
    | (?P<close>[\]})])
    | (?P<discard>\#_)
    | (?P<tag>\#[A-Za-z][^\s,;"()\[\]{}\\]*)
    | (?P<char>\\(?:[A-Za-z0-9]+|\S))
    | (?P<atom>\#\#-?[A-Za-z]+|[^\s,;"()\[\]{}\\\#\x00-\x1f][^\s,;"()\[\]{}\\\x00-\x1f]*)
    """,
    re.VERBOSE,
)
_NUMBER: Final = re.compile(
    r"(?P<whole>[+-]?(?:0|[1-9][0-9]*))(?:N?|(?P<rest>(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)M?)"
)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX][0-9A-Fa-f]+")
_LOOKS_LIKE_NUMBER: Final = re.compile(r"[+-]?[0-9]")
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_CONSTANTS: Final = {"nil": None, "true": True, "false": False}
_CLOSES: Final = {"[": "]", "(": ")", "{": "}", "#{": "}"}


class EdnError(ValueError):
    """The text is not EDN.

    Attributes:
        line: the line that is wrong.
    """

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class _Open:
    """A bracket that is not closed yet; of #:name{ the mark is {, and the namespace `name`."""

    __slots__ = ("discards", "items", "line", "mark", "namespace")

    def __init__(self, mark: str, line: int) -> None:
        self.namespace = mark[2:-1].rstrip() if mark.startswith("#:") else ""
        self.mark = "{" if self.namespace else mark
        self.line = line
        self.items: list[object] = []
        self.discards = 0

    def add(self, value: object) -> None:
        """Take the next value, unless `#_` stands before it."""
        if self.discards:
            self.discards -= 1
        else:
            self.items.append(value)

    def qualified(self, keyword: object) -> object:
        """Return a keyword with the namespace of this map, if the keyword is a key."""
        if not self.namespace or len(self.items) % 2:
            return keyword
        name = str(keyword)
        return name.removeprefix("_/") if "/" in name else f"{self.namespace}/{name}"


def edn_forms(lines: Iterable[tuple[int, bytes]]) -> Iterator[Form]:
    """Yield the forms of a text, or the elements of the one vector or list that it consists of.

    Args:
        lines: the number and the text of each line.

    Raises:
        EdnError: it is no EDN, or a form is nested too deep or too large.
    """
    reader = _Reader()
    for number, line in lines:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise EdnError(number, f"byte {error.start + 1} is no UTF-8") from error
        yield from reader.feed(number, text)
    reader.end()


class _Reader:
    """The brackets that are open, outermost first; the first one stands for the file itself."""

    def __init__(self) -> None:
        self._stack = [_Open("", 0)]
        self._base = 1
        self._is_closed = False
        self._forms = 0
        self._values = 0
        self._line = 0

    def feed(self, number: int, text: str) -> Iterator[Form]:
        """Read a line and yield the forms that end in the line."""
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                raise EdnError(number, _unreadable(text, at))
            at = token.end()
            kind = str(token.lastgroup)
            if kind in {"blank", "tag"}:
                continue
            if len(self._stack) == self._base and kind != "close":
                self._line = number
            self._take(number, kind, token.group())
            yield from self._finished()

    def end(self) -> None:
        """Requires that nothing is open."""
        last = self._stack[-1]
        if len(self._stack) > 1:
            raise EdnError(last.line, f"the {last.mark} of this line is never closed")
        if last.discards:
            raise EdnError(last.line, "nothing follows #_")

    def _take(self, number: int, kind: str, text: str) -> None:
        if kind == "discard":
            self._stack[-1].discards += 1
            return
        if self._is_closed:
            raise EdnError(number, f"{text} after the end of the history")
        self._values += 1
        if self._values > MAX_VALUES:
            raise EdnError(number, f"a form of more than {MAX_VALUES} values")
        if kind == "open":
            self._open(number, text)
        elif kind == "close":
            self._close(number, text)
        else:
            value = _READERS[kind](number, text)
            last = self._stack[-1]
            last.add(last.qualified(value) if text.startswith(":") else value)

    def _open(self, number: int, mark: str) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise EdnError(number, f"nested deeper than {MAX_DEPTH}")
        is_whole = len(self._stack) == 1 and self._forms == 0 and not self._stack[0].discards
        if is_whole and mark in {"[", "("}:
            self._base = 2
        self._stack.append(_Open(mark, number))

    def _close(self, number: int, mark: str) -> None:
        last = self._stack[-1]
        if len(self._stack) == 1 or _CLOSES[last.mark] != mark:
            opened = f", which would close the {last.mark} of line {last.line}" if last.mark else ""
            raise EdnError(number, f"unmatched {mark}{opened}")
        if last.discards:
            raise EdnError(number, "nothing follows #_")
        self._stack.pop()
        if len(self._stack) < self._base:
            self._is_closed = True
        else:
            self._stack[-1].add(_collected(number, last))

    def _finished(self) -> Iterator[Form]:
        """Yield the complete forms."""
        if len(self._stack) != self._base:
            return
        outer = self._stack[-1]
        for value in outer.items:
            self._forms += 1
            yield self._line, value
        if outer.items:
            self._values = 0
            outer.items.clear()


def _unreadable(text: str, at: int) -> str:
    if text[at] == '"':
        return "a string that does not end in its line"
    return f"unreadable: {text[at : at + 20]!r}"


def _collected(number: int, bracket: _Open) -> object:
    if bracket.mark == "{":
        return _map(number, bracket.items)
    return _set(number, bracket.items) if bracket.mark == "#{" else bracket.items


def _set(number: int, items: list[object]) -> list[object]:
    by_text = sorted(zip(map(_json, items), range(len(items)), strict=True))
    for (one, _), (other, _) in pairwise(by_text):
        if one == other:
            raise EdnError(number, f"a set with {one.decode()} twice")
    return [items[place] for _, place in by_text]


def _map(number: int, items: list[object]) -> dict[str, object]:
    if len(items) % 2:
        raise EdnError(number, "a map with a key without a value")
    found: dict[str, object] = {}
    for key, value in zip(items[::2], items[1::2], strict=True):
        name = key if isinstance(key, str) else _json(key).decode()
        if name in found:
            raise EdnError(number, f"a map with the key {name} twice")
        found[name] = value
    return found


def _json(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _string(number: int, text: str) -> str:
    def unescaped(match: re.Match[str]) -> str:
        name = match.group(1)
        if len(name) == 5 and not 0xD800 <= int(name[1:], 16) <= 0xDFFF:
            return chr(int(name[1:], 16))
        if name not in _ESCAPES:
            raise EdnError(number, f"no such escape: \\{name}")
        return _ESCAPES[name]

    inside = text[1:-1]
    return _ESCAPE.sub(unescaped, inside) if "\\" in inside else inside


def _atom(number: int, text: str) -> object:
    if _LOOKS_LIKE_NUMBER.match(text):
        return _number(number, text)
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    name = text.removeprefix(":")
    if not name or name.startswith(":"):
        raise EdnError(number, f"no such keyword: {text}")
    return name


def _number(number: int, text: str) -> object:
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return _ratio(number, text)
    try:
        is_float = match["rest"] or text.endswith("M")
        value = float(text.rstrip("M")) if is_float else int(match["whole"])
    except ValueError:  # more digits than Python turns into an integer
        value = math.inf
    if math.isinf(value):
        raise EdnError(number, f"a number out of range: {text[:40]}")
    return value


def _ratio(number: int, text: str) -> object:
    if not re.fullmatch(r"[+-]?[0-9]+/[0-9]+", text):
        raise EdnError(number, f"no such number: {text[:40]}")
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise EdnError(number, f"a number out of range: {text[:40]}") from error
    return value.numerator if value.denominator == 1 else str(value)


def _character(number: int, text: str) -> str:
    return text[1:]


_READERS: Final[dict[str, Callable[[int, str], object]]] = {
    "string": _string,
    "atom": _atom,
    "char": _character,
}
