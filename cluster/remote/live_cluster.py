"""A cluster in real time: the nodes of a system on hosts of one kind.

The hosts say what can be done to nodes there, and the system what its nodes are made of. Each node
has a directory nodes/<id>/ in the run's directory, with all that it printed in output.log. See
live_links.py for the faults of links; nobody wipes a live disk.
"""

import asyncio
import ssl
from pathlib import Path

from typing_extensions import override

from kraftproof.cluster.answer_watch import AnswerWatch
from kraftproof.cluster.protocol import (
    Address,
    Capability,
    Cluster,
    ClusterError,
    ClusterOptions,
    Link,
    NodeInfo,
)
from kraftproof.cluster.remote.bring_up import BringUp
from kraftproof.cluster.remote.disk.capabilities import DISK_CAPABILITIES
from kraftproof.cluster.remote.disk.live_disks import LiveDisks
from kraftproof.cluster.remote.disk.node_disks import NodeDisks
from kraftproof.cluster.remote.firewall import Firewall
from kraftproof.cluster.remote.host import Hosts
from kraftproof.cluster.remote.live_clocks import LiveClocks
from kraftproof.cluster.remote.live_limits import LiveLimits
from kraftproof.cluster.remote.live_links import LiveLinks
from kraftproof.cluster.remote.live_starts import LiveStarts
from kraftproof.cluster.remote.output import OUTPUT_NAME
from kraftproof.cluster.remote.output_limit import LOOK_S, limit_output
from kraftproof.cluster.remote.plan import deployments_of, ports_of, provide
from kraftproof.cluster.remote.probe import answers
from kraftproof.cluster.remote.readiness import lacks_of
from kraftproof.cluster.scope import Scope, Task
from kraftproof.cluster.systems.calls import bootstrap_of, capabilities_of, login_of, tls_of
from kraftproof.cluster.systems.system import System, SystemUnavailableError

NO_NAMES = "the nodes of the system {} know each other by address"
NO_DISK = (
    "the deployment of node {} names no data directory, so the node has no disk that can have the "
    "fault; see `data` in docs/systems.md"
)
READY_TIMEOUT_NS = 60_000_000_000


