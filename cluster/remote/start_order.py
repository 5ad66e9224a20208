"""Start of nodes after the nodes that they depend on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.deployment import Dependency

PAUSE_NS = 50_000_000


class StartOrder:
    """Nodes that have started, for the nodes that wait for them.

    Attributes:
        started: The nodes whose processes were started.
    """

    __slots__ = ("_failed", "_note", "_scope", "_timeout_ns", "started")

    def __init__(self, scope: Scope, timeout_ns: int, note: Callable[[str], None]) -> None:
        self._scope = scope
        self._timeout_ns = timeout_ns
        self._note = note
        self.started: set[int] = set()
        self._failed: Exception | None = None

    @contextmanager
    def starting(self, node_id: int) -> Iterator[None]:
        """Note the start of a node, or the error that prevents the start."""
        try:
            yield
        except Exception as error:
            self._failed = self._failed or error
            raise
        self.started.add(node_id)

    async def wait(
        self, node_id: int, after: Sequence[Dependency], hosts: Mapping[int, Host]
    ) -> None:
        """Wait for the nodes on which a node depends.

        Raises:
            ClusterError: a node is not up in time; its own error if the node can't start.
        """
        deadline_ns = self._scope.now() + self._timeout_ns
        for one in after:
            state = "healthy" if one.is_healthy else "started"
            self._note(f"node {node_id} waits until node {one.node_id} is {state}")
            while not await self._is_up(node_id, one, hosts):
                if self._failed is not None:
                    raise self._failed
                if self._scope.now() > deadline_ns:
                    lack = await self._lack(one, hosts)
                    raise ClusterError(
                        f"node {node_id} waits for node {one.node_id}, which is not {state} after "
                        f"{self._timeout_ns // 10**9} s{lack}"
                    )
                await self._scope.sleep(PAUSE_NS)

    async def _is_up(self, node_id: int, one: Dependency, hosts: Mapping[int, Host]) -> bool:
        if one.node_id not in self.started or not one.is_healthy:
            return one.node_id in self.started
        host = hosts[one.node_id]
        if not await host.has_health_check():
            raise ClusterError(
                f"node {node_id} waits until node {one.node_id} is healthy, but node "
                f"{one.node_id} has no health check"
            )
        return await host.health_lack() is None

    async def _lack(self, one: Dependency, hosts: Mapping[int, Host]) -> str:
        if one.node_id not in self.started or not one.is_healthy:
            return ""
        return f": {await hosts[one.node_id].health_lack()}"

    async def all_healthy(self, hosts: Mapping[int, Host]) -> None:
        """Wait until every node that runs has passed its health check.

        Raises:
            ClusterError: a node has not passed in time.
        """
        deadline_ns = self._scope.now() + self._timeout_ns
        for node_id, host in hosts.items():
            self._note(f"the health check of node {node_id} has not passed")
            while (lack := await host.health_lack()) and await host.process_id() is not None:
                if self._scope.now() > deadline_ns:
                    raise ClusterError(
                        f"node {node_id} is not healthy after {self._timeout_ns // 10**9} s: {lack}"
                    )
                await self._scope.sleep(PAUSE_NS)
