"""Subnets, one for each run, and the lock under which runs begin.

A subnet's lease is its network at the engine, which refuses two that overlap; so a lease ends
with the network, and a dead harness's with the sweep. The lock keeps images that a beginning run
is about to use from being pruned, and lets one run build an image while the others wait.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

import docker
from docker.errors import APIError
from docker.models.networks import Network
from docker.types import IPAMConfig, IPAMPool

from kraftproof.cluster.docker.owner import labels
from kraftproof.cluster.local.ownership import runtime_directory
from kraftproof.cluster.protocol import ClusterError

RANGE = IPv4Network("198.18.0.0/16")
SUBNET_BITS = 24
FIRST_HOST = 10
"""Node n is at .10 + n; the lowest are the bridge's own."""
MOST_NODES = 240
POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A run's network."""

    network: Network
    addresses: IPv4Network

    def address(self, node_id: int) -> str:
        """Return the fixed address of a node."""
        assert 0 < node_id <= MOST_NODES, "a subnet holds so many nodes"
        return str(IPv4Address(int(self.addresses.network_address) + FIRST_HOST + node_id))


@contextmanager
def engine_lock(patience_s: float) -> Iterator[None]:
    """Hold this user's lock over what runs do at the engine when they begin and are swept.

    Raises:
        ClusterError: another run holds it for too long.
    """
    path = runtime_directory() / "docker.lock"
    deadline = time.monotonic() + patience_s
    with path.open("w", encoding="utf-8") as lock:
        while not _take(lock.fileno()):
            if time.monotonic() > deadline:
                raise ClusterError(f"docker: {path} is held by another run for {patience_s:.0f} s")
            time.sleep(POLL_S)
        yield


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lease_subnet(client: docker.DockerClient, run: str) -> Subnet:
    """Create a run's network on a free subnet.

    Raises:
        ClusterError: all of the range is taken.
    """
    candidates = list(RANGE.subnets(new_prefix=SUBNET_BITS))
    start = os.getpid() % len(candidates)
    taken = taken_subnets(client)
    for addresses in candidates[start:] + candidates[:start]:
        if any(addresses.overlaps(other) for other in taken):
            continue
        network = _create(client, run, addresses)
        if network is not None:
            return Subnet(network=network, addresses=addresses)
    raise ClusterError(f"docker: no subnet of {RANGE} is free: run 'kraftproof sweep'")


def taken_subnets(client: docker.DockerClient) -> list[IPv4Network]:
    """Return the subnets of all networks at the engine."""
    return [
        IPv4Network(pool["Subnet"])
        for network in client.networks.list()
        for pool in network.attrs["IPAM"]["Config"] or ()
        if "." in pool.get("Subnet", "")
    ]


def _create(client: docker.DockerClient, run: str, addresses: IPv4Network) -> Network | None:
    """Create the network, or return None where another run was first."""
    pool = IPAMPool(subnet=str(addresses))
    try:
        return client.networks.create(
            f"kraftproof-{run}", labels=labels(run), ipam=IPAMConfig(pool_configs=[pool])
        )
    except APIError as error:
        if "overlaps" in str(error.explanation):
            return None
        raise
