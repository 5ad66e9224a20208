"""Hosts of the docker backend: for each node a pod with an address, and a container that joins it.

What a run holds at the engine names its owner; whoever begins next removes what dead owners left
(sweep.py).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from typing_extensions import override

from kraftproof.cluster import temporary
from kraftproof.cluster.capabilities import Usage
from kraftproof.cluster.docker.capabilities import CAPABILITIES
from kraftproof.cluster.docker.engine import Threads
from kraftproof.cluster.docker.machines import Machines
from kraftproof.cluster.docker.namespace import PodNetwork
from kraftproof.cluster.docker.pod_process import PodProcess
from kraftproof.cluster.docker.pods import host_name
from kraftproof.cluster.protocol import (
    Address,
    Capability,
    ClusterError,
    ClusterOptions,
    NodeInfo,
)
from kraftproof.cluster.remote.files import replace_file
from kraftproof.cluster.remote.host import Host, Hosts, Ports, Progress, Shell
from kraftproof.cluster.remote.live_links import Proxies
from kraftproof.cluster.remote.run_name import run_name
from kraftproof.cluster.remote.toxiproxy.mesh import ToxicMesh
from kraftproof.cluster.systems.deployment import Deployment

PYTHON = "python3"


class PodShell(Shell):
    """Commands in the network of a pod."""

    def __init__(self, threads: Threads, network: PodNetwork) -> None:
        self._threads = threads
        self._network = network

    @override
    async def run(self, command: Sequence[str]) -> tuple[int, str]:
        return await self._threads.run(self._network.run, command)

    @override
    async def run_python(self, script: str, *arguments: str) -> tuple[int, str]:
        return await self._threads.run(self._network.run_python, script, *arguments)


class DockerHost(PodShell, Host):
    """A pod and the container of its node."""

    def __init__(
        self,
        node_id: int,
        directory: Path,
        addresses: Mapping[str, Address],
        hosts: "DockerHosts",
        network: PodNetwork,
    ) -> None:
        super().__init__(hosts.threads, network)
        self._node_id = node_id
        self._directory = directory
        self._addresses = addresses
        self._machines = hosts.machines
        self._progress = hosts.progress
        self._deployment: Deployment | None = None
        self._image = ""

    @property
    @override
    def directory(self) -> Path:
        return self._directory

    @property
    @override
    def python(self) -> str:
        return PYTHON

    @property
    @override
    def addresses(self) -> Mapping[str, Address]:
        return self._addresses

    @override
    async def put(self, path: Path, data: bytes) -> None:
        await self._threads.run(replace_file, path, data)

    @override
    async def deploy(self, deployment: Deployment) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._deployment = deployment
        wanted = deployment.image
        if deployment.container is not None:
            wanted = str(deployment.container.image)
        self._image = await self._threads.run(self._machines.image, wanted, self._progress)

    @override
    async def start(self) -> None:
        await self._threads.run(
            self._machines.start, self._node_id, self._image, self._directory, self._deployed
        )

    @override
    async def kill(self) -> None:
        await self._threads.run(self._machines.kill, self._node_id)

    @override
    async def stop(self) -> None:
        number = self._deployed.stop_signal
        await self._threads.run(self._machines.stop, self._node_id, number)

    @override
    async def pause(self) -> None:
        await self._threads.run(self._machines.pause, self._node_id)

    @override
    async def resume(self) -> None:
        await self._threads.run(self._machines.resume, self._node_id)

    @override
    async def process_id(self) -> int | None:
        state = await self._threads.run(self._machines.state, self._node_id)
        return state.pid or None

    @override
    async def exit_status(self) -> int | None:
        state = await self._threads.run(self._machines.state, self._node_id)
        return state.exit_status

    @override
    async def is_paused(self) -> bool:
        state = await self._threads.run(self._machines.state, self._node_id)
        return state.is_paused

    async def local_processes(self) -> list[int]:
        """Return the first process of the container and its children, empty while it is down."""
        return await self._threads.run(self._machines.processes, self._node_id)

    @override
    async def health_lack(self) -> str | None:
        return await self._threads.run(self._machines.health_lack, self._node_id)

    @override
    async def has_health_check(self) -> bool:
        return await self._threads.run(self._machines.has_health_check, self._node_id)

    async def limit_cpu(self, share: float | None) -> None:
        """Limit the node to a share of one processor; None removes the limit."""
        await self._threads.run(self._machines.limit_cpu, self._node_id, share)

    async def limit_memory(self, slack: int | None) -> int | None:
        """Limit the node to its present memory and `slack` bytes; return the limit. None heals."""
        return await self._threads.run(self._machines.limit_memory, self._node_id, slack)

    async def usage(self) -> Usage | None:
        """Return the usage of the node; None for a node that never ran."""
        return await self._threads.run(self._machines.usage, self._node_id)

    async def hide_names(self, names: tuple[str, ...]) -> None:
        """Let names not resolve for the node."""
        await self._threads.run(self._network.hide_names, names)

    async def restore_names(self) -> None:
        """Let all names resolve again."""
        await self._threads.run(self._network.restore_names)

    async def unresolved(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the names that do not resolve for the node."""
        return await self._threads.run(self._network.unresolved, names)

    async def spawn(self, command: tuple[str, ...], group: int) -> PodProcess:
        """Start a process in the network of the node, under a group; it ends with the harness."""
        return await PodProcess.start(self._network.entry(group), command)

    @property
    def _deployed(self) -> Deployment:
        if self._deployment is None:
            raise ClusterError(f"node {self._node_id}: nothing is deployed there")
        return self._deployment


class DockerHosts(Hosts):
    """The pods and containers of one run."""

    def __init__(
        self,
        options: ClusterOptions,
        progress: Progress,
        names: Mapping[int, tuple[str, ...]] | None = None,
    ) -> None:
        self._root = options.directory.absolute() / "nodes"
        self._nodes = options.nodes
        self.progress: Callable[[str], None] = progress
        self.threads = Threads()
        self._hosts: Mapping[int, Host] = {}
        numbers = tuple(node.node_id for node in options.nodes)
        self.machines = Machines(run_name(options.directory), numbers, names or {})

    @property
    @override
    def backend(self) -> str:
        return "docker"

    @property
    @override
    def capabilities(self) -> frozenset[Capability]:
        return CAPABILITIES

    @override
    def directory(self, node: NodeInfo) -> Path:
        return self._root / str(node.node_id)

    @override
    async def provision(self, ports: Ports) -> Mapping[int, Host]:
        for line in await self.threads.run(temporary.sweep):
            self.progress(line)
        await self.threads.run(self.machines.provision, self.progress)
        networks = await self.threads.run(self.machines.networks)
        places = self.machines.addresses
        found: dict[int, Host] = {}
        for node in self._nodes:
            n = node.node_id
            addresses = {
                name: Address(host=places[n], port=number, peer_host=host_name(n))
                for name, number in ports[n].items()
            }
            found[n] = DockerHost(n, self.directory(node), addresses, self, networks[n])
        self._hosts = found
        return found

    @override
    async def proxies(self, seed: int) -> Proxies:
        mesh = ToxicMesh(self._hosts, seed)
        try:
            await mesh.start()
        except BaseException:
            await mesh.end()
            raise
        return mesh

    @override
    async def started(self) -> None:
        """Containers carry their owner themselves."""

    @override
    async def remove(self) -> None:
        await self.threads.finish()
        await asyncio.to_thread(self.machines.remove)
