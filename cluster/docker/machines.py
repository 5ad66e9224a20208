"""Objects of a run at the engine, as blocking calls: image, network, pods and nodes.

Not: coroutines (hosts.py), or what belongs to other runs (sweep.py).
"""

import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import docker
from docker.errors import APIError, ImageNotFound
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import ReadTimeout

from kraftproof.cluster.capabilities import Usage
from kraftproof.cluster.docker import health, limits
from kraftproof.cluster.docker.engine import THREADS, connect_engine, one_line, says_not_running
from kraftproof.cluster.docker.freezing import freeze
from kraftproof.cluster.docker.lease import MOST_NODES, Subnet, engine_lock, lease_subnet
from kraftproof.cluster.docker.namespace import ELSEWHERE, PodNetwork, is_of_container
from kraftproof.cluster.docker.pods import (
    Launch,
    fair_cgroup_parent,
    host_name,
    start_given_container,
    start_node_container,
    start_pod,
)
from kraftproof.cluster.docker.sweep import remove_run, sweep_locked
from kraftproof.cluster.processes import family_of
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.output import OUTPUT_NAME
from kraftproof.cluster.remote.output_limit import write_output
from kraftproof.cluster.systems.deployment import Deployment, Image
from kraftproof.images.base import ensure_base
from kraftproof.images.errors import ImageError

LOCK_S = 300.0
"""A first build takes up to two minutes, and several runs may wait for it."""
STOP_S = 10
END_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A node's container as the engine sees it."""

    pid: int
    """0 when it is down."""
    is_paused: bool
    exit_status: int | None = None
    """None while it runs."""


