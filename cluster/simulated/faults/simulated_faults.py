"""What the simulator can do to its machines and links beyond what every backend can.

Not: what becomes of it (weather.py, disk_health.py, clock.py), nor the faults (nemesis/).
"""

from collections.abc import Callable

from typing_extensions import override

from kraftproof.cluster.abilities import BendsClocks, DegradesLinks, DiskTrouble, HarmsDisks, Toxic
from kraftproof.cluster.protocol import ClusterError, Link
from kraftproof.cluster.simulated.disk.faults import DiskHealth
from kraftproof.cluster.simulated.kernel.clock import PER_MILLION
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World


class Harm(DegradesLinks, HarmsDisks, BendsClocks):
    """The optional abilities of the simulated backend."""

    world: World

    @override
    async def degrade(self, links: frozenset[Link], toxic: Toxic) -> None:
        self.world.links.degrade(sorted(links), toxic)

    @override
    async def restore(self, links: frozenset[Link], toxic: Toxic) -> None:
        self.world.links.restore(sorted(links), toxic)

    @override
    async def degraded(self, links: frozenset[Link]) -> int:
        return sum(self.world.links.degraded(link) for link in sorted(links))

    @override
    async def harm_disk(self, node_id: int, trouble: DiskTrouble) -> None:
        self._machine(node_id).fall_ill(lambda health: health.troubles.append(trouble))

    @override
    async def mend_disk(self, node_id: int, trouble: DiskTrouble) -> None:
        self._machine(node_id).fall_ill(_without(trouble))

    @override
    async def disk_harms(self, node_id: int) -> int:
        return self._machine(node_id).health.hits

    @override
    async def wipe(self, node_id: int) -> None:
        self._machine(node_id).wipe()

    @override
    async def set_clock_rate(self, node_id: int, rate_ppm: int) -> None:
        jury = self.world.jury
        jury.rate_error = max(jury.rate_error, abs(rate_ppm) / PER_MILLION)
        self._machine(node_id).set_clock_rate(rate_ppm)

    @override
    async def clock_rate(self, node_id: int) -> int | None:
        machine = self._machine(node_id)
        return None if machine.process is None else machine.around.clock.rate_ppm

    @override
    async def strobe_clock(self, node_id: int, offset_ns: int, period_ns: int) -> None:
        self._machine(node_id).around.clock.strobe(offset_ns, period_ns)

    def _machine(self, node_id: int) -> Machine:
        machine = self.world.machines.get(node_id)
        if machine is None:
            raise ClusterError(f"node {node_id}: there is none, only {sorted(self.world.machines)}")
        return machine


def _without(trouble: DiskTrouble) -> Callable[[DiskHealth], None]:
    def mend(health: DiskHealth) -> None:
        if trouble in health.troubles:
            health.troubles.remove(trouble)

    return mend
