"""Faults of the wall clocks of live nodes; see clocks/ for the clock of one node."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import override

from kraftproof.cluster.capabilities import WallClockFaultCapable
from kraftproof.cluster.protocol import CLOCKS, Capability, Cluster, ClusterError, ClusterOptions
from kraftproof.cluster.remote.clocks.node_clock import NodeClock
from kraftproof.cluster.remote.clocks.reports import AskedReport, ClockReport, FileReport
from kraftproof.cluster.remote.host import Host, Hosts
from kraftproof.cluster.systems.calls import wall_clock_of
from kraftproof.cluster.systems.deployment import Deployment
from kraftproof.cluster.systems.system import System, SystemUnavailableError

NO_REPORT: Final = "the node does not report its wall clock; see the faults of clocks in systems.md"


class LiveClocks(WallClockFaultCapable, Cluster, ABC):
    """The wall clocks of a live cluster, of the nodes that report their clock."""

    _clocks: dict[int, NodeClock]
    _reports: dict[int, ClockReport]
    _options: ClusterOptions
    _system: System
    _provider: Hosts
    _hosts: Mapping[int, Host]
    _deployments: Mapping[int, Deployment]
    _directories: Mapping[int, Path]

    @property
    @abstractmethod
    @override
    def backend(self) -> str:
        """The name of the backend, for errors."""

    @property
    @abstractmethod
    @override
    def capabilities(self) -> frozenset[Capability]:
        """Return the faults that the cluster can have."""

    def make_clocks(self) -> None:
        """Make the clock and the report of each node that has a report."""
        for n, deployment in self._deployments.items():
            host = self._hosts[n]
            if deployment.wall_clock is not None:
                self._reports[n] = FileReport(host, deployment.wall_clock, self._directories[n])
            elif self._system.reports_clock:
                ask = partial(wall_clock_of, self._system, self, n)
                self._reports[n] = AskedReport(ask, self._system.clock_step_s)
            else:
                continue
            preloads = self._provider.preloads and deployment.wall_clock is not None
            self._clocks[n] = NodeClock(host, writes_file=preloads)

    async def check_clocks(self) -> None:
        """Refuse faults of clocks that a node of the running cluster can't have.

        Raises:
            SystemUnavailableError: the clock of a node can't be moved; one line says why.
        """
        needed = self._options.needs & CLOCKS
        for n in self._deployments if needed else ():
            lack = await self._clocks[n].lack() if n in self._clocks else NO_REPORT
            if lack is not None:
                raise SystemUnavailableError(f"--nemesis {min(needed)}: node {n}: {lack}")

    async def still_clocks(self) -> None:
        """End the strobes and drifts of all nodes."""
        for clock in self._clocks.values():
            await clock.still()

    def clock_lock(self, node_id: int) -> AbstractAsyncContextManager[object]:
        """Return the lock under which a node may be paused or resumed."""
        clock = self._clocks.get(node_id)
        return nullcontext() if clock is None else clock.lock

    async def follow_start(self, node_id: int) -> None:
        """Move the clock of a node that has just started."""
        if node_id in self._clocks:
            await self._clocks[node_id].follow_start()

    @override
    async def shift_clock(self, node_id: int, offset_ns: int) -> None:
        """Set the wall clock of a node that far from the true one; 0 heals."""
        if self._has_clock(node_id, Capability.CLOCK):
            await self._clocks[node_id].shift(offset_ns)
        elif offset_ns:
            raise ClusterError(f"the {self.backend} backend can't shift clocks")

    @override
    async def wall_clock_offset(self, node_id: int) -> int | None:
        """Return the reported wall clock minus the true one, in ns; None without a report."""
        can = self._has_clock(node_id, Capability.CLOCK)
        if not can or await self.process_id(node_id) is None:
            return None
        return await self._reports[node_id].offset()

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
