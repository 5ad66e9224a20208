"""Deploys and starts the nodes of a cluster, and waits until the cluster is ready.

No backend starts a node again by itself. A node that has ended is therefore never waited for,
whatever the harness does at that time.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.remote.host import Host
from kraftproof.cluster.remote.output import last_lines
from kraftproof.cluster.remote.readiness import wait_until_ready
from kraftproof.cluster.remote.start_order import StartOrder
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.deployment import Deployment
from kraftproof.cluster.systems.system import System

LOOK_NS: Final = 400_000_000
"""Time between two looks for nodes that have ended."""
Work = Callable[[], Awaitable[None]]
SetUp = Callable[[int], Awaitable[None]]


class BringUp:
    """The start of the nodes of one run."""

    def __init__(
        self,
        cluster: Cluster,
        system: System,
        hosts: Mapping[int, Host],
        deployments: Mapping[int, Deployment],
        timeout_ns: int,
    ) -> None:
        self._cluster = cluster
        self._scope = cluster.scope
        self._system = system
        self._hosts = hosts
        self._deployments = deployments
        self._timeout_ns = timeout_ns
        self._order = StartOrder(cluster.scope, timeout_ns, self._note)
        self._lack = ""

    async def start(self, set_up: SetUp, started: Work, check: Work) -> None:
        """Start all nodes, and return once the cluster is ready.

        Args:
            set_up: Brings a node to its host.
            started: Is called once all nodes were started.
            check: Is called once the cluster is ready.

        Raises:
            ClusterError: a node can't start or has ended, or the cluster is not ready in time.
        """
        work = self._start(set_up, started, check)
        if not await unless(self._scope, work, self._has_ended_node):
            parts = [part for part in (self._lack, await self._complaint()) if part]
            raise ClusterError(
                f"the system {self._system.name} does not become ready: {'; '.join(parts)}"
            )

    async def _start(self, set_up: SetUp, started: Work, check: Work) -> None:
        tasks = [self._scope.spawn(self._start_node(n, set_up)) for n in self._hosts]
        waiting = list(tasks)
        try:
            while waiting:
                done = await self._scope.select(waiting)
                waiting.remove(done)
                await done
        finally:
            for task in tasks:
                task.cancel()
        await started()
        try:
            await self._order.all_healthy(self._hosts)
            await wait_until_ready(self._cluster, self._system, self._timeout_ns, self._note)
            await check()
        except ClusterError as error:
            complaint = await self._complaint()
            raise ClusterError("; ".join(filter(None, (str(error), complaint)))) from error

    async def _start_node(self, node_id: int, set_up: SetUp) -> None:
        with self._order.starting(node_id):
            await set_up(node_id)
            await self._order.wait(node_id, self._deployments[node_id].after, self._hosts)
            await self._hosts[node_id].start()

    def _note(self, lack: str) -> None:
        self._lack = lack

    async def _has_ended_node(self) -> bool:
        return await self._ended_node() is not None

    async def _ended_node(self) -> int | None:
        for node_id in sorted(self._order.started):
            if await self._hosts[node_id].process_id() is None:
                return node_id
        return None

    async def _complaint(self) -> str:
        """Return the status and the last output of the first node that has ended."""
        node_id = await self._ended_node()
        if node_id is None:
            return ""
        host, logs = self._hosts[node_id], self._deployments[node_id].logs
        with suppress(ClusterError):  # the caller has an error to report already
            await host.refresh()
        status = await host.exit_status()
        how = "" if status is None else f" with status {status}"
        directory: Path = self._cluster.node_files(node_id)
        return f"node {node_id} ended{how}: {last_lines(directory, logs)}"


async def unless(
    scope: Scope, work: Coroutine[Any, Any, None], holds: Callable[[], Awaitable[bool]]
) -> bool:
    """Do work to its end and return True; once a condition holds, cancel it and return False."""

    async def watch() -> None:
        while not await holds():
            await scope.sleep(LOOK_NS)

    task, watcher = scope.spawn(work), scope.spawn(watch())
    try:
        first = await scope.select((task, watcher))
        await first
    finally:
        task.cancel()
        watcher.cancel()
    return first is task
