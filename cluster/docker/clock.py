"""A node's wall clock: set through libfaketime's file, read from the node's own trace.

Only the wall clock is faked; the monotonic one is the machine's. Not: drift.
"""

import json
import time
from pathlib import Path

NS_PER_S = 1_000_000_000
TAIL_BYTES = 64 * 1024


class NodeClock:
    """The clock of one node."""

    __slots__ = ("_path", "_trace")

    def __init__(self, directory: Path) -> None:
        self._path = directory / "clock" / "offset"
        self._trace = directory / "trace.jsonl"

    @property
    def path(self) -> Path:
        """The file that libfaketime reads at each look at the clock."""
        return self._path

    def shift(self, offset_ns: int) -> None:
        """Set the wall clock that far from the true one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # The node reads at any time: it must find the old file or the new one, whole.
        temporary = self._path.with_suffix(".new")
        temporary.write_text(f"{offset_ns / NS_PER_S:+.6f}\n", encoding="ascii")
        temporary.replace(self._path)

    def reported_offset(self) -> int | None:
        """Return how far the node's wall clock was off when it last wrote of itself.

        Wall minus monotonic clock does not change while neither is set, and the monotonic clock
        is the same for all on a machine: so it does not matter when the line was written.
        """
        row = self._last_row()
        if row is None:
            return None
        return (row["wall"] - row["time"]) - (time.time_ns() - time.monotonic_ns())

    def _last_row(self) -> dict[str, int] | None:
        try:
            with self._trace.open("rb") as trace:
                trace.seek(max(0, trace.seek(0, 2) - TAIL_BYTES))
                lines = trace.read().splitlines(keepends=True)
        except FileNotFoundError:
            return None
        for line in reversed(lines):
            if line.endswith(b"}\n"):
                row: dict[str, int] = json.loads(line)
                return row
        return None
