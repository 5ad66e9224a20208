"""A cluster of processes on loopback. It can kill, pause and restart; it can't cut links.

Each node has a directory nodes/<id>/ in the run's directory. Everything that the run holds on the
machine is in its run file (cluster/local/ownership.py), and its processes die with the harness.
"""

import os
from pathlib import Path
from random import Random

import msgspec
from typing_extensions import override

from kraftproof.cluster.connection import Connection
from kraftproof.cluster.live.connection import connect
from kraftproof.cluster.live.readiness import wait_until_ready
from kraftproof.cluster.local import ports
from kraftproof.cluster.local.node_directory import NodeDirectory
from kraftproof.cluster.local.ownership import RunFile, sweep
from kraftproof.cluster.local.ports import LOOPBACK
from kraftproof.cluster.local.process import LocalProcess, format_storage
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


class LocalCluster(Cluster):
    """The processes of one run."""

    def __init__(self, options: ClusterOptions, scope: Scope) -> None:
        self._options = options
        self._scope = scope
        self._nodes = {node.node_id: node for node in options.nodes}
        root = options.directory.absolute() / "nodes"
        self._directories = {
            node_id: NodeDirectory(path=root / str(node_id)) for node_id in self._nodes
        }
        self._processes = {
            node_id: LocalProcess(directory, options.mutant)
            for node_id, directory in self._directories.items()
        }
        self._run: RunFile | None = None
        self._ports: dict[int, int] = {}

    @property
    @override
    def backend(self) -> str:
        return "local"

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

    @override
    async def start(self) -> None:
        sweep()
        directory = self._options.directory.absolute()
        self._run = ports.lease(f"{directory.name}-{os.getpid()}", directory, len(self._nodes))
        self._ports = dict(zip(self._nodes, self._run.ports, strict=True))
        await self._format()
        for node_id in self._nodes:
            await self._processes[node_id].start()
        self._write_run()
        try:
            await wait_until_ready(self, READY_TIMEOUT_NS)
        except ClusterError as error:
            raise ClusterError(f"{error}{self._complaint()}") from error

    async def _format(self) -> None:
        voters = tuple(node.node_id for node in self.nodes if node.is_controller)
        cluster_id = format_uuid(Uuid(Random(self._options.seed).randbytes(UUID_BYTES)))
        tasks = []
        for node_id, node in self._nodes.items():
            directory = self._directories[node_id]
            directory.write_properties(node, self._ports, voters, live_properties(self._options))
            tasks.append(self._scope.spawn(format_storage(directory, cluster_id)))
        for task in tasks:
            await task

    def _complaint(self) -> str:
        """What the first node that is down said last."""
        for node_id, process in self._processes.items():
            if process.pid is None:
                return f"; node {node_id} ended: {self._directories[node_id].last_output()}"
        return ""

    @override
    async def stop(self) -> None:
        for process in self._processes.values():
            await process.kill()
        if self._run is not None:
            ports.release(self._run)
            self._run = None

    @override
    async def kill(self, node_id: int) -> None:
        await self._processes[node_id].kill()

    @override
    async def start_node(self, node_id: int) -> None:
        await self._processes[node_id].start()
        self._write_run()

    @override
    async def stop_node(self, node_id: int) -> None:
        await self._processes[node_id].terminate()

    @override
    async def pause(self, node_id: int) -> None:
        await self._processes[node_id].pause()

    @override
    async def resume(self, node_id: int) -> None:
        self._processes[node_id].resume()

    @override
    async def process_id(self, node_id: int) -> int | None:
        return self._processes[node_id].pid

    @override
    async def is_paused(self, node_id: int) -> bool:
        return self._processes[node_id].is_paused

    @override
    async def cut(self, links: frozenset[Link]) -> None:
        raise ClusterError("the local backend can't cut links")

    @override
    async def heal(self, links: frozenset[Link]) -> None:
        """Nothing is ever cut."""

    @override
    async def withheld(self, links: frozenset[Link]) -> int:
        return 0

    @override
    async def round_trip(self, link: Link) -> bool:
        return not self._processes[link.target].is_paused

    @override
    async def shift_clock(self, node_id: int, offset_ns: int) -> None:
        if offset_ns:
            raise ClusterError("the local backend can't shift clocks")

    @override
    async def wall_clock_offset(self, node_id: int) -> int | None:
        return None

    @override
    async def lose_unsynced(self, node_id: int) -> int:
        raise ClusterError("the local backend can't drop unsynced writes")

    @override
    async def connect(self, node_id: int, timeout_ns: int) -> Connection:
        return await connect(LOOPBACK, self._ports[node_id], timeout_ns)

    @override
    def bootstrap(self) -> str:
        brokers = [node.node_id for node in self.nodes if node.is_broker]
        return ",".join(f"{LOOPBACK}:{self._ports[broker]}" for broker in brokers)

    @override
    def node_files(self, node_id: int) -> Path:
        return self._directories[node_id].path

    def _write_run(self) -> None:
        assert self._run is not None, "start the cluster first"
        found = [process.identity for process in self._processes.values()]
        alive = tuple(identity for identity in found if identity is not None)
        self._run = msgspec.structs.replace(self._run, processes=alive)
        ports.update(self._run)


CAPABILITIES = frozenset({Capability.KILL, Capability.PAUSE, Capability.RESTART})