class Machines:
    """The pods and nodes of one run."""

    __slots__ = (
        *("_base", "_client", "_containers", "_given", "_images", "_names", "_nodes", "_pods"),
        *("_run", "_subnet"),
    )

    def __init__(
        self,
        run: str,
        nodes: Sequence[int],
        names: Mapping[int, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        if max(nodes) > MOST_NODES:
            raise ClusterError(f"docker: {max(nodes)} nodes: a run has at most {MOST_NODES}")
        self._run = run
        self._nodes = tuple(nodes)
        self._client: docker.DockerClient | None = None
        self._base = ""
        self._images: dict[Image, str] = {}
        self._subnet: Subnet | None = None
        self._pods: dict[int, str] = {}
        self._containers: dict[int, str] = {}
        self._names = names
        self._given: dict[int, Path] = {}
        """By node with a container of the user: the directory of the node."""

    @property
    def addresses(self) -> Mapping[int, str]:
        """The fixed address of each node."""
        assert self._subnet is not None, "provision first"
        return {node_id: self._subnet.address(node_id) for node_id in self._nodes}

    @property
    def pods(self) -> Mapping[int, str]:
        """The container id of each node's pod."""
        return self._pods

    def provision(self, progress: Callable[[str], None]) -> None:
        """Sweep, make sure of the base image, lease a subnet and start the pods.

        Raises:
            ClusterError: no engine answers, or one of these failed.
        """
        client = connect_engine()
        self._client = client
        with engine_lock(LOCK_S), one_line("bring-up"):
            for line in sweep_locked(client):
                progress(line)
            try:
                self._base = ensure_base(client, progress)
            except ImageError as error:
                raise ClusterError(f"docker: {error}") from error
            self._subnet = lease_subnet(client, self._run)
            self._start_pods(self._subnet)

    def _start_pods(self, subnet: Subnet) -> None:
        names = {
            name: address
            for node_id, address in self.addresses.items()
            for name in (host_name(node_id), *self._names.get(node_id, ()))
        }
        own = {n: (*self._names.get(n, ()), host_name(n))[0] for n in self._nodes}
        with ThreadPoolExecutor(THREADS) as starters:
            pods = starters.map(
                lambda n: start_pod(self._base, self._run, subnet, n, names, own[n]),
                self._nodes,
            )
            self._pods = dict(zip(self._nodes, pods, strict=True))

    def networks(self) -> dict[int, PodNetwork]:
        """Return the way into each pod's network."""
        return {node_id: PodNetwork(self._engine, pod) for node_id, pod in self._pods.items()}

    def image(self, wanted: Image | None, progress: Callable[[str], None]) -> str:
        """Return the name of an image that the engine has now.

        Raises:
            ClusterError: there is no such image, or it can't be built or pulled.
        """
        if wanted is None:
            return self._base
        with (
            engine_lock(LOCK_S),
            one_line(f"image {wanted}" if isinstance(wanted, str) else "image"),
        ):
            if wanted not in self._images:
                self._images[wanted] = self._ensure(wanted, progress)
        return self._images[wanted]

    def _ensure(self, wanted: Image, progress: Callable[[str], None]) -> str:
        if callable(wanted):
            try:
                return wanted(self._engine, progress)
            except ImageError as error:
                raise ClusterError(f"docker: {error}") from error
        try:
            self._engine.images.get(wanted)
        except ImageNotFound:
            progress(f"image {wanted}: pulling")
            with one_line(f"image {wanted} can't be pulled"):
                self._engine.images.pull(wanted)
        return wanted

    def start(self, node_id: int, image: str, directory: Path, deployment: Deployment) -> None:
        """Start a node; its container is made the first time."""
        with one_line(f"start of node {node_id}"):
            if node_id in self._containers:
                self._engine.api.start(self._containers[node_id])
                return
            launch = Launch(
                image=image,
                directory=directory,
                deployment=deployment,
                cgroup_parent=fair_cgroup_parent(str(self._engine.info()["CgroupDriver"])),
            )
            pod = self._pods[node_id]
            if deployment.container is None:
                started = start_node_container(self._run, node_id, pod, launch)
            else:
                self._given[node_id] = directory
                started = start_given_container(self._run, node_id, pod, launch)
            self._containers[node_id] = started

    def kill(self, node_id: int) -> None:
        """SIGKILL, and wait for the end; one that is down is left alone."""
        container = self._containers.get(node_id)
        if container is None:
            return
        with one_line(f"kill of node {node_id}"):
            try:
                self._engine.api.kill(container, signal="SIGKILL")
            except APIError as error:
                if not says_not_running(error):
                    raise
            self._engine.api.wait(container, timeout=END_S)
            self._write_output(node_id)

    def stop(self, node_id: int, number: signal.Signals) -> None:
        """Send the signal and wait; SIGKILL after ten seconds."""
        container = self._containers[node_id]
        with one_line(f"stop of node {node_id}"):
            if number != signal.SIGTERM:
                self._engine.api.kill(container, signal=number.name)
                with suppress(ReadTimeout, RequestsConnectionError):
                    self._engine.api.wait(container, timeout=STOP_S)
                    self._write_output(node_id)
                    return
            self._engine.api.stop(container, timeout=STOP_S)
            self._write_output(node_id)

    def _write_output(self, node_id: int) -> None:
        """Write the output of a user's container to output.log; other nodes write theirs."""
        directory = self._given.get(node_id)
        if directory is not None:
            printed = self._engine.api.logs(self._containers[node_id], stream=True, follow=False)
            write_output(directory / OUTPUT_NAME, printed)

    def health_lack(self, node_id: int) -> str | None:
        """Return why the health check of a node has not passed; None if it has, or without one."""
        with one_line(f"health of node {node_id}"):
            return health.lack(self._engine, self._containers.get(node_id))

    def has_health_check(self, node_id: int) -> bool:
        """Return whether the container of a node has a health check."""
        with one_line(f"health of node {node_id}"):
            return health.has_check(self._engine, self._containers[node_id])

    def pause(self, node_id: int) -> None:
        """Freeze it."""
        with one_line(f"pause of node {node_id}"):
            freeze(self._engine, self._containers[node_id])

    def resume(self, node_id: int) -> None:
        """Thaw it."""
        with one_line(f"resume of node {node_id}"):
            self._engine.api.unpause(self._containers[node_id])

    def state(self, node_id: int) -> State:
        """Return what the engine says of it now."""
        container = self._containers.get(node_id)
        if container is None:
            return State(pid=0, is_paused=False)
        with one_line(f"state of node {node_id}"):
            found = self._engine.api.inspect_container(container)["State"]
            if not found["Running"]:
                self._write_output(node_id)
        # A dead container may still carry the flag of the pause that it died in.
        pid = int(found["Pid"]) if found["Running"] else 0
        status = None if pid else int(found["ExitCode"])
        return State(pid=pid, is_paused=bool(pid and found["Paused"]), exit_status=status)

    def processes(self, node_id: int) -> list[int]:
        """Return the processes of a node by their ids on this machine; empty while it is down.

        Raises:
            ClusterError: the engine is on another machine.
        """
        pid = self.state(node_id).pid
        if pid and not is_of_container(pid, self._containers[node_id]):
            if self.state(node_id).pid != pid:
                return []  # it has ended meanwhile
            raise ClusterError(f"docker: {ELSEWHERE}")
        return family_of(pid) if pid else []

    def limit_cpu(self, node_id: int, share: float | None) -> None:
        """Limit a node to a share of one processor; None removes the limit."""
        limits.limit_cpu(self._engine, self._containers[node_id], share)

    def limit_memory(self, node_id: int, slack: int | None) -> int | None:
        """Limit a node to its present memory and `slack` bytes; return the limit. None heals."""
        return limits.limit_memory(self._engine, self._containers[node_id], slack)

    def usage(self, node_id: int) -> Usage | None:
        """Return the usage of a node; None for a node that never ran."""
        container = self._containers.get(node_id)
        return None if container is None else limits.usage(self._engine, container)

    def remove(self) -> None:
        """Remove everything of this run at the engine."""
        if self._client is None:
            return
        with one_line("take-down"):
            for node_id in self._given:
                if node_id in self._containers:
                    self._write_output(node_id)
            remove_run(self._client, self._run)
        self._client.close()
        self._client = None

    @property
    def _engine(self) -> docker.DockerClient:
        if self._client is None:
            raise ClusterError("docker: the cluster is not up")
        return self._client
