"""The containers of a run: for each node a pod, which owns the network, and the node that joins it.

The pod keeps the fixed address, the hosts file and the firewall while the node's own container is
killed and started. A node's directory has the same path inside its container as outside, so
that one server.properties serves formatting, running and reading. Not: faults.
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
from kraftproof.images import LIBFAKETIME_PATH

MEMORY_LIMIT = "512m"
ENDPOINT_API_VERSION = "1.41"

# Its reaper is an image of its own, and our sweep removes by owner what a dead harness leaves.
testcontainers_config.ryuk_disabled = True


def host_name(node_id: int) -> str:
    """Return what nodes call each other."""
    return f"node-{node_id}"


def start_pod(image: str, run: str, subnet: Subnet, node_id: int, names: Mapping[str, str]) -> str:
    """Start a node's pod and return its container id; `names` are all nodes with addresses."""
    endpoint = EndpointConfig(ENDPOINT_API_VERSION, ipv4_address=subnet.address(node_id))
    network = str(subnet.network.name)
    pod = DockerContainer(image, name=f"kraftproof-{run}-pod-{node_id}").with_kwargs(
        hostname=host_name(node_id),
        extra_hosts=dict(names),
        network=network,
        networking_config={network: endpoint},
        cap_add=["NET_ADMIN"],
        labels=labels(run),
    )
    return _start(pod)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a node's container runs, and on which files."""

    directory: Path
    """The node's own; output.log in it gets all that it prints."""
    command: tuple[str, ...]
    clock: Path
    """The file that its wall clock obeys."""
    cgroup_parent: str | None
    """See `fair_cgroup_parent`."""


def start_node_container(image: str, run: str, node_id: int, pod: str, launch: Launch) -> str:
    """Start a node's container in the network of its pod, and return the container's id."""
    directory = str(launch.directory)
    output = str(launch.directory / "output.log")
    node = (
        DockerContainer(image, name=f"kraftproof-{run}-node-{node_id}")
        .with_command(["sh", "-c", 'exec "$@" >>"$0" 2>&1', output, *launch.command])
        .with_envs(
            LD_PRELOAD=LIBFAKETIME_PATH,
            FAKETIME_TIMESTAMP_FILE=str(launch.clock),
            FAKETIME_NO_CACHE="1",
            FAKETIME_DONT_FAKE_MONOTONIC="1",
            # Its "fix" breaks timed waits on the monotonic clock, such as Python's for the GIL: a
            # node with threads is then a hundred times slower.
            FAKETIME_FORCE_MONOTONIC_FIX="0",
        )
        .with_kwargs(
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
