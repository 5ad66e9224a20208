"""Last output of a node: the end of its standard output or of its log files."""

from collections.abc import Iterable
from pathlib import Path

from kraftproof.cluster.plugin import shortened

LINES = 3
"""Number of the last lines that are shown of a node that did not become ready."""
OUTPUT_NAME = "output.log"
"""The file in a node's directory with all that the node printed, over all its starts."""
END_BYTES = 1 << 16
"""Bytes at the end of a file that are looked at: a node in a loop prints gigabytes."""


def last_words(directory: Path, logs: Iterable[str] = ()) -> str:
    """Return the last line that a node printed, else the last of its logs.

    Indented lines are left out, such as the calls of a stack trace: the line above names the error.
    """
    return _last(directory, logs, 1)[-1]


def last_lines(directory: Path, logs: Iterable[str] = ()) -> str:
    """Return the last lines that a node printed, or of its logs, as one line."""
    return " / ".join(map(shortened, _last(directory, logs, LINES)))


def end_of(path: Path) -> str:
    """Return the text at the end of a file, whose first line may be incomplete.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - END_BYTES))
        return file.read(END_BYTES).decode("utf-8", "replace")


def _last(directory: Path, logs: Iterable[str], count: int) -> list[str]:
    for name in (OUTPUT_NAME, *logs):
        path = directory / name
        if path.is_file():
            lines = end_of(path).strip().splitlines()
            if lines:
                plain = [line for line in lines if line and not line[0].isspace()]
                return (plain or lines)[-count:]
    return ["nothing printed"]
