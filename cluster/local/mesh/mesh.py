"""The proxies of all nodes of a local run, in the event loop of the harness."""

import asyncio
from collections.abc import Callable, Mapping

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.local.mesh.owner import Owners, Processes
from kraftproof.cluster.local.mesh.relay import Relay
from kraftproof.cluster.local.mesh.state import LinkState
from kraftproof.cluster.protocol import Address, ClusterError, Link
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.remote.measure import Measured, counts_for, measure
from kraftproof.cluster.remote.probe import Probe


class LocalMesh:
    """The proxied links of a run."""

    def __init__(self, hosts: Mapping[int, Host], processes: Processes, seed: int) -> None:
        self._hosts = hosts
        self._owners = Owners(processes)
        self._state = LinkState(seed)
        self._servers: list[asyncio.Server] = []
        self._relays: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen at the peer address of each port of each node.

        Raises:
            ClusterError: an address can't be had.
        """
        for node_id, host in self._hosts.items():
            for address in host.addresses.values():
                try:
                    server = await asyncio.start_server(
                        self._accepter(node_id, address), address.peer_host, address.port
                    )
                except OSError as error:
                    where = f"{address.peer_host}:{address.port}"
                    said = f"proxy of node {node_id}: {where}: {error.strerror}"
                    raise ClusterError(said) from error
                self._servers.append(server)

    async def end(self) -> None:
        """Close all listeners and connections."""
        for server in self._servers:
            server.close()
        self._servers.clear()
        self._owners.end()
        relays = list(self._relays)
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)

    async def cut(self, links: frozenset[Link]) -> None:
        """Withhold the data of links."""
        self._state.cut(links)

    async def heal(self, links: frozenset[Link]) -> None:
        """Let the data of links pass."""
        self._state.heal(links)

    async def withheld(self, links: frozenset[Link]) -> int:
        """Return the pieces of data that waited on links since their cut."""
        return sum(self._state.withheld[link] for link in links)

    async def add(self, links: frozenset[Link], fault: LinkFault) -> None:
        """Add a fault to links."""
        self._state.add(links, fault)

    async def remove(self, links: frozenset[Link], fault: LinkFault) -> None:
        """Undo one `add`."""
        self._state.remove(links, fault)

    def hits(self, links: frozenset[Link]) -> int:
        """Return the pieces of data on links that a fault affected."""
        return sum(self._state.hits[link] for link in links)

    async def measure(self, link: Link, probe: Probe, fault: LinkFault) -> Measured:
        """Measure connections that the source of a link opens."""
        target = next(iter(self._hosts[link.target].addresses.values())).as_peer
        connections, requests = counts_for(fault)
        return await measure(
            self._hosts[link.source], target, probe, connections=connections, requests=requests
        )

    async def failure(self) -> None:
        """Return no failure: these proxies are tasks of the harness."""

    @property
    def replaced(self) -> list[str]:
        """Return no links: these proxies are not replaced."""
        return []

    def _accepter(
        self, node_id: int, address: Address
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._relay(node_id, address, reader, writer))
            self._relays.add(task)
            task.add_done_callback(self._relays.discard)
            # A task may be cancelled before it begins, or while it connects.
            task.add_done_callback(lambda _: writer.close())

        return accept

    async def _relay(
        self,
        node_id: int,
        address: Address,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        opener, accepted = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
        source = await self._owners.find(opener, accepted)
        link = None if source is None or source == node_id else Link(source, node_id)
        try:
            target = await asyncio.open_connection(address.host, address.port)
        except OSError:
            writer.transport.abort()
            return
        await Relay(self._state, (reader, writer), target, link).run()
