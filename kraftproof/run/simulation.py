"""Steps and counts of a simulated run that a live run does not have."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftproof.cluster.backends import BACKENDS
from kraftproof.cluster.protocol import Cluster

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.violation import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Counts of a simulated run."""

    events: int
    simulated_ns: int
    violations: "tuple[Violation, ...]"
    conditions: str = ""
    """Description of the simulated cluster, for readers."""


async def quiesce(cluster: Cluster) -> None:
    """Let a simulated world settle, and be judged, once all is healed."""
    if BACKENDS[cluster.backend].is_virtual:
        from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

        assert isinstance(cluster, SimulatedCluster), "only the simulator is called simulated"
        await cluster.quiesce()


def simulation_of(cluster: Cluster | None) -> Simulation | None:
    """Return what a simulated cluster has counted; None for a live one."""
    if cluster is None or not BACKENDS[cluster.backend].is_virtual:
        return None
    from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

    assert isinstance(cluster, SimulatedCluster), "only the simulator is called simulated"
    if cluster.violations and cluster.options.is_collected:
        cluster.write_files()  # the run was stopped where it stood
    return Simulation(
        events=cluster.events,
        simulated_ns=cluster.simulated_ns,
        violations=tuple(cluster.violations),
        conditions=cluster.world.conditions.describe(),
    )
