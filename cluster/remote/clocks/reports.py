"""How far a node's wall clock is off, by what the node itself reports: in a file, or when asked."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from typing_extensions import override

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.systems.deployment import WallClock

SCRIPT: Final = "import time; print(time.time_ns() - time.monotonic_ns())"
NS_PER_S: Final = 1_000_000_000
PHASES: Final = (0.82, 0.12)
"""Parts of a step of the true clock at which an offset of 0.2 steps shows: ahead, then back.

The time of the answer may be 0.08 steps.
"""

Ask = Callable[[], Awaitable[int | None]]
"""Asks a node for its wall clock, in ns since the epoch."""


class ClockReport(ABC):
    """A report of a node's wall clock."""

    @abstractmethod
    async def offset(self) -> int | None:
        """Return the reported wall clock minus the true one, in ns; None without a report."""


class FileReport(ClockReport):
    """A file in which the node writes both of its clocks.

    Wall minus monotonic clock does not change while neither is set, and the monotonic clock is the
    same for all on a machine: so it does not matter when the line was written.
    """

    def __init__(self, host: Host, reported: WallClock, files: Path) -> None:
        """Read with `reported`; `files` is the node's directory as the harness sees it."""
        self._host = host
        self._reported = reported
        self._files = files

    @override
    async def offset(self) -> int | None:
        await self._host.refresh()
        reported = self._reported(self._files)
        return None if reported is None else reported - await self._true()

    async def _true(self) -> int:
        status, output = await self._host.run_python(SCRIPT)
        if status or not output.strip().lstrip("-").isdecimal():
            raise ClusterError(f"clock of {self._host.directory.name}: {output.strip()}")
        return int(output)


class AskedReport(ClockReport):
    """A node of this machine that tells its wall clock over the network, rounded down to a step.

    The step and the time of the answer leave a range of offsets. The offset is that of the range
    which is nearest to 0, so that rounding is no evidence of a fault.
    """

    def __init__(self, ask: Ask, step_s: float) -> None:
        self._ask = ask
        self._step_ns = int(step_s * NS_PER_S)

    @override
    async def offset(self) -> int | None:
        if not self._step_ns:
            return await self._offset_now()
        found = []
        for phase in PHASES:
            await asyncio.sleep(self._until(phase))
            offset_ns = await self._offset_now()
            if offset_ns is not None:
                found.append(offset_ns)
        return max(found, key=abs, default=None)

    def _until(self, phase: float) -> float:
        """Return the seconds until this part of a step."""
        past_ns = time.time_ns() % self._step_ns
        return (int(phase * self._step_ns) - past_ns) % self._step_ns / NS_PER_S

    async def _offset_now(self) -> int | None:
        before_ns = time.time_ns()
        reported_ns = await self._ask()
        if reported_ns is None:
            return None
        least_ns, most_ns = reported_ns - time.time_ns(), reported_ns + self._step_ns - before_ns
        return min(max(0, least_ns), most_ns)
