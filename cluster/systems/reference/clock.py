"""Wall clock of a reference node: each line of its trace has both clocks."""

import json
from pathlib import Path
from typing import Final

TAIL_BYTES: Final = 64 * 1024
TRACE_FILE: Final = "trace.jsonl"


def wall_clock(directory: Path) -> int | None:
    """Return wall minus monotonic clock, in ns, of the last whole line; None if there is none."""
    try:
        with (directory / TRACE_FILE).open("rb") as trace:
            trace.seek(max(0, trace.seek(0, 2) - TAIL_BYTES))
            lines = trace.read().splitlines(keepends=True)
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        if line.endswith(b"}\n"):
            row: dict[str, int] = json.loads(line)
            return row["wall"] - row["time"]
    return None
