"""The backends by name: how a cluster is made and how its coroutines are driven to the end.

Each is imported when it is asked for. Not: what a cluster can do (cluster/protocol.py).
"""

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from typing_extensions import override

from kraftproof.cluster.backends import BACKENDS
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import (
    LIVE_ONLY,
    PROXIED,
    Capability,
    Cluster,
    ClusterError,
    ClusterOptions,
)
from kraftproof.cluster.systems.system import System
from kraftproof.errors import UsageError
from kraftproof.run.watchdog import LIMIT_S, watchdog

if TYPE_CHECKING:
    from kraftproof.checkers.kraft.specification.specification import Specification
    from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
    from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
    from kraftproof.cluster.simulated.violation import Violation

T = TypeVar("T")
Main = Callable[[Cluster], Coroutine[Any, Any, T]]
Tell = Callable[[str], None]
"""Takes a line of progress: what a backend does before its nodes run."""
BLOCKED_S = LIMIT_S
BEAT_S = 0.2
"""Interval of the heartbeat of the event loop, which the watchdog reads."""


class ViolationError(Exception):
    """A simulated run was stopped at the first invariant that did not hold."""


class Backend(Protocol):
    """One kind of cluster."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return the faults that clusters of the backend can give, before a cluster is made."""
        ...

    def lacks(self, capability: Capability) -> str | None:
        """Return the reason why the machine can't inject the faults of a capability, or None."""
        ...

    def preflight(self) -> None:
        """Look whether this machine has what the backend needs.

        Raises:
            ClusterError: it has not; one line.
        """
        ...

    def run(self, options: ClusterOptions, system: System, main: Main[T], tell: Tell) -> T:
        """Make a cluster, run `main` with it to its end, and return what it returned."""
        ...


class LiveBackend(ABC):
    """Nodes in real time, whose coroutines run on asyncio."""

    @abstractmethod
    def cluster(
        self, options: ClusterOptions, scope: LiveScope, system: System, tell: Tell
    ) -> Cluster:
        """Return a cluster that is not up yet."""

    def lacks(self, capability: Capability) -> str | None:
        """Mount a disk on trial for the faults of disks."""
        from kraftproof.cluster.remote.disk.capabilities import DISK_CAPABILITIES
        from kraftproof.cluster.remote.disk.node_disk import unusable

        return unusable() if capability in DISK_CAPABILITIES else None

    def run(self, options: ClusterOptions, system: System, main: Main[T], tell: Tell) -> T:
        """Run on an event loop of its own."""

        async def whole() -> T:
            scope = LiveScope()
            heart = _Heart(asyncio.get_running_loop())
            try:
                with watchdog(heart.beats, BLOCKED_S):
                    result = await main(self.cluster(options, scope, system, tell))
                scope.raise_lost_errors()
            finally:
                heart.stop()
                await scope.cancel_rest()
            return result

        return asyncio.run(whole())


class LocalBackend(LiveBackend):
    """Processes on loopback."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Kill, pause, restart."""
        from kraftproof.cluster.local.local_cluster import CAPABILITIES

        return CAPABILITIES

    def preflight(self) -> None:
        """It needs Linux."""
        if not sys.platform.startswith("linux"):
            raise ClusterError(f"--backend local: needs Linux, this is {sys.platform}")

    @override
    def cluster(
        self, options: ClusterOptions, scope: LiveScope, system: System, tell: Tell
    ) -> Cluster:
        from kraftproof.cluster.local.local_cluster import LocalCluster

        return LocalCluster(options, scope, system, tell)


class DockerBackend(LiveBackend):
    """Containers."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Capabilities of live clusters."""
        from kraftproof.cluster.docker.capabilities import CAPABILITIES

        return CAPABILITIES

    def preflight(self) -> None:
        """Check that the extra is installed and that an engine answers."""
        from kraftproof.cluster.docker.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.docker.engine import connect_engine

        connect_engine().close()

    @override
    def lacks(self, capability: Capability) -> str | None:
        """Look also for what the proxies of links need."""
        if capability not in PROXIED:
            return super().lacks(capability)
        from kraftproof.cluster.docker.namespace import NO_ENTRY, may_enter
        from kraftproof.cluster.remote.toxiproxy.program import missing

        return missing() if may_enter() else NO_ENTRY

    @override
    def cluster(
        self, options: ClusterOptions, scope: LiveScope, system: System, tell: Tell
    ) -> Cluster:
        from kraftproof.cluster.docker.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.docker.docker_cluster import DockerCluster

        return DockerCluster(options, scope, system, tell)


class _Heart:
    """Counts while the event loop runs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._count = 0
        self._next = loop.call_soon(self._beat)

    def _beat(self) -> None:
        self._count += 1
        self._next = self._loop.call_later(BEAT_S, self._beat)

    def beats(self) -> int:
        """Return the count, which changes as long as nothing blocks the loop."""
        return self._count

    def stop(self) -> None:
        """Count no more."""
        self._next.cancel()


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
        )
    )


class SimulatedBackend:
    """Virtual time in this process."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Everything but the faults of real machines."""
        return frozenset(Capability) - LIVE_ONLY

    def lacks(self, capability: Capability) -> None:
        """Return None: every fault is simulated."""

    def preflight(self) -> None:
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
        raise UsageError(f"--backend {name}: one of {', '.join(BACKENDS)} is expected")
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
