"""Index the batches of a segment sparsely: offset, position, and the newest timestamp before.

The index has at most MOST_ENTRIES entries. A full index drops every second entry and doubles its
interval, so that memory does not grow with the bytes of a segment.
"""

from array import array
from bisect import bisect_left, bisect_right
from typing import Final

FIRST_INTERVAL_BYTES: Final = 4096
"""Bytes between two entries of a small segment, as Kafka's index.interval.bytes."""
MOST_ENTRIES: Final = 1024
NO_TIMESTAMP: Final = -1


class SparseIndex:
    """The entries of one segment in ascending order."""

    __slots__ = ("_before_ms", "_interval_bytes", "_offsets", "_positions")

    def __init__(self) -> None:
        self._offsets = array("q")
        self._positions = array("q")
        self._before_ms = array("q")
        """The newest timestamp of the batches before each entry."""
        self._interval_bytes = FIRST_INTERVAL_BYTES

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._offsets)

    def add(self, offset: int, position: int, before_ms: int) -> None:
        """Add the next batch, if the last entry is far enough away."""
        positions = self._positions
        if positions and position - positions[-1] < self._interval_bytes:
            return
        self._offsets.append(offset)
        positions.append(position)
        self._before_ms.append(before_ms)
        if len(positions) > MOST_ENTRIES:
            self._interval_bytes *= 2
            for entries in (self._offsets, self._positions, self._before_ms):
                del entries[1::2]

    def floor(self, offset: int) -> tuple[int, int]:
        """Return position and newest timestamp before the last entry at or below `offset`."""
        return self._entry(bisect_right(self._offsets, offset) - 1)

    def floor_of_time(self, timestamp_ms: int) -> int:
        """Return the position of the last entry without an earlier batch of that time or later."""
        return self._entry(bisect_left(self._before_ms, timestamp_ms) - 1)[0]

    def truncate(self, position: int) -> None:
        """Remove the entries at or above a position."""
        kept = bisect_left(self._positions, position)
        for entries in (self._offsets, self._positions, self._before_ms):
            del entries[kept:]

    def _entry(self, index: int) -> tuple[int, int]:
        if index < 0:
            return 0, NO_TIMESTAMP
        return self._positions[index], self._before_ms[index]
