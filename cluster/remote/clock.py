"""A node's wall clock: set through libfaketime's file, read from what the node itself reports.

Only the wall clock is faked; the monotonic clock is the machine's. A strobe or a drift is a task
of the harness that writes the file again and again.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.systems.deployment import WallClock

NS_PER_S = 1_000_000_000
PER_MILLION = 1_000_000
SHORTEST_PERIOD_S = 0.01
"""Shortest period of a strobe: a write takes up to some milliseconds."""
DRIFT_STEP_S = 0.02
"""Time between the small jumps of which a drift consists, in seconds."""
OffsetAfter = Callable[[float], int]
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


@dataclass(frozen=True, slots=True)
class _Movement:
    """A movement of a clock: its offset in ns after some seconds, its start, and its writer."""

    offset_after: OffsetAfter
    began_s: float
    task: asyncio.Task[None]


class NodeClock:
    """The clock of one node: the sum of a shift, a strobe and a drift."""

    __slots__ = ("_files", "_host", "_lock", "_movements", "_reported", "_shift_ns")

    def __init__(self, host: Host, reported: WallClock, files: Path) -> None:
        self._host = host
        self._reported = reported
        self._files = files
        """The node's directory as the harness sees it."""
        self._shift_ns = 0
        self._movements: dict[str, _Movement] = {}
        self._lock = asyncio.Lock()

    async def shift(self, offset_ns: int) -> None:
        """Set the wall clock that far from the true one."""
        self._shift_ns = offset_ns
        await self._write()

    async def strobe(self, offset_ns: int, period_ns: int) -> None:
        """Alternate between offset and no offset; a period is at least 10 ms. Offset 0 stops."""
        period_s = max(period_ns / NS_PER_S, SHORTEST_PERIOD_S)

        def offset_after(elapsed_s: float) -> int:
            return offset_ns if int(elapsed_s / period_s) % 2 == 0 else 0

        await self._move("strobe", offset_after if offset_ns else None, period_s)

    async def drift(self, rate_ppm: int) -> None:
        """Let the wall clock run away from now on; rate 0 returns to the other movements."""

        def offset_after(elapsed_s: float) -> int:
            return int(elapsed_s * rate_ppm * NS_PER_S / PER_MILLION)

        await self._move("drift", offset_after if rate_ppm else None, DRIFT_STEP_S)

    async def still(self) -> None:
        """Stop all movements, as the cluster stops; the file stays as written."""
        for movement in self._movements.values():
            movement.task.cancel()
        self._movements.clear()

    async def _move(self, name: str, offset_after: OffsetAfter | None, step_s: float) -> None:
        """Replace the movement of a name; None ends the movement."""
        old = self._movements.pop(name, None)
        if old is not None:
            old.task.cancel()
        if offset_after is not None:
            task = asyncio.create_task(self._keep_writing(step_s))
            began_s = asyncio.get_running_loop().time()
            self._movements[name] = _Movement(offset_after, began_s, task)
        await self._write()

    async def _keep_writing(self, step_s: float) -> None:
        while True:
            await asyncio.sleep(step_s)
            with suppress(ClusterError):  # the report of the node says whether its clock moves
                await self._write()

    async def _write(self) -> None:
        # A write that is cancelled may still end later, so the next write waits for its end.
        async with self._lock:
            now_s = asyncio.get_running_loop().time()
            moved_ns = sum(m.offset_after(now_s - m.began_s) for m in self._movements.values())
            text = f"{(self._shift_ns + moved_ns) / NS_PER_S:+.6f}\n"
            put = asyncio.ensure_future(
                self._host.put(clock_file(self._host.directory), text.encode("ascii"))
            )
            try:
                await asyncio.shield(put)
            except asyncio.CancelledError:
                await put
                raise

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
