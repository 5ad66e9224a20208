"""Write pairs of keys and values in the many forms that Java's properties allow."""

from collections.abc import Mapping
from random import Random
from typing import Final

BLANKS: Final = ("", "", "", " ", "\t", "  ")
LINE_ENDS: Final = ("\n", "\n", "\r\n", "\r")
COMMENTS: Final = ("# node.id=77", "!node.id=78\\", "", "   ", "\t# a comment \\", "#")
ESCAPED: Final[Mapping[str, str]] = {
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\f": "\\f",
}
"""The characters that a value has only by an escape."""
NOT_ESCAPED: Final = frozenset("tnrfu\r\n")
"""The characters that mean another one behind a backslash."""


def written(random: Random, pairs: Mapping[str, str]) -> str:
    """Return the text of a server.properties, with comments, escapes and continued lines."""
    is_plain, line_end = random.random() < 0.3, random.choice(LINE_ENDS)
    lines: list[str] = []
    for key, value in pairs.items():
        if is_plain:
            lines.append(f"{key}={''.join(ESCAPED.get(one, one) for one in value)}")
            continue
        if random.random() < 0.1:
            lines.append(random.choice(COMMENTS))
        if random.random() < 0.03:
            lines.append(f"{key}=an earlier value")
        lines.append(_line(random, key, value, line_end))
    return line_end.join(lines) + random.choice(("", line_end))


def _line(random: Random, key: str, value: str, line_end: str) -> str:
    separator = random.choice(("=", "=", "=", ":", " ", "\t") if value[:1] not in ":=" else "=:")
    before, behind = random.choice(BLANKS), random.choice(BLANKS)
    if separator.strip():
        separator = random.choice(BLANKS) + separator
    return (
        f"{before}{_text(random, key, line_end)}{separator}{behind}"
        f"{_text(random, value, line_end)}{random.choice(BLANKS)}"
    )


def _text(random: Random, text: str, line_end: str) -> str:
    """Return a text with some characters escaped, and maybe continued on further lines."""
    many = 0.02 if len(text) < 200 else 0.002
    return "".join(_character(random, one, many, line_end) for one in text)


def _character(random: Random, one: str, many: float, line_end: str) -> str:
    written_one = ESCAPED.get(one, one)
    if random.random() >= many:
        return written_one
    match random.randrange(3):
        case 0:
            return f"\\u{ord(one):04x}"
        case 1 if one not in ESCAPED and one not in NOT_ESCAPED:
            return f"\\{one}"
        case _ if one not in " \t\f":
            return f"\\{line_end}{random.choice(BLANKS)}{written_one}"
        case _:
            return written_one
