"""All Toxiproxy processes of a run, and the rules that lead connections into them."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol, runtime_checkable

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import ClusterError, Link
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.remote.measure import Measured, counts_for, measure
from kraftproof.cluster.remote.probe import Probe
from kraftproof.cluster.remote.toxiproxy.program import program
from kraftproof.cluster.remote.toxiproxy.server import LinkServer, Proxying, Route
from kraftproof.cluster.remote.toxiproxy.toxics import Toxic, toxics_of

PROXY_GROUP: Final = 8474
"""The group of the proxies, whose own connections are not redirected."""
FIRST_API_PORT: Final = 28_000
FIRST_PROXY_PORT: Final = 29_000
MOST_PORTS: Final = 16
CHAIN: Final = "KRAFTPROOF_LINKS"
RESTORE: Final = 'printf "%s" "$1" | iptables-restore -w --noflush'


@runtime_checkable
class ProxyHost(Protocol):
    """A host that can run a proxy in the network of its node."""

    async def spawn(self, command: tuple[str, ...], group: int) -> Proxying:
        """Start a process in the network of the node, under a group."""
        ...


class ToxicMesh:
    """The proxied links of a run."""

    def __init__(self, hosts: Mapping[int, Host], seed: int) -> None:
        self._hosts = hosts
        self._seed = seed
        self._servers: dict[Link, LinkServer] = {}
        self._asked = 0

    async def start(self) -> None:
        """Start a process for each link, then redirect the connections of all nodes.

        Raises:
            ClusterError: the program is missing, or a host can't run it.
        """
        path = await asyncio.to_thread(program)
        links = [Link(i, j) for i in self._hosts for j in self._hosts if i != j]
        self._servers = {link: self._server(link, path) for link in links}
        await _all_or_none(server.start() for server in self._servers.values())
        await asyncio.gather(*(self._redirect(node_id) for node_id in self._hosts))

    async def end(self) -> None:
        """End all processes."""
        await asyncio.gather(*(server.end() for server in self._servers.values()))
        self._servers.clear()

    async def add(self, links: frozenset[Link], fault: LinkFault) -> None:
        """Give the toxics of a fault to the data that flows on links, whoever has connected."""
        toxics = _all(links, fault)
        jobs = [self._on(link, stream).add(stream, toxic) for link, stream, toxic in toxics]
        await asyncio.gather(*jobs)

    async def remove(self, links: frozenset[Link], fault: LinkFault) -> None:
        """Undo one `add`."""
        toxics = _all(links, fault)
        jobs = [self._on(link, stream).remove(stream, toxic) for link, stream, toxic in toxics]
        await asyncio.gather(*jobs)

    async def measure(self, link: Link, probe: Probe, fault: LinkFault) -> Measured:
        """Measure connections that the source of a link opens."""
        target = next(iter(self._hosts[link.target].addresses.values()))
        connections, requests = counts_for(fault)
        return await measure(
            self._hosts[link.source], target, probe, connections=connections, requests=requests
        )

    async def failure(self) -> str | None:
        """Return a process that has ended by itself or hangs, in a line; None if all work.

        A call asks one process for an answer, the next call another one.
        """
        servers = list(self._servers.values())
        for ending in (server.ending() for server in servers):
            if ending is not None:
                return ending
        self._asked += 1
        return await servers[self._asked % len(servers)].failure() if servers else None

    @property
    def replaced(self) -> list[str]:
        """The links whose process hung and was replaced."""
        hung = [link for link, server in self._servers.items() if server.replaced]
        return [f"{link.source}>{link.target}" for link in hung]

    def pid(self, link: Link) -> int | None:
        """Return the process id of a link's proxy."""
        return self._servers[link].pid

    def _on(self, link: Link, stream: str) -> LinkServer:
        """Return the server that carries the data of a link in connections of either end."""
        opener = link if stream == "upstream" else Link(link.target, link.source)
        if opener not in self._servers:
            raise ClusterError(f"link {link.source}>{link.target}: no proxy was started")
        return self._servers[opener]

    def _server(self, link: Link, path: str) -> LinkServer:
        host = self._hosts[link.source]
        if not isinstance(host, ProxyHost):
            raise ClusterError(f"node {link.source}: its host can't run a proxy")
        own = next(iter(host.addresses.values())).host
        api = FIRST_API_PORT + link.target
        # By default each piece of data is a line of the log.
        quiet = ("env", "LOG_LEVEL=error")
        command = (*quiet, path, "-host", own, "-port", str(api), "-seed", str(self._seed))
        routes = tuple(
            Route(
                name=name,
                listen=f"127.0.0.1:{_proxy_port(link.target, number)}",
                upstream=f"{address.host}:{address.port}",
            )
            for number, (name, address) in enumerate(self._hosts[link.target].addresses.items())
        )

        async def spawn() -> Proxying:
            return await host.spawn(command, PROXY_GROUP)

        return LinkServer(f"{link.source}>{link.target}", own, api, routes, spawn)

    async def _redirect(self, node_id: int) -> None:
        lines = [
            "*nat",
            f":{CHAIN} - [0:0]",
            f"-A OUTPUT -p tcp -j {CHAIN}",
            f"-A {CHAIN} -m owner --gid-owner {PROXY_GROUP} -j RETURN",
        ]
        for other, host in self._hosts.items():
            for number, address in enumerate(host.addresses.values() if other != node_id else ()):
                where = f"-d {address.host}/32 -p tcp --dport {address.port}"
                port = _proxy_port(other, number)
                lines.append(f"-A {CHAIN} {where} -j REDIRECT --to-ports {port}")
        rules = "\n".join((*lines, "COMMIT", ""))
        status, output = await self._hosts[node_id].run(("sh", "-c", RESTORE, "sh", rules))
        if status:
            raise ClusterError(f"redirection of node {node_id}: {' '.join(output.split())}")


async def _all_or_none(starts: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Await all starts; a start that fails cancels the other starts."""
    tasks = [asyncio.create_task(start) for start in starts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _proxy_port(target: int, number: int) -> int:
    return FIRST_PROXY_PORT + target * MOST_PORTS + number


def _all(links: Iterable[Link], fault: LinkFault) -> Iterator[tuple[Link, str, Toxic]]:
    """Yield the toxics for data on each link, in connections of both ends."""
    for link in sorted(links):
        for toxic in toxics_of(fault):
            yield link, "upstream", toxic
            yield link, "downstream", toxic
