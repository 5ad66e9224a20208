"""A node's wall clock: a sum of movements, written where the processes of the node read it.

Programs with libfaketime read the offset from a file; the other processes of this machine have it
in their memory (vdso/). Only the wall clock is moved; the monotonic clock is the machine's. A
movement is a task of the harness that writes the offset again and again.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.vdso.node_processes import (
    LOOK_S,
    NodeProcesses,
    ProcessHost,
)
from kraftproof.cluster.remote.host import Host

NS_PER_S = 1_000_000_000
PER_MILLION = 1_000_000
SHORTEST_PERIOD_S = 0.01
"""Shortest period of a strobe: a write takes up to some milliseconds."""
DRIFT_STEP_S = 0.02
"""Time between the small jumps of which a drift consists, in seconds."""
OffsetAfter = Callable[[float], int]
NEW_PROCESS_S: Final = 0.02
"""Time between two looks at a node that has just started, in seconds."""
QUIET_LOOKS: Final = 3
"""Looks without a change after which a start is over, such as that of a shell around the node."""
MOST_LOOKS: Final = 50


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
    """The clock of one node: the sum of a shift, a strobe and a drift.

    Attributes:
        lock: Held while the offset is written; a pause or a resume of the node waits for it, so
            that neither comes between the stop and the continuation of a process.
    """

    __slots__ = ("_host", "_movements", "_processes", "_writes_file", "_written", "lock")

    def __init__(self, host: Host, *, writes_file: bool) -> None:
        """Make the clock of a node.

        Args:
            host: The host; a ProcessHost has processes on this machine, whose clocks move.
            writes_file: Whether programs of the node read libfaketime's file.
        """
        self._host = host
        self._writes_file = writes_file
        self._written = b""
        self._processes: NodeProcesses | None = None
        if isinstance(host, ProcessHost):
            self._processes = NodeProcesses(is_preloaded=writes_file)
        self._movements: dict[str, _Movement] = {}
        self.lock = asyncio.Lock()

    async def shift(self, offset_ns: int) -> None:
        """Set the wall clock that far from the true one."""
        await self._move("shift", (lambda _: offset_ns) if offset_ns else None, LOOK_S)

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
        """Stop all movements, as the cluster stops; the last offset stays."""
        for movement in self._movements.values():
            movement.task.cancel()
        self._movements.clear()
        async with self.lock:
            if self._processes is not None:
                self._processes.close()

    async def follow_start(self) -> None:
        """Move the clock of a node that has just started; its first instructions read true time.

        The offset is in place once no process of the node has begun or run another program for
        some looks. A movement looks for later processes twice a second.
        """
        quiet = 0
        for _ in range(MOST_LOOKS):
            if not self._movements or self._processes is None or quiet == QUIET_LOOKS:
                return
            quiet = 0 if await self._write(looks=True) else quiet + 1
            await asyncio.sleep(NEW_PROCESS_S)

    async def lack(self) -> str | None:
        """Return why the clock of the running node can't be moved; None if it can."""
        if self._processes is None:
            return (
                None if self._writes_file else "the processes of the node are not on this machine"
            )
        try:
            found = await self._local_processes()
        except ClusterError as error:
            return str(error)
        return await asyncio.to_thread(self._processes.lack, found)

    async def _move(self, name: str, offset_after: OffsetAfter | None, step_s: float) -> None:
        """Replace the movement of a name; None ends the movement."""
        old = self._movements.pop(name, None)
        if old is not None:
            old.task.cancel()
        if offset_after is not None:
            task = asyncio.create_task(self._keep_writing(step_s))
            began_s = asyncio.get_running_loop().time()
            self._movements[name] = _Movement(offset_after, began_s, task)
        await self._write(looks=True)

    async def _keep_writing(self, step_s: float) -> None:
        while True:
            await asyncio.sleep(step_s)
            with suppress(ClusterError):  # the report of the node says whether its clock moves
                await self._write(looks=False)

    async def _write(self, *, looks: bool) -> int:
        """Write the present offset; return how many processes are new or have changed.

        Args:
            looks: Whether to look for other processes now, and not only if it is time.
        """
        # A write that is cancelled may still end later, so the next write waits for its end.
        async with self.lock:
            now_s = asyncio.get_running_loop().time()
            moved_ns = sum(m.offset_after(now_s - m.began_s) for m in self._movements.values())
            put = asyncio.ensure_future(self._put(moved_ns, looks=looks))
            try:
                return await asyncio.shield(put)
            except asyncio.CancelledError:
                with suppress(ClusterError):  # it would take the place of the cancellation
                    await put
                raise

    async def _put(self, offset_ns: int, *, looks: bool) -> int:
        if self._writes_file:
            text = f"{offset_ns / NS_PER_S:+.6f}\n".encode("ascii")
            if text != self._written:
                await self._host.put(clock_file(self._host.directory), text)
                self._written = text
        if self._processes is None:
            return 0
        if not looks and not self._processes.is_due:
            self._processes.move(offset_ns)
            return 0
        found = await self._local_processes()
        is_held = bool(found) and await self._host.is_paused()
        state = {"is_moving": bool(self._movements), "is_held": is_held}
        return await asyncio.to_thread(partial(self._processes.look, found, offset_ns, **state))

    async def _local_processes(self) -> list[int]:
        assert isinstance(self._host, ProcessHost), "its processes have clocks"
        try:
            return await self._host.local_processes()
        except ClusterError:
            if self._writes_file:  # libfaketime moves them, wherever they are
                return []
            raise
