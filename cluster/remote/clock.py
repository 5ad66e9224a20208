"""A node's wall clock: set through libfaketime's file, read from what the node itself reports.

Only the wall clock is faked; the monotonic one is the machine's. Not: drift.
"""

from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.systems.deployment import WallClock

NS_PER_S = 1_000_000_000
SCRIPT: Final = "import time; print(time.time_ns() - time.monotonic_ns())"


def clock_file(directory: Path) -> Path:
    """Return the file that libfaketime reads at each look at the clock."""
    return directory / "clock" / "offset"


def environment(directory: Path, library: str) -> dict[str, str]:
    """Return the variables that make a process obey its clock file.

    Args:
        directory: The node's own.
        library: The path of libfaketime where the process runs.
    """
    return {
        "LD_PRELOAD": library,
        "FAKETIME_TIMESTAMP_FILE": str(clock_file(directory)),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Its "fix" breaks timed waits on the monotonic clock, such as Python's for the GIL: a
        # node with threads is then a hundred times slower.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }


class NodeClock:
    """The clock of one node."""

    __slots__ = ("_files", "_host", "_reported")

    def __init__(self, host: Host, reported: WallClock, files: Path) -> None:
        self._host = host
        self._reported = reported
        self._files = files
        """The node's directory as the harness sees it."""

    async def shift(self, offset_ns: int) -> None:
        """Set the wall clock that far from the true one."""
        text = f"{offset_ns / NS_PER_S:+.6f}\n"
        await self._host.put(clock_file(self._host.directory), text.encode("ascii"))

    async def reported_offset(self) -> int | None:
        """Return how far the node's wall clock was off when it last wrote of itself.

        Wall minus monotonic clock does not change while neither is set, and the monotonic clock
        is the same for all on a machine: so it does not matter when the line was written.
        """
        await self._host.refresh()
        reported = self._reported(self._files)
        return None if reported is None else reported - await self._true()

    async def _true(self) -> int:
        status, output = await self._host.run_python(SCRIPT)
        if status or not output.strip().lstrip("-").isdecimal():
            raise ClusterError(f"clock of {self._host.directory.name}: {output.strip()}")
        return int(output)