class LiveCluster(LiveLinks, LiveClocks, LiveLimits, LiveStarts, LiveDisks, Cluster):
    """The nodes of one run."""

    def __init__(
        self,
        options: ClusterOptions,
        scope: Scope,
        system: System,
        hosts: Hosts,
        *,
        ready_timeout_ns: int | None = None,
    ) -> None:
        self._options = options
        self._scope = scope
        self.answers = AnswerWatch(scope, int(system.answers_s * 1e9))
        self._system = system
        self._provider = hosts
        self._ready_timeout_ns = ready_timeout_ns or int(system.ready_s * 1e9)
        self._directories = {node.node_id: hosts.directory(node) for node in options.nodes}
        self._hosts = {}
        self._deployments = {}
        self._held = {}
        self._proxies = None
        self._baseline = {}
        self._clocks = {}
        self._reports = {}
        self._firewall = Firewall({}, {})
        self._disks = NodeDisks(options.needs, options.seed, self._directories, scope)
        self._failing = {}
        self._limiting: Task[None] | None = None

    @property
    @override
    def backend(self) -> str:
        return self._provider.backend

    @property
    @override
    def nodes(self) -> tuple[NodeInfo, ...]:
        return self._options.nodes

    @property
    def login(self) -> object | None:
        """Return the credentials of the system's clients; None without a login."""
        return login_of(self._system, self._options)

    @property
    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context of the system's clients; None for plain connections."""
        return tls_of(self._system, self._options)

    @property
    @override
    def capabilities(self) -> frozenset[Capability]:
        return capabilities_of(self._system, self._provider.capabilities)

    @property
    @override
    def scope(self) -> Scope:
        return self._scope

    # Life

    @override
    async def start(self) -> None:
        await asyncio.to_thread(provide, self._system, self._options)
        self._hosts = await self._provider.provision(ports_of(self._system, self.nodes))
        hosts = self._hosts
        self._deployments = deployments_of(self._system, self._options, hosts)
        self._refuse_faults()
        if self._provider.has_firewall:
            own = {n: next(iter(host.addresses.values())).host for n, host in hosts.items()}
            trusted = {n: host.trusted for n, host in hosts.items()}
            self._firewall = Firewall(hosts, own, trusted)
        self.make_clocks()
        if self._provider.proxied & self._options.needs:
            self._proxies = await self._provider.proxies(self._options.seed)
        self._limiting = self._scope.spawn(self._limit_outputs_always())
        bring_up = BringUp(self, self._system, hosts, self._deployments, self._ready_timeout_ns)
        await bring_up.start(self._set_up, self._provider.started, self._check)

    async def _check(self) -> None:
        """Check what the faults of the run need of the ready cluster."""
        await self._disks.ready()
        await self.check_clocks()

    def _refuse_faults(self) -> None:
        """Refuse the faults of the run for which the deployments lack a name or a directory."""
        needs = self._options.needs
        if Capability.LOST_NAME in needs and not any(map(self.names_in_use, self._hosts)):
            reason = NO_NAMES.format(self._system.name)
            raise SystemUnavailableError(f"--nemesis lost-name: {reason}")
        bare = [n for n, deployment in self._deployments.items() if not deployment.data]
        if bare and needs & DISK_CAPABILITIES:
            fault = min(needs & DISK_CAPABILITIES)
            raise SystemUnavailableError(f"--nemesis {fault}: {NO_DISK.format(bare[0])}")

    async def _set_up(self, node_id: int) -> None:
        host, deployment = self._hosts[node_id], self._deployments[node_id]
        for path, text in deployment.files.items():
            await host.put(host.directory / path, text.encode())
        for path in deployment.data:
            await host.make_directory(host.directory / path)
        await self._disks.mount(node_id, deployment.data)
        if node_id in self._clocks:
            await self._clocks[node_id].shift(0)
        await host.deploy(deployment)

    async def _limit_outputs_always(self) -> None:
        while True:
            await self._scope.sleep(int(LOOK_S * 1e9))
            await asyncio.to_thread(self._limit_outputs)

    def _limit_outputs(self) -> None:
        """Limit the outputs in the run's directory; a host behind ssh limits its own."""
        for directory in self._directories.values():
            limit_output(directory / OUTPUT_NAME)

    @override
    async def lacks(self) -> str | None:
        return await lacks_of(self, self._system)

    @override
    async def stop(self) -> None:
        if self._limiting is not None:
            self._limiting.cancel()
        try:
            await self.still_clocks()
            await self.free_ports()
            await self.end_proxies()
            await self._provider.remove()
        finally:
            await asyncio.to_thread(self._limit_outputs)
            await self._disks.unmount()

    @override
    async def kill(self, node_id: int) -> None:
        await self._hosts[node_id].kill()

    @override
    async def start_node(self, node_id: int) -> None:
        self._note_start(node_id)
        await self._hosts[node_id].start()
        await self.follow_start(node_id)
        await self._provider.started()

    @override
    async def stop_node(self, node_id: int) -> None:
        await self._hosts[node_id].stop()

    @override
    async def pause(self, node_id: int) -> None:
        async with self.clock_lock(node_id):
            await self._hosts[node_id].pause()

    @override
    async def resume(self, node_id: int) -> None:
        async with self.clock_lock(node_id):
            await self._hosts[node_id].resume()

    @override
    async def process_id(self, node_id: int) -> int | None:
        host = self._hosts.get(node_id)
        return None if host is None else await host.process_id()

    async def exit_status(self, node_id: int) -> int | None:
        """Return the status with which the node's last process ended; None if unknown."""
        return await self._hosts[node_id].exit_status()

    @override
    async def is_paused(self, node_id: int) -> bool:
        return await self._hosts[node_id].is_paused()

    # Links

    @override
    async def cut(self, links: frozenset[Link]) -> None:
        if Capability.PARTITION not in self._provider.capabilities:
            raise ClusterError(f"the {self.backend} backend can't cut links")
        await self._cutter.cut(links)

    @override
    async def heal(self, links: frozenset[Link]) -> None:
        await self._cutter.heal(links)

    @override
    async def withheld(self, links: frozenset[Link]) -> int:
        return await self._cutter.withheld(links)

    @override
    async def round_trip(self, link: Link) -> bool:
        target = next(iter(self._hosts[link.target].addresses.values())).as_peer
        return await answers(self._hosts[link.source], target, self.probe_of(link.target))

    # Disks

    @override
    async def lose_unsynced(self, node_id: int) -> int:
        await self.kill(node_id)
        return await self._disks.lose(node_id)

    @override
    async def wipe(self, node_id: int) -> None:
        raise ClusterError(f"the {self.backend} backend can't wipe node {node_id}")

    @override
    def monotonic_offset_ns(self, node_id: int) -> int:
        return self._hosts[node_id].monotonic_offset_ns if node_id in self._hosts else 0

    # Addresses and files

    @override
    def address(self, node_id: int, port: str) -> Address:
        if node_id not in self._directories:
            raise ClusterError(f"node {node_id}: the nodes are 1 to {len(self._directories)}")
        if node_id not in self._hosts:
            raise ClusterError(f"node {node_id}: the cluster is not up")
        addresses = self._hosts[node_id].addresses
        if port not in addresses:
            known = ", ".join(addresses)
            raise ClusterError(f"node {node_id} has no port {port!r}, only {known}")
        return addresses[port]

    @override
    def bootstrap(self) -> str:
        return bootstrap_of(self._system, self)

    @override
    def node_files(self, node_id: int) -> Path:
        return self._directories[node_id]
