"""The disks of all nodes of a run: mounted where the run's faults need them, and nowhere else."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.protocol import Capability, ClusterError
from kraftproof.cluster.remote.disk import mounts
from kraftproof.cluster.remote.disk.capabilities import DISK_CAPABILITIES
from kraftproof.cluster.remote.disk.node_disk import NodeDisk
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.deployment import DISK_REPORT, SET_UP_DONE

TICK_NS: Final = 10_000_000
"""The time of a file lags behind the clock by up to a tick of the kernel, at most 10 ms."""


class NodeDisks:
    """The disks of a run."""

    def __init__(
        self,
        needs: frozenset[Capability],
        seed: int,
        directories: Mapping[int, Path],
        scope: Scope,
    ) -> None:
        self._is_needed = bool(needs & DISK_CAPABILITIES)
        self._seed = seed
        self._directories = directories
        self._scope = scope
        self._disks: dict[int, list[NodeDisk]] = {}
        if self._is_needed:
            mounts.sweep()

    async def mount(self, node_id: int, data: tuple[str, ...]) -> None:
        """Mount a disk over each data directory of a node, if the faults of the run need disks.

        Raises:
            ClusterError: the node names no data directory, or a disk can't be mounted.
        """
        if not self._is_needed:
            return
        if not data:
            raise ClusterError(f"node {node_id}: its deployment names no data directory")
        disks = self._disks.setdefault(node_id, [])
        for path in data:
            directory = self._directories[node_id] / path
            report = self._directories[node_id] / DISK_REPORT
            seed = f"{self._seed} node {node_id} {path}"
            disk = NodeDisk(directory, report, seed, time.monotonic_ns() - self._scope.now())
            disks.append(disk)
            await disk.mount()

    async def unmount(self) -> None:
        """Remove the disks, once no node runs; the files stay as written."""
        for disks in self._disks.values():
            for disk in disks:
                await disk.unmount()
        self._disks.clear()

    async def ready(self) -> None:
        """Make the files of each set-up durable, and check that nodes write through their disks.

        A power loss is a fault of the node: what its set-up has written is there for good.

        Raises:
            ClusterError: no node does, for example since containers do not see the mounts.
        """
        for node_id, disks in self._disks.items():
            mark = self._directories[node_id] / SET_UP_DONE
            if mark.exists():
                ago_ns = time.time_ns() - mark.stat().st_mtime_ns - TICK_NS
                for disk in disks:
                    await disk.settle(time.monotonic_ns() - ago_ns)
        states = [await disk.state() for disks in self._disks.values() for disk in disks]
        if states and not any(state["writes"] for state in states):
            raise ClusterError(
                "no node writes through the disk that is mounted over its data directory; "
                "a container engine has to share this machine's mounts"
            )

    async def lose(self, node_id: int) -> int:
        """Let the disks of a dead node lose unsynced writes; return the number of bytes."""
        return sum([await disk.lose() for disk in self._of(node_id)])

    async def add(self, node_id: int, fault: DiskFault) -> None:
        """Add a fault to a node's disks."""
        for disk in self._of(node_id):
            await disk.add(fault)

    async def remove(self, node_id: int, fault: DiskFault) -> None:
        """Undo one `add`; without a matching call, do nothing."""
        for disk in self._of(node_id):
            await disk.remove(fault)

    async def hits(self, node_id: int) -> int:
        """Return the number of operations affected by faults."""
        return sum([(await disk.state())["hits"] for disk in self._of(node_id)])

    def _of(self, node_id: int) -> list[NodeDisk]:
        if node_id not in self._disks:
            raise ClusterError(f"node {node_id}: no disk that can have faults is mounted")
        return self._disks[node_id]
