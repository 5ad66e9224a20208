"""Limits of the processor time and the memory of live nodes, on hosts that can set limits."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.cluster.capabilities import LimitCapable, Usage
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.reachable import crowd
from kraftproof.cluster.remote.host import Host


@runtime_checkable
class LimitedHost(Protocol):
    """A host that can limit its node."""

    async def limit_cpu(self, share: float | None) -> None:
        """Limit the node to a share of one processor; None removes the limit."""
        ...

    async def limit_memory(self, slack: int | None) -> int | None:
        """Limit the node to its present memory and `slack` bytes; return the limit. None heals."""
        ...

    async def usage(self) -> Usage | None:
        """Return the usage of the node; None for a node that never ran."""
        ...


class LiveLimits(LimitCapable):
    """The limits of a live cluster."""

    _hosts: Mapping[int, Host]

    @override
    async def limit_cpu(self, node_id: int, share: float | None) -> None:
        await self._limited(node_id).limit_cpu(share)

    @override
    async def limit_memory(self, node_id: int, slack: int | None) -> int | None:
        limit = await self._limited(node_id).limit_memory(slack)
        if limit is not None:  # an idle node needs no memory, and would not meet the limit
            for address in self._hosts[node_id].addresses.values():
                await crowd(address)
        return limit

    @override
    async def usage(self, node_id: int) -> Usage | None:
        return await self._limited(node_id).usage()

    def _limited(self, node_id: int) -> LimitedHost:
        host = self._hosts[node_id]
        if not isinstance(host, LimitedHost):
            raise ClusterError(f"node {node_id}: its host can't limit processor time and memory")
        return host
