"""The wall clocks of all processes of a node on this machine: the node's own and its children."""

import time
from collections.abc import Iterable
from typing import Final, Protocol, runtime_checkable

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.vdso.proc_folder import ProcFolder
from kraftproof.cluster.remote.clocks.vdso.process_clock import (
    LARGEST_OFFSET_NS,
    ProcessClock,
    attach,
    lack_of,
)

LOOK_S: Final = 0.5
"""Time between two looks for processes that have started or run another program, in seconds."""


@runtime_checkable
class ProcessHost(Protocol):
    """A host whose node runs as processes that this machine may see."""

    async def local_processes(self) -> list[int]:
        """Return the node's processes by their ids on this machine, its first process first.

        Raises:
            ClusterError: the processes are not on this machine.
        """
        ...

    async def is_paused(self) -> bool:
        """Return whether the node is paused, as the operating system sees it."""
        ...


class NodeProcesses:
    """The clocks of the processes of one node; blocking calls."""

    __slots__ = ("_clocks", "_is_preloaded", "_looked_s", "_was_moved")

    def __init__(self, *, is_preloaded: bool) -> None:
        self._clocks: dict[int, ProcessClock] = {}
        self._is_preloaded = is_preloaded
        """Whether libfaketime moves the clocks of the node's programs that load libraries."""
        self._looked_s = 0.0
        self._was_moved = False
        """Whether a process of the node may have the machine code, which its children inherit."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to look for other processes."""
        return time.monotonic() >= self._looked_s + LOOK_S

    def move(self, offset_ns: int) -> None:
        """Set the offset of all known processes.

        Raises:
            ClusterError: the offset is too large.
        """
        if abs(offset_ns) > LARGEST_OFFSET_NS:
            raise ClusterError(f"offset of a clock: {offset_ns} ns: it has at most 73 years")
        for pid, clock in list(self._clocks.items()):
            if not clock.move(offset_ns):
                clock.close()
                del self._clocks[pid]

    def look(
        self, processes: Iterable[int], offset_ns: int, *, is_moving: bool, is_held: bool
    ) -> int:
        """Set the offset of these processes; return how many of them are new or have changed.

        Args:
            processes: All processes of the node.
            offset_ns: The offset.
            is_moving: Whether a fault moves the clock; otherwise no process gets the machine code.
            is_held: Whether the node is paused until the return.

        Raises:
            ClusterError: the clock of a process can't be moved.
        """
        self._looked_s = time.monotonic()
        self.move(offset_ns)
        found = 0
        if not is_moving and not self._was_moved:
            return found
        self._was_moved = True
        for pid in processes:
            if pid not in self._clocks and not self._leaves(pid):
                clock = attach(pid, offset_ns, is_held=is_held, is_new=is_moving)
                if clock is not None:
                    self._clocks[pid] = clock
                    found += 1
        return found

    def lack(self, processes: Iterable[int]) -> str | None:
        """Return why the clock of a process can't be moved; None if all can."""
        reasons = (lack_of(pid) for pid in processes if not self._leaves(pid))
        return next((one for one in reasons if one is not None), None)

    def close(self) -> None:
        """Let go of all processes; their clocks stay."""
        for clock in self._clocks.values():
            clock.close()
        self._clocks.clear()

    def _leaves(self, pid: int) -> bool:
        """Return whether libfaketime moves the clock of a process, which has a dynamic loader."""
        return self._is_preloaded and loads_libraries(pid)


def loads_libraries(pid: int) -> bool:
    """Return whether a process has a dynamic loader, from its first moment on."""
    try:
        folder = ProcFolder(pid)
    except ProcessLookupError:
        return False
    try:
        names = (line.rpartition("/")[2] for line in folder.read("maps").splitlines())
        return any(name.startswith("ld-") for name in names)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        folder.close()
