"""Last output of a node: the end of its standard output or of its log files."""

from collections.abc import Iterable
from pathlib import Path

OUTPUT_NAME = "output.log"
"""The file in a node's directory with all that the node printed, over all its starts."""


def last_words(directory: Path, logs: Iterable[str] = ()) -> str:
    """Return the last line that a node printed, else the last of its logs.

    Indented lines are left out, such as the calls of a stack trace: the line above names the error.
    """
    for name in (OUTPUT_NAME, *logs):
        path = directory / name
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            if lines:
                return next(
                    (line for line in reversed(lines) if not line[0:1].isspace()), lines[-1]
                )
    return "nothing printed"
