"""The backends by name: how a cluster is made and how its coroutines are driven to the end.

Each is imported when it is asked for. Not: what a cluster can do (cluster/protocol.py).
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import Capability, Cluster, ClusterError, ClusterOptions
from kraftproof.errors import UsageError
from kraftproof.run.watchdog import LIMIT_S, watchdog

T = TypeVar("T")
Main = Callable[[Cluster], Coroutine[Any, Any, T]]
Tell = Callable[[str], None]
"""Takes a line of progress: what a backend does before its nodes run."""
BLOCKED_S = LIMIT_S
BEAT_S = 0.2
"""How often the event loop shows that it runs."""


class ViolationError(Exception):
    """A simulated run was stopped at the first invariant that did not hold."""


class Backend(Protocol):
    """One kind of cluster."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What its clusters can do to their nodes, known before one is made."""
        ...

    def preflight(self) -> None:
        """Look whether this machine has what the backend needs.

        Raises:
            ClusterError: it has not; one line.
        """
        ...

    def run(self, options: ClusterOptions, main: Main[T], tell: Tell) -> T:
        """Make a cluster, run `main` with it to its end, and return what it returned."""
        ...


class LocalBackend:
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

    def run(self, options: ClusterOptions, main: Main[T], tell: Tell) -> T:
        """Run on asyncio; there is nothing to prepare that takes long."""
        del tell
        from kraftproof.cluster.local.local_cluster import LocalCluster

        return run_live(lambda scope: LocalCluster(options, scope), main)


class DockerBackend:
    """Containers."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All that live clusters can do."""
        from kraftproof.cluster.docker.capabilities import CAPABILITIES

        return CAPABILITIES

    def preflight(self) -> None:
        """Check that the extra is installed and that an engine answers."""
        from kraftproof.cluster.docker.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.docker.engine import connect_engine

        connect_engine().close()

    def run(self, options: ClusterOptions, main: Main[T], tell: Tell) -> T:
        """Run on asyncio."""
        from kraftproof.cluster.docker.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.docker.docker_cluster import DockerCluster

        return run_live(lambda scope: DockerCluster(options, scope, tell), main)


def run_live(make: Callable[[LiveScope], Cluster], main: Main[T]) -> T:
    """Run `main` with a live cluster on an event loop of its own."""

    async def whole() -> T:
        scope = LiveScope()
        heart = _Heart(asyncio.get_running_loop())
        try:
            with watchdog(heart.beats, BLOCKED_S):
                result = await main(make(scope))
            scope.raise_lost_errors()
        finally:
            heart.stop()
            await scope.cancel_rest()
        return result

    return asyncio.run(whole())


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


class SimulatedBackend:
    """Virtual time in this process."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Everything."""
        return frozenset(Capability)

    def preflight(self) -> None:
        """It needs nothing."""

    def run(self, options: ClusterOptions, main: Main[T], tell: Tell) -> T:
        """Run on the simulator's heap."""
        del tell
        from kraftproof.cluster.simulated.kernel.scheduler import SimulationLimitError
        from kraftproof.cluster.simulated.simulated_cluster import (
            InvariantViolatedError,
            SimulatedCluster,
        )

        cluster = SimulatedCluster(options)
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


_BACKENDS: dict[str, Callable[[], Backend]] = {
    "local": LocalBackend,
    "docker": DockerBackend,
    "simulated": SimulatedBackend,
}


def make_backend(name: str) -> Backend:
    """Return a backend.

    Raises:
        UsageError: there is none of that name.
    """
    made = _BACKENDS.get(name)
    if made is None:
        raise UsageError(f"--backend {name}: one of {', '.join(_BACKENDS)} is expected")
    return made()


async def with_cluster(cluster: Cluster, main: Callable[[], Awaitable[T]]) -> T:
    """Start a cluster, run `main`, and take the cluster down whatever happened."""
    try:
        await cluster.start()
        return await main()
    finally:
        await cluster.stop()
