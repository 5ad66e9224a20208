"""Faults of the starts of live nodes: a port that is taken, names that do not resolve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.cluster.capabilities import StartFaultCapable
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote import held_port
from kraftproof.cluster.remote.held_port import HeldPort
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.remote.output import last_words
from kraftproof.cluster.systems.deployment import Deployment


@runtime_checkable
class NamedHost(Protocol):
    """A host whose node resolves the names of its peers there."""

    async def hide_names(self, names: tuple[str, ...]) -> None:
        """Let names not resolve for the node."""
        ...

    async def restore_names(self) -> None:
        """Let all names resolve again."""
        ...

    async def unresolved(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the names that do not resolve for the node."""
        ...


class LiveStarts(StartFaultCapable):
    """The starts of the nodes of a live cluster."""

    _hosts: Mapping[int, Host]
    _deployments: Mapping[int, Deployment]
    _directories: Mapping[int, Path]
    _held: dict[int, HeldPort]

    @override
    async def take_port(self, node_id: int) -> str:
        host = self._hosts[node_id]
        address = next(iter(host.addresses.values()))
        host.expect_taken(frozenset({address.port}))
        self._held[node_id] = await held_port.hold(host, address)
        return f"{address.host}:{address.port}"

    @override
    async def free_port(self, node_id: int) -> None:
        held = self._held.pop(node_id, None)
        if held is not None:
            await held.free()
        self._hosts[node_id].expect_taken(frozenset())

    async def free_ports(self) -> None:
        """Free the taken ports of all nodes."""
        for node_id in list(self._held):
            await self.free_port(node_id)

    @override
    def names_in_use(self, node_id: int) -> tuple[str, ...]:
        deployment = self._deployments[node_id]
        texts = (*deployment.files.values(), *deployment.command, *deployment.environment.values())
        names = {
            address.peer_host
            for n, host in self._hosts.items()
            for address in host.addresses.values()
            if n != node_id and address.peer_host != address.host
        }
        return tuple(sorted(name for name in names if any(name in text for text in texts)))

    @override
    async def hide_names(self, node_id: int) -> None:
        await self._named(node_id).hide_names(self.names_in_use(node_id))

    @override
    async def restore_names(self, node_id: int) -> None:
        await self._named(node_id).restore_names()

    @override
    async def unresolved(self, node_id: int) -> tuple[str, ...]:
        return await self._named(node_id).unresolved(self.names_in_use(node_id))

    @override
    async def last_words(self, node_id: int) -> str:
        return last_words(self._directories[node_id], self._deployments[node_id].logs)

    def _named(self, node_id: int) -> NamedHost:
        host = self._hosts[node_id]
        if not isinstance(host, NamedHost):
            raise ClusterError(f"node {node_id}: its host can't hide names")
        return host
