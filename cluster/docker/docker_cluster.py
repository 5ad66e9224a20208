"""A cluster of containers: kill, pause, restart, partitions and clocks, all of real processes.

Each node has a directory nodes/<id>/ in the run's directory and two containers (pods.py). What a
run holds at the engine names its owner; whoever begins next removes what dead owners left
(sweep.py). Not: degraded links and damaged disks.
"""

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from typing_extensions import override

from kraftproof.cluster.connection import Connection
from kraftproof.cluster.docker.capabilities import CAPABILITIES
from kraftproof.cluster.docker.clock import NodeClock
from kraftproof.cluster.docker.engine import Threads
from kraftproof.cluster.docker.firewall import Firewall
from kraftproof.cluster.docker.machines import Machines
from kraftproof.cluster.docker.namespace import PodNetwork
from kraftproof.cluster.docker.pods import host_name
from kraftproof.cluster.docker.probe import answers
from kraftproof.cluster.live.connection import connect
from kraftproof.cluster.live.readiness import wait_until_ready
from kraftproof.cluster.live.server_properties import Address, server_properties
from kraftproof.cluster.local.node_directory import NodeDirectory
from kraftproof.cluster.local.process import format_storage
from kraftproof.cluster.node_config import live_properties
from kraftproof.cluster.protocol import (
    Capability,
    Cluster,
    ClusterError,
    ClusterOptions,
    Link,
    NodeInfo,
)
from kraftproof.cluster.scope import Scope
from kraftproof.node.wire.types import UUID_BYTES, Uuid, format_uuid

READY_TIMEOUT_NS = 60_000_000_000
CONTROLLER_PORT = 9093
CLIENT_PORT = 9092


def silent(line: str) -> None:
    """Take a line of progress that nobody reads."""
    del line


