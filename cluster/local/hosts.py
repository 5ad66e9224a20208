"""Hosts of the local backend: one process a node on loopback, each with leased ports.

Everything that a run holds on the machine is in its run file (ownership.py), and its processes die
with the harness. The nodes share the loopback network; proxies
of our own stand between the nodes if a fault of the run needs them (mesh/).
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock

import msgspec
from typing_extensions import override

from kraftproof.cluster.local import ports as leases
from kraftproof.cluster.local.mesh.mesh import LocalMesh
from kraftproof.cluster.local.ownership import RunFile, sweep
from kraftproof.cluster.local.ports import LOOPBACK
from kraftproof.cluster.local.process import LocalProcess
from kraftproof.cluster.processes import family_of
from kraftproof.cluster.protocol import (
    CLOCKS,
    PROXIED,
    Address,
    Capability,
    ClusterError,
    ClusterOptions,
    ContaminatedError,
    NodeInfo,
)
from kraftproof.cluster.remote.disk.capabilities import DISK_CAPABILITIES
from kraftproof.cluster.remote.files import replace_file
from kraftproof.cluster.remote.host import Host, Hosts, Ports, Progress, silent
from kraftproof.cluster.remote.live_links import Proxies
from kraftproof.cluster.systems.deployment import Deployment, Programs

MESHED = PROXIED | {Capability.PARTITION, Capability.LOSS, Capability.STALL}
"""The faults of links, for which the nodes have addresses of their own and proxies between them."""
CAPABILITIES = DISK_CAPABILITIES | {
    Capability.KILL,
    Capability.PAUSE,
    Capability.RESTART,
    Capability.TAKEN_PORT,
    *CLOCKS,
    *MESHED,
}


NODE, PEER = "127.1.0.{}", "127.2.0.{}"
"""The address that a node listens at, and the address by which its peers reach the node."""
_BUILDING = Lock()


class LocalHost(Host):
    """One process of this machine."""

    def __init__(
        self, directory: Path, addresses: Mapping[str, Address], progress: Progress = silent
    ) -> None:
        self._progress = progress
        self._directory = directory
        self._addresses = addresses
        self._deployment: Deployment | None = None
        self._expected_taken: frozenset[int] = frozenset()
        self.probes: set[int] = set()
        """Commands that run now in the place of the node, whose connections are the node's."""
        self.process = LocalProcess(directory)

    @property
    @override
    def directory(self) -> Path:
        return self._directory

    @property
    @override
    def python(self) -> str:
        return sys.executable

    @property
    @override
    def sees_machine(self) -> bool:
        return True

    @property
    @override
    def addresses(self) -> Mapping[str, Address]:
        return self._addresses

    @override
    async def run(self, command: Sequence[str]) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self.probes.add(process.pid)
        try:
            output, _ = await process.communicate()
        finally:
            self.probes.discard(process.pid)
        return process.returncode or 0, output.decode(errors="replace")

    @override
    async def run_python(self, script: str, *arguments: str) -> tuple[int, str]:
        return await self.run((sys.executable, "-I", "-S", "-c", script, *arguments))

    @override
    async def put(self, path: Path, data: bytes) -> None:
        replace_file(path, data)

    @override
    async def deploy(self, deployment: Deployment) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        if deployment.container is not None:
            raise ClusterError(
                f"node {self._directory.name} is a container, which the local backend can't start: "
                "use --backend docker"
            )
        if deployment.programs is not None:
            deployment = await asyncio.to_thread(
                _with_programs, deployment, deployment.programs, self._progress
            )
        self._deployment = deployment
        await self.process.set_up(deployment)

    @override
    def expect_taken(self, ports: frozenset[int]) -> None:
        self._expected_taken = ports

    @override
    async def start(self) -> None:
        if self.process.pid is None:
            self._refuse_taken_ports()
        await self.process.start(self._deployed)

    def _refuse_taken_ports(self) -> None:
        """Refuse to start where another program listens: clients would take it for the node.

        Raises:
            ContaminatedError: a port of the node is taken.
        """
        for address in self._addresses.values():
            is_ours = address.port in self._expected_taken
            if not is_ours and not leases.can_bind(address.port, address.host):
                raise ContaminatedError(
                    f"port {address.host}:{address.port} of node {self._directory.name} is taken "
                    "by a program that this run has not started"
                )

    @override
    async def kill(self) -> None:
        await self.process.kill()

    @override
    async def stop(self) -> None:
        await self.process.terminate(self._deployed.stop_signal)

    @override
    async def pause(self) -> None:
        await self.process.pause()

    @override
    async def resume(self) -> None:
        self.process.resume()

    @override
    async def process_id(self) -> int | None:
        return self.process.pid

    @override
    async def exit_status(self) -> int | None:
        return self.process.exit_status

    @override
    async def is_paused(self) -> bool:
        return self.process.is_paused

    async def local_processes(self) -> list[int]:
        """Return the process of the node, its children, and those of its session."""
        pid = self.process.pid
        return [] if pid is None else await asyncio.to_thread(family_of, pid)

    @property
    def _deployed(self) -> Deployment:
        if self._deployment is None:
            raise ClusterError(f"{self._directory.name}: nothing is deployed there")
        return self._deployment


