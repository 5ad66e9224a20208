"""Faults of the links between live nodes: losses by the firewall, the others by proxies.

The effect of a fault of a proxy is measured: connections from the network of a link's source meet
the delays and the ends that the connections of the node meet.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final, Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.cluster.capabilities import LinkFault, LinkFaultCapable
from kraftproof.cluster.protocol import ClusterError, Link
from kraftproof.cluster.remote.firewall import Firewall
from kraftproof.cluster.remote.measure import Measured, measured_effect
from kraftproof.cluster.remote.probe import Probe
from kraftproof.cluster.systems.deployment import Deployment

FEWEST_LOST: Final = 3
"""Packets whose loss is the evidence of a lossy link."""
MOST_MEASURED: Final = 2
"""Links on which one look measures a fault."""


class Proxies(Protocol):
    """The proxies of all links."""

    async def add(self, links: frozenset[Link], fault: LinkFault) -> None:
        """Give a fault to the data that flows on links."""
        ...

    async def remove(self, links: frozenset[Link], fault: LinkFault) -> None:
        """Undo one `add`."""
        ...

    async def measure(self, link: Link, probe: Probe, fault: LinkFault) -> Measured:
        """Measure connections that the source of a link opens."""
        ...

    async def failure(self) -> str | None:
        """Return a proxy that failed by itself, in a line; None if all work."""
        ...

    @property
    def replaced(self) -> list[str]:
        """The links whose proxy hung and was replaced."""
        ...

    async def end(self) -> None:
        """End all proxies."""
        ...


class Cutter(Protocol):
    """Withholds the traffic of links: a firewall, or proxies that can do so."""

    async def cut(self, links: frozenset[Link]) -> None:
        """Withhold the traffic of links."""
        ...

    async def heal(self, links: frozenset[Link]) -> None:
        """Undo `cut`."""
        ...

    async def withheld(self, links: frozenset[Link]) -> int:
        """Return the packets, or pieces of data, that were withheld since the cut."""
        ...


@runtime_checkable
class WholeProxies(Cutter, Proxies, Protocol):
    """Proxies that also cut links and lose data, so that no firewall is needed."""

    def hits(self, links: frozenset[Link]) -> int:
        """Return the pieces of data on links that a fault affected."""
        ...


class LiveLinks(LinkFaultCapable, ABC):
    """The links of a live cluster."""

    _firewall: Firewall
    """The firewall of all hosts; a cluster replaces the empty firewall as its hosts are known."""
    _proxies: Proxies | None
    _deployments: Mapping[int, Deployment]
    _baseline: dict[LinkFault, dict[Link, Measured]]

    @abstractmethod
    async def process_id(self, node_id: int) -> int | None:
        """Return the process id of a node, or None when the node is down."""

    @property
    def _cutter(self) -> Cutter:
        return self._proxies if isinstance(self._proxies, WholeProxies) else self._firewall

    @override
    async def add_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        if link_fault.loss and not isinstance(self._proxies, WholeProxies):
            await self._firewall.lose(links, link_fault.loss)
            return
        chosen = await self._measurable(links)
        self._baseline[link_fault] = {
            link: await self._measure(link, link_fault) for link in chosen
        }
        await self._proxying().add(links, link_fault)

    @override
    async def remove_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        if link_fault.loss and not isinstance(self._proxies, WholeProxies):
            await self._firewall.lose_no_more(links, link_fault.loss)
        elif self._proxies is not None:
            await self._proxies.remove(links, link_fault)

    @override
    async def link_fault_count(self, links: frozenset[Link]) -> int:
        if isinstance(self._proxies, WholeProxies):
            return self._proxies.hits(links)
        lost, _ = await self._firewall.lost(links)
        return lost

    @override
    async def link_fault_effect(
        self, links: frozenset[Link], link_fault: LinkFault, before: int
    ) -> str | None:
        if isinstance(self._proxies, WholeProxies) and (link_fault.loss or link_fault.stall):
            affected = self._proxies.hits(links) - before
            return f"{affected} pieces of data delayed" if affected else None
        if link_fault.loss:
            lost, seen = await self._firewall.lost(links)
            if lost - before < FEWEST_LOST:
                return None
            return f"{lost} of {seen} packets lost ({lost / seen:.0%})"
        for link, baseline in self._baseline.get(link_fault, {}).items():
            effect = measured_effect(link_fault, baseline, await self._measure(link, link_fault))
            if effect is not None:
                hung = self._proxying().replaced
                told = f"; hung and replaced: {', '.join(hung)}" if hung else ""
                return f"link {link.source}>{link.target}: {effect}{told}"
        return None

    @override
    async def link_failure(self) -> str | None:
        return None if self._proxies is None else await self._proxies.failure()

    async def end_proxies(self) -> None:
        """End the proxies, if there are any."""
        if self._proxies is not None:
            await self._proxies.end()
            self._proxies = None

    async def _measurable(self, links: frozenset[Link]) -> list[Link]:
        """Return a few links with both ends up."""
        up = {n for link in links for n in link if await self.process_id(n) is not None}
        return [link for link in sorted(links) if set(link) <= up][:MOST_MEASURED]

    async def _measure(self, link: Link, fault: LinkFault) -> Measured:
        return await self._proxying().measure(link, self.probe_of(link.target), fault)

    def probe_of(self, node_id: int) -> Probe:
        """Return the request that shows whether a node is alive."""
        deployment = self._deployments[node_id]
        return Probe(deployment.probe, has_tls=deployment.has_tls)

    def _proxying(self) -> Proxies:
        if self._proxies is None:
            raise ClusterError("no link has a proxy, since no fault of the run needs one")
        return self._proxies
