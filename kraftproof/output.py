"""Lines on standard output and error, for people and for programs."""

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from kraftproof.checkers.text import LONGEST_LINE, without_middle

_ELLIPSIS = 3
STYLES = {"valid": "bold green", "invalid": "bold red", "unknown": "bold yellow"}


def say(line: str) -> None:
    """Print a line on standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_json(value: Any) -> None:  # noqa: ANN401 - whatever is JSON
    """Print a value as one line of JSON."""
    say(json.dumps(value))


def complain(line: str) -> None:
    """Print a line on standard error; of a very long one the two ends, which say what is wrong."""
    sys.stderr.write(without_middle(in_one_line(line), LONGEST_LINE - _ELLIPSIS) + "\n")


def in_one_line(text: str) -> str:
    """Return a text with escapes for line ends and whatever else would move the cursor.

    What is quoted of a file or a name may hold such.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode()
        for one in text
    )


def say_verdict(verdict: str, rest: str) -> None:
    """Print a line that begins with a verdict, in its colour on a terminal."""
    line = Text(verdict, style=STYLES[verdict])
    line.append(rest, style="default")
    Console(highlight=False, soft_wrap=True).print(line)