def _with_programs(deployment: Deployment, programs: Programs, progress: Progress) -> Deployment:
    """Return the deployment with the directory of its programs first on its PATH."""
    with _BUILDING:  # the nodes deploy at the same time, and share the programs
        directory = programs(progress)
    found = deployment.environment.get("PATH", os.environ.get("PATH", os.defpath))
    path = os.pathsep.join((str(directory), found))
    return replace(deployment, environment={**deployment.environment, "PATH": path})


class LocalHosts(Hosts):
    """The processes of one run."""

    def __init__(self, options: ClusterOptions, progress: Progress) -> None:
        self._progress = progress
        self._root = options.directory.absolute()
        self._nodes = options.nodes
        self._is_meshed = bool(MESHED & options.needs)
        self._hosts: dict[int, LocalHost] = {}
        self._run: RunFile | None = None

    @property
    @override
    def backend(self) -> str:
        return "local"

    @property
    @override
    def capabilities(self) -> frozenset[Capability]:
        return CAPABILITIES if self._is_meshed else CAPABILITIES - MESHED

    @property
    @override
    def preloads(self) -> bool:
        return False

    @property
    @override
    def has_firewall(self) -> bool:
        return False

    @override
    def directory(self, node: NodeInfo) -> Path:
        return self._root / "nodes" / str(node.node_id)

    @override
    async def provision(self, ports: Ports) -> Mapping[int, Host]:
        sweep()
        count = sum(map(len, ports.values()))
        self._run = leases.lease(f"{self._root.name}-{os.getpid()}", self._root, count)
        leased = iter(self._run.ports)
        for node in self._nodes:
            n = node.node_id
            host, peer = (NODE.format(n), PEER.format(n)) if self._is_meshed else (LOOPBACK,) * 2
            addresses = {
                name: Address(host=host, port=next(leased), peer_host=peer) for name in ports[n]
            }
            self._hosts[node.node_id] = LocalHost(self.directory(node), addresses, self._progress)
        return self._hosts

    @property
    @override
    def proxied(self) -> frozenset[Capability]:
        return MESHED

    @override
    async def proxies(self, seed: int) -> Proxies:
        mesh = LocalMesh(self._hosts, self._processes, seed)
        try:
            await mesh.start()
        except BaseException:
            await mesh.end()
            raise
        return mesh

    def _processes(self) -> dict[int, list[int]]:
        """Return the processes that act for each node now."""
        return {
            n: [*host.probes, *([] if host.process.pid is None else [host.process.pid])]
            for n, host in self._hosts.items()
        }

    @override
    async def started(self) -> None:
        assert self._run is not None, "provision first"
        found = [host.process.identity for host in self._hosts.values()]
        alive = tuple(identity for identity in found if identity is not None)
        self._run = msgspec.structs.replace(self._run, processes=alive)
        leases.update(self._run)

    @override
    async def remove(self) -> None:
        for host in self._hosts.values():
            await host.process.kill()
        if self._run is not None:
            leases.release(self._run)
            self._run = None
