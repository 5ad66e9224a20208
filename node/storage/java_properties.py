"""Read and write the text of Java's properties, the form of Kafka's files of settings.

A key ends at `=`, `:` or a blank. A backslash escapes the next character, and at the end of a line
continues the line. Blanks around a value are removed, as Kafka does for every setting.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_BLANKS: Final = " \t\f"
_KEY: Final = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)?", re.DOTALL)
_LETTERS: Final[Mapping[str, str]] = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SURROUNDING: Final = "".join(map(chr, range(33)))
"""The characters that Java's `trim` removes."""


def parse_properties(text: str) -> dict[str, str]:
    """Return the pairs of a text; of two lines with the same key the last counts."""
    pairs: dict[str, str] = {}
    for line in _logical_lines(text):
        found = _KEY.fullmatch(line)
        assert found is not None, "every line has the form of a key, maybe empty, and a value"
        key, value = map(_unescaped, found.groups())
        pairs[key] = value.strip(_SURROUNDING)
    return pairs


def format_property(key: str, value: str) -> str:
    """Return the line of a pair, whose value may have any character."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{key}={escaped}\n"


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither blank nor comments, each with its continuations."""
    parts: list[str] = []
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANKS)
        if not parts and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        is_continued = backslashes % 2 == 1
        parts.append(line[:-1] if is_continued else line)
        if not is_continued:
            yield from filter(None, ("".join(parts),))
            parts = []
    yield from filter(None, ("".join(parts),))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    escaped = found[1] or ""
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return _LETTERS.get(escaped, escaped)
