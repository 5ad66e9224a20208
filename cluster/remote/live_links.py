"""Faults of the links between live nodes: cuts and losses by the firewall of each node's host."""

from typing_extensions import override

from kraftproof.cluster.capabilities import LinkFault, LinkFaultCapable
from kraftproof.cluster.protocol import ClusterError, Link
from kraftproof.cluster.remote.firewall import Firewall

FEWEST_LOST = 3
"""Packets whose loss is the evidence of a lossy link."""


class LiveLinks(LinkFaultCapable):
    """The links of a live cluster."""

    _firewall: Firewall
    """The firewall of all hosts; a cluster replaces the empty firewall as its hosts are known."""

    @override
    async def add_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        if link_fault.loss:
            await self._firewall.lose(links, link_fault.loss)
            return
        raise ClusterError(f"a live cluster has no {link_fault}")

    @override
    async def remove_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        if link_fault.loss:
            await self._firewall.lose_no_more(links, link_fault.loss)

    @override
    async def link_fault_count(self, links: frozenset[Link]) -> int:
        lost, _ = await self._firewall.lost(links)
        return lost

    @override
    async def link_fault_effect(
        self, links: frozenset[Link], link_fault: LinkFault, before: int
    ) -> str | None:
        lost, seen = await self._firewall.lost(links)
        if lost - before < FEWEST_LOST:
            return None
        return f"{lost} of {seen} packets lost ({lost / seen:.0%})"
