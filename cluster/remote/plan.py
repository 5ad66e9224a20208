"""Plan of a deployment: ask the system for ports and deployments, and name its mistakes."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Address, ClusterOptions, NodeInfo
from kraftproof.cluster.remote.host import Host, Ports
from kraftproof.cluster.systems.deployment import Deployment, Site
from kraftproof.cluster.systems.system import System, SystemUnavailableError

LARGEST_PORT = 65_535
HOST_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,252}")


def ports_of(system: System, nodes: tuple[NodeInfo, ...]) -> Ports:
    """Return the named ports of each node.

    Raises:
        PluginError: the system names none, or a number that no port has.
    """
    culprit = plugin("system", system.name, system)
    found: dict[int, Mapping[str, int]] = {}
    for node in nodes:
        with blamed(culprit, "ports"):
            ports: object = system.ports(node)
        if not _are_ports(ports):
            raise returned(culprit, "ports", ports, "a dict of names and port numbers")
        assert isinstance(ports, Mapping)
        found[node.node_id] = ports
    return found


def host_names_of(system: System, nodes: tuple[NodeInfo, ...]) -> Mapping[int, tuple[str, ...]]:
    """Return the names that the system gives to each node, besides node-1, node-2 and so on.

    Raises:
        PluginError: the system fails to say so, names no host names, or gives a name twice.
    """
    culprit = plugin("system", system.name, system)
    found: dict[int, tuple[str, ...]] = {}
    for node in nodes:
        with blamed(culprit, "host_names"):
            names: object = system.host_names(node)
        if not isinstance(names, tuple | list) or not all(map(_is_host_name, names)):
            raise returned(culprit, "host_names", names, "a tuple of host names")
        found[node.node_id] = tuple(names)
    with blamed(culprit, "host_names"):
        _refuse_shared(found)
    return found


def _is_host_name(name: object) -> bool:
    return isinstance(name, str) and HOST_NAME.fullmatch(name) is not None


def _refuse_shared(names: Mapping[int, Sequence[str]]) -> None:
    """Refuse a name of two nodes: the file of hosts of a node has one address for a name."""
    owners: dict[str, int] = {}
    for node_id, own in names.items():
        for name in own:
            if owners.setdefault(name, node_id) != node_id:
                raise ValueError(f"{name!r} is the name of node {owners[name]} and node {node_id}")


def provide(system: System, options: ClusterOptions) -> None:
    """Let the system fetch what its nodes need.

    Raises:
        PluginError: the system fails.
        SystemUnavailableError: something can't be had.
    """
    with blamed(plugin("system", system.name, system), "provide", SystemUnavailableError):
        system.provide(options)


def _as_peers(ports: Mapping[str, Address]) -> dict[str, Address]:
    return {name: address.as_peer for name, address in ports.items()}


def _are_ports(ports: object) -> bool:
    return (
        isinstance(ports, Mapping)
        and len(ports) > 0
        and all(isinstance(name, str) for name in ports)
        and all(isinstance(number, int) and 0 < number <= LARGEST_PORT for number in ports.values())
    )


def deployments_of(
    system: System, options: ClusterOptions, hosts: Mapping[int, Host]
) -> dict[int, Deployment]:
    """Return what each node is made of, on its host.

    Raises:
        PluginError: the system fails to say so.
    """
    culprit = plugin("system", system.name, system)
    addresses = {node_id: host.addresses for node_id, host in hosts.items()}
    found = {}
    for node in options.nodes:
        host = hosts[node.node_id]
        others = {n: _as_peers(addresses[n]) for n in hosts if n != node.node_id}
        site = Site(
            node=node,
            nodes=options.nodes,
            directory=host.directory,
            python=host.python,
            addresses={**addresses, **others},
            options=options,
            sees_machine=host.sees_machine,
            uploads=host.uploads,
        )
        with blamed(culprit, "deployment", SystemUnavailableError):
            deployment: object = system.deployment(site)
        if not isinstance(deployment, Deployment):
            raise returned(culprit, "deployment", deployment, "a Deployment")
        found[node.node_id] = deployment
    with blamed(culprit, "deployment"):
        _refuse_order({n: [one.node_id for one in found[n].after] for n in found})
    return found


def _refuse_order(after: Mapping[int, Sequence[int]]) -> None:
    """Refuse a node that would wait for no node of the cluster, or for itself in the end."""
    for node_id, others in after.items():
        seen: set[int] = set()
        waiting = list(others)
        while waiting:
            other = waiting.pop()
            if other not in after:
                raise ValueError(f"after of node {node_id}: node {other} is not in the cluster")
            if other == node_id:
                raise ValueError(f"after of node {node_id}: the node would wait for itself")
            if other not in seen:
                seen.add(other)
                waiting += after[other]
