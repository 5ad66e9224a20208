"""The faults that the simulator supports beyond the faults of every backend.

See network/link_faults.py, disk/faults.py and kernel/clock.py for the effects of the faults.
"""

from collections.abc import Callable

from typing_extensions import override

from kraftproof.cluster.capabilities import (
    AimedCrashCapable,
    BitRotCapable,
    ClockFaultCapable,
    CrashAim,
    DirectoryFaultCapable,
    DiskFault,
    DiskFaultCapable,
    LinkFault,
    LinkFaultCapable,
    WallClockFaultCapable,
)
from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.protocol import ClusterError, Link
from kraftproof.cluster.simulated.faults import failed_directory
from kraftproof.cluster.simulated.faults.aimed_crash import AimedCrash
from kraftproof.cluster.simulated.kernel.clock import PER_MILLION
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World


class SimulatedFaults(
    LinkFaultCapable,
    DiskFaultCapable,
    DirectoryFaultCapable,
    BitRotCapable,
    AimedCrashCapable,
    ClockFaultCapable,
    WallClockFaultCapable,
):
    """The optional fault capabilities of the simulated backend."""

    world: World
    aimed_crashes: dict[int, AimedCrash]
    """The aims by node."""

    @override
    async def add_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        self.world.links.add_fault(sorted(links), link_fault)

    @override
    async def remove_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        self.world.links.remove_fault(sorted(links), link_fault)

    @override
    async def link_fault_count(self, links: frozenset[Link]) -> int:
        return sum(self.world.links.fault_count(link) for link in sorted(links))

    @override
    async def add_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        self._machine(node_id).set_disk_fault(lambda faults: faults.faults.append(fault))

    @override
    async def remove_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        machine = self._machine(node_id)
        machine.set_disk_fault(_without(fault))
        if machine.env.partitions.failed and not machine.disk.failed_directories:
            machine.kill()  # the broker let go of a directory of the bad disk, until its next start

    @override
    async def disk_fault_count(self, node_id: int) -> int:
        return self._machine(node_id).disk_faults.hits

    @override
    async def wipe(self, node_id: int) -> None:
        self._machine(node_id).wipe()

    @override
    async def fail_directory(self, node_id: int) -> str | None:
        return failed_directory.fail_directory(self._machine(node_id))

    @override
    async def directory_failure_observed(self, node_id: int) -> str | None:
        return failed_directory.failure_observed(self._machine(node_id))

    @override
    async def end_directory_failure(self, node_id: int) -> None:
        failed_directory.end_failure(self.world, self._machine(node_id))

    @override
    async def damage_file(self, node_id: int) -> str | None:
        return self._machine(node_id).damage_file()

    @override
    async def damage_observed(self, node_id: int) -> str | None:
        damaged = self._machine(node_id).damaged_file
        return None if damaged is None else damaged.observed

    @override
    async def restore_file(self, node_id: int) -> None:
        self._machine(node_id).restore_file()

    @override
    async def arm_crash(self, node_id: int, aim: CrashAim) -> None:
        await self.disarm_crash(node_id)
        self.aimed_crashes[node_id] = AimedCrash(self._machine(node_id), aim)

    @override
    async def disarm_crash(self, node_id: int) -> None:
        aimed = self.aimed_crashes.pop(node_id, None)
        if aimed is not None:
            aimed.disarm()

    @override
    async def set_clock_rate(self, node_id: int, rate_ppm: int) -> None:
        monitor = self.world.monitor
        monitor.rate_error = max(monitor.rate_error, abs(rate_ppm) / PER_MILLION)
        self._machine(node_id).set_clock_rate(rate_ppm)

    @override
    async def clock_rate(self, node_id: int) -> int | None:
        machine = self._machine(node_id)
        return None if machine.process is None else machine.env.clock.rate_ppm

    @override
    async def strobe_clock(self, node_id: int, offset_ns: int, period_ns: int) -> None:
        self._machine(node_id).env.clock.strobe(offset_ns, period_ns)

    @override
    async def drift_clock(self, node_id: int, rate_ppm: int) -> None:
        self._machine(node_id).env.clock.drift_wall(rate_ppm)

    def _machine(self, node_id: int) -> Machine:
        machine = self.world.machines.get(node_id)
        if machine is None:
            raise ClusterError(f"node {node_id} does not exist, only {sorted(self.world.machines)}")
        return machine


def _without(fault: DiskFault) -> Callable[[DiskFaults], None]:
    def mend(faults: DiskFaults) -> None:
        if fault in faults.faults:
            faults.faults.remove(fault)

    return mend
