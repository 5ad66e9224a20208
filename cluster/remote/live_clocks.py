"""Faults of the wall clocks of live nodes; see clock.py for the clock of one node."""

from abc import ABC, abstractmethod

from typing_extensions import override

from kraftproof.cluster.capabilities import WallClockFaultCapable
from kraftproof.cluster.protocol import Capability, ClusterError
from kraftproof.cluster.remote.clock import NodeClock


class LiveClocks(WallClockFaultCapable, ABC):
    """The wall clocks of a live cluster, of the nodes that report their clock."""

    _clocks: dict[int, NodeClock]

    @property
    @abstractmethod
    def backend(self) -> str:
        """The name of the backend, for errors."""

    @property
    @abstractmethod
    def capabilities(self) -> frozenset[Capability]:
        """Return the faults that the cluster can have."""

    @abstractmethod
    async def process_id(self, node_id: int) -> int | None:
        """Return the process id of a node, or None when the node is down."""

    async def still_clocks(self) -> None:
        """End the strobes and drifts of all nodes."""
        for clock in self._clocks.values():
            await clock.still()

    async def shift_clock(self, node_id: int, offset_ns: int) -> None:
        """Set the wall clock of a node that far from the true one; 0 heals."""
        if self._has_clock(node_id, Capability.CLOCK):
            await self._clocks[node_id].shift(offset_ns)
        elif offset_ns:
            raise ClusterError(f"the {self.backend} backend can't shift clocks")

    async def wall_clock_offset(self, node_id: int) -> int | None:
        """Return the reported wall clock minus the true one, in ns; None without a report."""
        can = self._has_clock(node_id, Capability.CLOCK)
        if not can or await self.process_id(node_id) is None:
            return None
        return await self._clocks[node_id].reported_offset()

    @override
    async def strobe_clock(self, node_id: int, offset_ns: int, period_ns: int) -> None:
        if self._has_clock(node_id, Capability.CLOCK_STROBE):
            await self._clocks[node_id].strobe(offset_ns, period_ns)
        elif offset_ns:
            raise ClusterError(f"the {self.backend} backend can't strobe clocks")

    @override
    async def drift_clock(self, node_id: int, rate_ppm: int) -> None:
        if self._has_clock(node_id, Capability.CLOCK_DRIFT):
            await self._clocks[node_id].drift(rate_ppm)
        elif rate_ppm:
            raise ClusterError(f"the {self.backend} backend can't let clocks drift")

    def _has_clock(self, node_id: int, capability: Capability) -> bool:
        return node_id in self._clocks and capability in self.capabilities