class DockerCluster(Cluster):
    """The containers of one run."""

    def __init__(
        self,
        options: ClusterOptions,
        scope: Scope,
        progress: Callable[[str], None] = silent,
        *,
        ready_timeout_ns: int = READY_TIMEOUT_NS,
    ) -> None:
        self._options = options
        self._scope = scope
        self._progress = progress
        self._ready_timeout_ns = ready_timeout_ns
        self._threads = Threads()
        root = options.directory.absolute() / "nodes"
        self._nodes = {node.node_id: node for node in options.nodes}
        self._directories = {n: NodeDirectory(path=root / str(n)) for n in self._nodes}
        self._clocks = {n: NodeClock(one.path) for n, one in self._directories.items()}
        self._machines = Machines(run_name(options.directory), tuple(self._nodes))
        self._networks: dict[int, PodNetwork] = {}
        self._addresses: dict[int, Address] = {}
        self._firewall = Firewall(self._threads, {}, {})

    @property
    @override
    def backend(self) -> str:
        return "docker"

    @property
    @override
    def nodes(self) -> tuple[NodeInfo, ...]:
        return self._options.nodes

    @property
    @override
    def capabilities(self) -> frozenset[Capability]:
        return CAPABILITIES

    @property
    @override
    def scope(self) -> Scope:
        return self._scope

    @property
    def addresses(self) -> Mapping[int, Address]:
        """Where each node listens, once the cluster has begun."""
        return self._addresses

    @property
    def pods(self) -> Mapping[int, str]:
        """The container id of each node's pod."""
        return self._machines.pods

    @override
    async def start(self) -> None:
        await self._threads.run(self._machines.provision, self._progress)
        hosts = self._machines.addresses
        self._addresses = {
            n: Address(host=hosts[n], port=port_of(node), peer_host=host_name(n))
            for n, node in self._nodes.items()
        }
        self._networks = await self._threads.run(self._machines.networks)
        self._firewall = Firewall(self._threads, self._networks, hosts)
        await self._format()
        await self._start_all()
        try:
            await wait_until_ready(self, self._ready_timeout_ns)
        except ClusterError as error:
            raise ClusterError(f"{error}{await self._complaint()}") from error

    async def _format(self) -> None:
        voters = [node.node_id for node in self.nodes if node.is_controller]
        cluster_id = format_uuid(Uuid(Random(self._options.seed).randbytes(UUID_BYTES)))
        tasks = []
        for n, node in self._nodes.items():
            directory = self._directories[n]
            text = server_properties(
                node, self._addresses, voters, directory.path, live_properties(self._options)
            )
            directory.path.mkdir(parents=True, exist_ok=True)
            directory.properties.write_text(text, encoding="utf-8")
            self._clocks[n].shift(0)
            tasks.append(self._scope.spawn(format_storage(directory, cluster_id)))
        for task in tasks:
            await task

    async def _start_all(self) -> None:
        tasks = [self._scope.spawn(self.start_node(n)) for n in self._nodes]
        for task in tasks:
            await task

    async def _complaint(self) -> str:
        """What the first node that is down said last."""
        for n, directory in self._directories.items():
            if await self.process_id(n) is None:
                return f"; node {n} ended: {directory.last_output()}"
        return ""

    @override
    async def stop(self) -> None:
        await self._threads.finish()
        await asyncio.to_thread(self._machines.remove)

    @override
    async def kill(self, node_id: int) -> None:
        await self._threads.run(self._machines.kill, node_id)

    @override
    async def start_node(self, node_id: int) -> None:
        directory = self._directories[node_id]
        mutant = self._options.mutant
        module = ("kraftproof.node.server.main",) if mutant is None else ("mutants", mutant, "--")
        await self._threads.run(
            self._machines.start,
            node_id,
            directory.path,
            ("python3", "-m", *module, str(directory.properties)),
            self._clocks[node_id].path,
        )

    @override
    async def stop_node(self, node_id: int) -> None:
        await self._threads.run(self._machines.stop, node_id)

    @override
    async def pause(self, node_id: int) -> None:
        await self._threads.run(self._machines.pause, node_id)

    @override
    async def resume(self, node_id: int) -> None:
        await self._threads.run(self._machines.resume, node_id)

    @override
    async def process_id(self, node_id: int) -> int | None:
        state = await self._threads.run(self._machines.state, node_id)
        return state.pid or None

    @override
    async def is_paused(self, node_id: int) -> bool:
        state = await self._threads.run(self._machines.state, node_id)
        return state.is_paused

    @override
    async def cut(self, links: frozenset[Link]) -> None:
        await self._firewall.cut(links)

    @override
    async def heal(self, links: frozenset[Link]) -> None:
        await self._firewall.heal(links)

    @override
    async def withheld(self, links: frozenset[Link]) -> int:
        return await self._firewall.withheld(links)

    @override
    async def round_trip(self, link: Link) -> bool:
        target = self._addresses[link.target]
        return await self._threads.run(
            answers, self._networks[link.source], target.host, target.port
        )

    @override
    async def shift_clock(self, node_id: int, offset_ns: int) -> None:
        await self._threads.run(self._clocks[node_id].shift, offset_ns)

    @override
    async def wall_clock_offset(self, node_id: int) -> int | None:
        if await self.process_id(node_id) is None:
            return None
        return await self._threads.run(self._clocks[node_id].reported_offset)

    @override
    async def lose_unsynced(self, node_id: int) -> int:
        raise ClusterError("the docker backend can't drop unsynced writes")

    @override
    async def connect(self, node_id: int, timeout_ns: int) -> Connection:
        address = self._addresses[node_id]
        return await connect(address.host, address.port, timeout_ns)

    @override
    def bootstrap(self) -> str:
        brokers = [self._addresses[node.node_id] for node in self.nodes if node.is_broker]
        return ",".join(f"{broker.host}:{broker.port}" for broker in brokers)

    @override
    def node_files(self, node_id: int) -> Path:
        return self._directories[node_id].path


def port_of(node: NodeInfo) -> int:
    """Return the port of a node's one listener."""
    return CONTROLLER_PORT if node.is_controller else CLIENT_PORT


def run_name(directory: Path) -> str:
    """Return a name for a run at the engine that no other run has."""
    readable = re.sub(r"[^a-zA-Z0-9_.-]+", "-", directory.absolute().name)[:40]
    return f"{readable}-{secrets.token_hex(4)}"
