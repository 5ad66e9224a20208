"""Faults of the disks of live nodes, and the words of nodes that end because of such a fault."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from typing_extensions import override

from kraftproof.cluster.capabilities import DiskFailureReporting, DiskFault, DiskFaultCapable
from kraftproof.cluster.remote.disk.failure_output import failure_line
from kraftproof.cluster.remote.disk.node_disks import NodeDisks
from kraftproof.cluster.remote.output import END_BYTES, OUTPUT_NAME
from kraftproof.cluster.remote.output_limit import output_size, read_output


class LiveDisks(DiskFaultCapable, DiskFailureReporting):
    """The disks of the nodes of a live cluster."""

    _directories: Mapping[int, Path]
    _disks: NodeDisks
    _failing: dict[int, tuple[DiskFault, int]]
    """By node: the last fault, and the size of the output at its begin or at a later start."""

    @override
    async def add_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        self._failing[node_id] = fault, self._output_size(node_id)
        await self._disks.add(node_id, fault)

    @override
    async def remove_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        await self._disks.remove(node_id, fault)

    @override
    async def disk_fault_count(self, node_id: int) -> int:
        return await self._disks.hits(node_id)

    @override
    async def disk_failure_line(self, node_id: int) -> str | None:
        if node_id not in self._failing:
            return None
        fault, begin = self._failing[node_id]
        if fault.failure is None:
            return None
        path = self._directories[node_id] / OUTPUT_NAME
        begin = max(begin, self._output_size(node_id) - END_BYTES)
        try:
            _, text = await asyncio.to_thread(read_output, path, begin, END_BYTES)
        except FileNotFoundError:
            return None
        return failure_line(text.decode("utf-8", "replace"), fault.failure)

    def _note_start(self, node_id: int) -> None:
        """Take note that what the node prints from now on is of another process."""
        if node_id in self._failing:
            fault, _ = self._failing[node_id]
            self._failing[node_id] = fault, self._output_size(node_id)

    def _output_size(self, node_id: int) -> int:
        return output_size(self._directories[node_id] / OUTPUT_NAME)
