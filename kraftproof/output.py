"""Print lines on standard output and standard error, for people and for programs."""

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from kraftproof.checkers.text import LONGEST_LINE, without_long_words, without_middle

_ELLIPSIS = 3
STYLES = {"valid": "bold green", "invalid": "bold red", "unknown": "bold yellow"}


def print_line(line: str) -> None:
    """Print a line on standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def print_json(value: Any) -> None:  # noqa: ANN401 - whatever is JSON
    """Print a value as one line of JSON."""
    print_line(json.dumps(value))


def print_error(line: str) -> None:
    """Print a line on standard error; cut very long words, and the middle of a very long line."""
    short = without_long_words(in_one_line(line))
    sys.stderr.write(without_middle(short, LONGEST_LINE - _ELLIPSIS) + "\n")


def in_one_line(text: str) -> str:
    """Return a text with escapes for all unprintable characters, such as line ends.

    Texts quoted from files and names may contain unprintable characters.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode()
        for one in text
    )


def print_verdict(verdict: str, rest: str) -> None:
    """Print a line that starts with a verdict, colored on a terminal."""
    line = Text(verdict, style=STYLES[verdict])
    line.append(rest, style="default")
    Console(highlight=False, soft_wrap=True).print(line)
