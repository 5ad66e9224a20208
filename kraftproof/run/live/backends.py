"""The backends whose nodes run in real time: local, docker and ssh.

The library of a backend is imported when a cluster is made.
"""

import asyncio
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from typing_extensions import override

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import (
    CLOCKS,
    PROXIED,
    Capability,
    Cluster,
    ClusterError,
    ClusterOptions,
)
from kraftproof.cluster.systems.system import System
from kraftproof.run.watchdog import LIMIT_S, watchdog

T = TypeVar("T")
Main = Callable[[Cluster], Coroutine[Any, Any, T]]
Tell = Callable[[str], None]
"""Takes a line of progress: what a backend does before its nodes run."""
BLOCKED_S = LIMIT_S
BEAT_S = 0.2
"""Interval of the heartbeat of the event loop, which the watchdog reads."""


class LiveBackend(ABC):
    """Nodes in real time, whose coroutines run on asyncio."""

    @abstractmethod
    def cluster(
        self, options: ClusterOptions, scope: LiveScope, system: System, tell: Tell
    ) -> Cluster:
        """Return a cluster that is not up yet."""

    def lacks(self, capability: Capability, options: ClusterOptions) -> str | None:
        """Mount a disk on trial for the faults of disks."""
        del options
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

    @override
    def lacks(self, capability: Capability, options: ClusterOptions) -> str | None:
        """Look also whether the clock of a process of this machine can be moved: our own."""
        if capability not in CLOCKS:
            return super().lacks(capability, options)
        from kraftproof.cluster.remote.clocks.vdso.process_clock import lack_of

        return lack_of(os.getpid())

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Kill, pause, restart."""
        from kraftproof.cluster.local.local_cluster import CAPABILITIES

        return CAPABILITIES

    def preflight(self, options: ClusterOptions) -> None:
        """It needs Linux."""
        del options
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

    def preflight(self, options: ClusterOptions) -> None:
        """Check that the extra is installed and that an engine answers."""
        del options
        from kraftproof.cluster.docker.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.docker.engine import connect_engine

        connect_engine().close()

    @override
    def lacks(self, capability: Capability, options: ClusterOptions) -> str | None:
        """Look also for what the proxies of links need."""
        if capability not in PROXIED:
            return super().lacks(capability, options)
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


class SshBackend(LiveBackend):
    """Machines with sshd, named by --hosts."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The faults that a host with all tools allows."""
        from kraftproof.cluster.ssh.capabilities import CAPABILITIES

        return CAPABILITIES

    @override
    def lacks(self, capability: Capability, options: ClusterOptions) -> str | None:
        """Ask the hosts."""
        from kraftproof.cluster.ssh.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.ssh.preflight import lacking
        from kraftproof.cluster.ssh.ssh_cluster import hosts_of

        return asyncio.run(lacking(hosts_of(options), capability))

    def preflight(self, options: ClusterOptions) -> None:
        """Check that the extra is installed, and that each host can be used and is free."""
        from kraftproof.cluster.ssh.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.ssh.preflight import check_hosts
        from kraftproof.cluster.ssh.ssh_cluster import hosts_of

        asyncio.run(check_hosts(hosts_of(options)))

    @override
    def cluster(
        self, options: ClusterOptions, scope: LiveScope, system: System, tell: Tell
    ) -> Cluster:
        from kraftproof.cluster.ssh.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.ssh.ssh_cluster import SshCluster

        return SshCluster(options, scope, system, tell)


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
