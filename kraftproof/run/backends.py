"""The backends by name: how a cluster is made and how its coroutines are driven to the end.

Each is imported when it is asked for. Not: what a cluster can do (cluster/protocol.py).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Protocol, TypeVar

from kraftproof.cluster.backends import BACKENDS
from kraftproof.cluster.protocol import LIVE_ONLY, Capability, Cluster, ClusterError, ClusterOptions
from kraftproof.cluster.systems.system import System
from kraftproof.errors import UsageError
from kraftproof.run.live.backends import BLOCKED_S, Main, Tell
from kraftproof.run.watchdog import watchdog
from kraftproof.spelling import nearest

if TYPE_CHECKING:
    from kraftproof.checkers.kraft.specification.specification import Specification
    from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
    from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
    from kraftproof.cluster.simulated.violation import Violation

T = TypeVar("T")


class ViolationError(Exception):
    """A simulated run was stopped at the first invariant that did not hold."""


class Backend(Protocol):
    """One kind of cluster."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return the faults that clusters of the backend can give, before a cluster is made."""
        ...

    def lacks(self, capability: Capability, options: ClusterOptions) -> str | None:
        """Return the reason why the machines can't have the faults of a capability, or None."""
        ...

    def preflight(self, options: ClusterOptions) -> None:
        """Look whether this machine, and the hosts of the run, have what the backend needs.

        Raises:
            ClusterError: it has not; one line.
        """
        ...

    def run(self, options: ClusterOptions, system: System, main: Main[T], tell: Tell) -> T:
        """Make a cluster, run `main` with it to its end, and return what it returned."""
        ...


def make_judged_cluster(options: ClusterOptions) -> "SimulatedCluster":
    """Return a simulated cluster whose controller is judged by the specification of checkers/kraft.

    The simulator imports no checker, so the specification is handed to it here.
    """
    from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

    return SimulatedCluster(options, specification_of)


def specification_of(config: "ClusterConfig") -> "Specification":
    """Return the specification of a cluster's controller."""
    from kraftproof.checkers.kraft.specification.facts import Facts
    from kraftproof.checkers.kraft.specification.specification import Specification

    return Specification(
        Facts(
            cluster_id=config.cluster_id,
            default_partitions=config.default_partitions,
            default_replication_factor=config.default_replication_factor,
            feature_levels={"metadata.version": (7, 30)},
            voters=frozenset(config.voters),
            has_authorizer=config.authorizer is not None,
        )
    )


class SimulatedBackend:
    """Virtual time in this process."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Everything but the faults of real machines."""
        return frozenset(Capability) - LIVE_ONLY

    def lacks(self, capability: Capability, options: ClusterOptions) -> str | None:
        """Return the reason of a fault that needs records under a workload without records."""
        if capability is Capability.FAILED_DIRECTORY and not options.has_data:
            return "the workload keeps no records in log directories; log and quotas do"
        return None

    def preflight(self, options: ClusterOptions) -> None:
        """It needs nothing."""

    def run(self, options: ClusterOptions, system: System, main: Main[T], tell: Tell) -> T:
        """Run on the simulator's heap, whose nodes are those of the reference system."""
        del tell, system
        from kraftproof.cluster.simulated.kernel.scheduler import SimulationLimitError
        from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError

        cluster = make_judged_cluster(options)
        whole = main(cluster)
        try:
            with watchdog(lambda: cluster.events, BLOCKED_S):
                return cluster.run(whole)
        except InvariantViolatedError as error:
            raise ViolationError(str(error)) from error
        except SimulationLimitError as error:
            raise ClusterError(str(error)) from error
        finally:
            whole.close()  # where it was stopped, or never begun
            cluster.abandon()


def make_backend(name: str) -> Backend:
    """Return a backend.

    Raises:
        UsageError: no backend has the name.
    """
    if name not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise UsageError(f"--backend {name}{nearest(name, BACKENDS)}: one of {known} is expected")
    point = EntryPoint(name=name, value=BACKENDS[name].runner, group="kraftproof.backends")
    made: Backend = point.load()()
    return made


async def with_cluster(cluster: Cluster, main: Callable[[], Awaitable[T]]) -> T:
    """Start a cluster, run `main`, and take the cluster down whatever happened."""
    try:
        await cluster.start()
        return await main()
    finally:
        await cluster.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Counts of a simulated run."""

    events: int
    simulated_ns: int
    violations: "tuple[Violation, ...]"
    conditions: str = ""
    """Description of the simulated cluster, for readers."""
    crashes: "tuple[Violation, ...]" = ()
    """The crashes of nodes that the run has outlived."""


def supervise(cluster: Cluster) -> None:
    """Let a simulated world start brokers that gave up, as the supervisor of a live node does."""
    if BACKENDS[cluster.backend].is_virtual:
        from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

        assert isinstance(cluster, SimulatedCluster), "only the simulator is called simulated"
        cluster.world.supervisor.begin()


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
    if cluster.options.is_collected and (cluster.violations or not cluster.is_stopped):
        cluster.write_files()  # the run was ended where it stood
    return Simulation(
        events=cluster.events,
        simulated_ns=cluster.simulated_ns,
        violations=tuple(cluster.violations),
        conditions=cluster.world.conditions.describe(),
        crashes=tuple(cluster.world.crashes),
    )
