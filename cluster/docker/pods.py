"""The containers of a run: for each node a pod, which owns the network, and the node that joins it.

The pod keeps the fixed address, the hosts file and the firewall while the node's own container is
killed and started. A node's directory has the same path inside its container as outside, so
that the same files serve running and reading. Not: faults.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from docker.models.containers import Container
from docker.types import EndpointConfig, Mount
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from kraftproof.cluster.docker.lease import Subnet
from kraftproof.cluster.docker.owner import labels
from kraftproof.cluster.remote.clocks.node_clock import environment
from kraftproof.cluster.remote.output import OUTPUT_NAME
from kraftproof.cluster.systems.deployment import SET_UP_DONE, Deployment
from kraftproof.images.build import LIBFAKETIME_PATH

MEMORY_LIMIT = "512m"
ENDPOINT_API_VERSION = "1.41"
POD = ("sh", "-c", "trap 'exit 0' TERM INT; sleep infinity & wait")
"""As process 1 a plain `sleep` would ignore SIGTERM, and cost ten seconds at each removal."""
NODE = f'exec >>"$0/{OUTPUT_NAME}" 2>&1; cd "$0" || exit 1; '
SET_UP = f"test -e {SET_UP_DONE} || {{ {{ %s; }} && touch {SET_UP_DONE}; }} || exit 1; "

_NETWORK = ("network", "networking_config", "hostname", "extra_hosts", "ports", "auto_remove")
"""Settings of a user's container that a pod takes the place of."""

# Its reaper is an image of its own, and our sweep removes by owner what a dead harness leaves.
testcontainers_config.ryuk_disabled = True


def host_name(node_id: int) -> str:
    """Return the host name by which nodes reach a node."""
    return f"node-{node_id}"


def start_pod(
    image: str, run: str, subnet: Subnet, node_id: int, names: Mapping[str, str], own_name: str
) -> str:
    """Start a node's pod and return its container id; `names` are all nodes with addresses."""
    endpoint = EndpointConfig(ENDPOINT_API_VERSION, ipv4_address=subnet.address(node_id))
    network = str(subnet.network.name)
    pod = (
        DockerContainer(image, name=f"kraftproof-{run}-pod-{node_id}")
        .with_command(list(POD))
        .with_kwargs(
            hostname=own_name,
            extra_hosts=dict(names),
            network=network,
            networking_config={network: endpoint},
            cap_add=["NET_ADMIN"],
            labels=labels(run),
        )
    )
    return _start(pod)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Command and files of the container of a node."""

    image: str
    directory: Path
    """Directory of the node; output.log in the directory gets the output of the node."""
    deployment: Deployment
    cgroup_parent: str | None
    """See `fair_cgroup_parent`."""

    @property
    def command(self) -> list[str]:
        """The set-up commands, at the first start only, and then the node's own."""
        words: list[str] = []
        parts = []
        for command in self.deployment.setup:
            numbers = range(len(words) + 1, len(words) + 1 + len(command))
            parts.append(" ".join(f'"${{{number}}}"' for number in numbers))
            words += command
        script = NODE + (SET_UP % " && ".join(parts) + f"shift {len(words)}; " if parts else "")
        directory = str(self.directory)
        return ["sh", "-c", f'{script}exec "$@"', directory, *words, *self.deployment.command]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the deployment, and those of a clock that can be set."""
        clock = {}
        if self.deployment.wall_clock is not None:
            clock = environment(self.directory, LIBFAKETIME_PATH)
        return {**clock, **self.deployment.environment}


def start_node_container(run: str, node_id: int, pod: str, launch: Launch) -> str:
    """Start a node's container in the network of its pod, and return the container's id."""
    directory = str(launch.directory)
    node = (
        DockerContainer(launch.image, name=f"kraftproof-{run}-node-{node_id}")
        .with_command(launch.command)
        .with_envs(**launch.environment)
        .with_kwargs(
            entrypoint=[""],  # none, whatever the image has
            network_mode=f"container:{pod}",
            # Files belong to who runs the harness, not to root.
            user=f"{os.getuid()}:{os.getgid()}",
            mounts=[Mount(target=directory, source=directory, type="bind")],
            mem_limit=MEMORY_LIMIT,
            cgroup_parent=launch.cgroup_parent,
            labels=labels(run),
        )
    )
    return _start(node)


def start_given_container(run: str, node_id: int, pod: str, launch: Launch) -> str:
    """Start a user's container as a node in the network of its pod; return the container's id."""
    directory = str(launch.directory)
    container: DockerContainer = launch.deployment.container
    container.image = launch.image
    container.ports = {}  # the pod has the network, and clients reach its address
    given = {k: v for k, v in container._kwargs.items() if k not in _NETWORK}  # noqa: SLF001
    container.with_name(f"kraftproof-{run}-node-{node_id}").with_kwargs(
        **{
            "mem_limit": MEMORY_LIMIT,
            **given,
            "network_mode": f"container:{pod}",
            "mounts": [
                *given.get("mounts", ()),
                Mount(target=directory, source=directory, type="bind"),
            ],
            "cgroup_parent": launch.cgroup_parent,
            "labels": {**given.get("labels", {}), **labels(run)},
        }
    )
    return _start(container)


def fair_cgroup_parent(driver: str) -> str | None:
    """Return the parent under which a node gets as much of a busy machine as any process.

    With the engine's own cgroup driver all containers together weigh as much as one process of
    the host: time-outs of half a second do not survive a test run beside them.
    """
    return "/" if driver == "cgroupfs" else None


def _start(container: DockerContainer) -> str:
    wrapped: Container = container.start().get_wrapped_container()
    # The container outlives testcontainers' own client, which would keep a socket open.
    container.get_docker_client().client.close()
    return str(wrapped.id)
