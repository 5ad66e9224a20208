"""The report of a disk: the times at which bytes became durable or were lost.

A line of JSON for each event, with times in nanoseconds of the run:

- `synced`: an fsync of a file has made the listed writes durable.
- `lost`: the power failed; the listed writes and changes of names are lost.
- `unmounted`: the run has ended, and no fsync has covered the listed writes.

A write has a file, a range of bytes, a time and, up to a limit for the whole report, the bytes in
base64.
"""

import base64
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.remote.disk.undo import Range

DATA_BYTES: Final = 1 << 26
"""Maximum number of written bytes in a report; later writes come without their bytes."""


class Report:
    """The report of a disk, written event by event."""

    def __init__(self, path: Path, origin_ns: int) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._origin_ns = origin_ns
        """The zero of the run's time on the monotonic clock."""
        self._data_left = DATA_BYTES

    def synced(self, file: str, ranges: Iterable[Range]) -> None:
        """Report an fsync."""
        self._write("synced", [(file, one) for one in ranges if one.data])

    def lost(self, ranges: Iterable[tuple[str, Range]], names: list[str]) -> int:
        """Report a loss of power; return the number of bytes."""
        found = list(ranges)
        self._write("lost", found, names=names)
        return sum(len(one.data) for _, one in found)

    def unmounted(self, ranges: Iterable[tuple[str, Range]]) -> None:
        """Report the end of the run."""
        self._write("unmounted", ranges)
        self._file.close()

    def _write(self, event: str, ranges: Iterable[tuple[str, Range]], **more: object) -> None:
        writes = [self._described(file, one) for file, one in ranges]
        now = time.monotonic_ns() - self._origin_ns
        self._file.write(json.dumps({"event": event, "time": now, "writes": writes, **more}) + "\n")
        self._file.flush()

    def _described(self, file: str, one: Range) -> dict[str, Any]:
        found = {"file": file, "start": one.offset, "end": one.offset + len(one.data)}
        found["written"] = one.time_ns - self._origin_ns
        if len(one.data) > self._data_left:
            return found
        self._data_left -= len(one.data)
        return found | {"data": base64.b64encode(one.data).decode("ascii")}
