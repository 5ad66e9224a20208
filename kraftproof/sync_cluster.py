"""A cluster with blocking methods, for tests that are plain functions.

The fixtures of the pytest plug-in return such clusters. Virtual time of a simulated cluster passes
only inside of a method; live nodes run all the time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kraftproof.errors import UsageError

if TYPE_CHECKING:
    from kraftproof.cluster.live.scope import LiveScope
    from kraftproof.cluster.protocol import Capability, Cluster, ClusterOptions, Link, NodeInfo
    from kraftproof.cluster.systems.system import System

T = TypeVar("T")
SECOND_NS = 1_000_000_000
READY_TIMEOUT_S = 30.0
LINES_SHOWN = 5


class Drive(Protocol):
    """A function that runs a coroutine of a cluster to its end."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Return the result of the coroutine, or raise its exception."""
        ...


class SyncCluster:
    """A cluster for tests that are plain functions.

    Attributes:
        cluster: The cluster itself; `drive` runs its coroutines.
    """

    def __init__(self, cluster: Cluster, drive: Drive, system: System) -> None:
        self.cluster = cluster
        self._system = system
        self._drive = drive
        self._cut: set[Link] = set()
        self._shifted: set[int] = set()

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """All nodes, sorted by id."""
        return self.cluster.nodes

    def drive(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the cluster to its end."""
        return self._drive(coroutine)

    def bootstrap(self) -> str:
        """Return the host:port list of the brokers for Kafka clients; empty in simulation."""
        return self.cluster.bootstrap()

    def sleep(self, seconds: float) -> None:
        """Let time pass for the cluster; in simulation virtual time."""
        self.drive(self.cluster.scope.sleep(int(seconds * SECOND_NS)))

    # Processes

    def kill(self, node_id: int) -> None:
        """End a node's process with SIGKILL."""
        self.drive(self.cluster.kill(self._known(node_id)))

    def stop_node(self, node_id: int) -> None:
        """End a node's process with SIGTERM, and wait for the exit."""
        self.drive(self.cluster.stop_node(self._known(node_id)))

    def start_node(self, node_id: int) -> None:
        """Start a node that is down."""
        self.drive(self.cluster.start_node(self._known(node_id)))

    def pause(self, node_id: int) -> None:
        """Suspend a node's process."""
        self.drive(self.cluster.pause(self._known(node_id)))

    def resume(self, node_id: int) -> None:
        """Resume a paused node."""
        self.drive(self.cluster.resume(self._known(node_id)))

    # Links

    def partition(self, *groups: Collection[int]) -> None:
        """Cut all links between nodes of different groups in both directions, until `heal`.

        Nodes without a group form an additional group: `partition({1})` isolates node 1.

        Raises:
            UsageError: a node is unknown or in two groups, or the backend can't cut links.
        """
        named = [self._known(node_id) for group in groups for node_id in group]
        if len(named) != len(set(named)):
            raise UsageError(f"partition{groups}: a node stands in two groups")
        rest = {node.node_id for node in self.nodes} - set(named)
        sides = [side for side in (*map(set, groups), rest) if side]
        self._cut_links(
            (source, target)
            for one in sides
            for other in sides
            if one is not other
            for source in sorted(one)
            for target in sorted(other)
        )

    def cut(self, source: int, target: int) -> None:
        """Cut the link from one node to another in this direction only, until `heal`."""
        self._cut_links([(self._known(source), self._known(target))])

    def heal(self) -> None:
        """Heal all cut links, and set all shifted clocks to true time."""
        if self._cut:
            self.drive(self.cluster.heal(frozenset(self._cut)))
            self._cut.clear()
        for node_id in sorted(self._shifted):
            self.drive(self.cluster.shift_clock(node_id, 0))
        self._shifted.clear()

    def can_reach(self, source: int, target: int) -> bool:
        """Return whether a request from one node to another gets a response."""
        from kraftproof.cluster.protocol import Link

        link = Link(self._known(source), self._known(target))
        return self.drive(self.cluster.round_trip(link))

    # Clocks

    def shift_clock(self, node_id: int, seconds: float) -> None:
        """Set a node's wall clock to an offset from true time, until `heal`; 0 is true time.

        Raises:
            UsageError: the node is unknown, or the backend can't shift clocks.
        """
        from kraftproof.cluster.protocol import Capability

        self._require(Capability.CLOCK)
        self.drive(self.cluster.shift_clock(self._known(node_id), int(seconds * SECOND_NS)))
        self._shifted.add(node_id)

    def clock_offset(self, node_id: int) -> float | None:
        """Return the offset of a node's wall clock in seconds; None if the node is down."""
        offset_ns = self.drive(self.cluster.wall_clock_offset(self._known(node_id)))
        return None if offset_ns is None else offset_ns / SECOND_NS

    # Readiness

    def wait_until_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Wait until the system says that it is ready; ours, when every broker is unfenced.

        Raises:
            ClusterError: it is not in time; notes say what each node printed last.
        """
        from kraftproof.cluster.protocol import ClusterError
        from kraftproof.cluster.remote.readiness import wait_until_ready

        try:
            limit_ns = int(timeout_s * SECOND_NS)
            self.drive(wait_until_ready(self.cluster, self._system, limit_ns))
        except ClusterError as error:
            for node in self.nodes:
                error.add_note(f"node {node.node_id}: {self._last_output(node.node_id)}")
            raise

    def _known(self, node_id: int) -> int:
        ids = [node.node_id for node in self.nodes]
        if node_id not in ids:
            raise UsageError(f"node {node_id}: this cluster has nodes {ids[0]} to {ids[-1]}")
        return node_id

    def _require(self, capability: Capability) -> None:
        if capability not in self.cluster.capabilities:
            able = ", ".join(sorted(self.cluster.capabilities))
            raise UsageError(
                f"{capability}: the {self.cluster.backend} backend can't do that, only {able}"
            )

    def _cut_links(self, pairs: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> None:
        from kraftproof.cluster.protocol import Capability, Link

        self._require(Capability.PARTITION)
        links = frozenset(Link(source, target) for source, target in pairs)
        self.drive(self.cluster.cut(links))
        self._cut |= links

    def _last_output(self, node_id: int) -> str:
        from kraftproof.cluster.remote.output import OUTPUT_NAME, end_of

        try:
            text = end_of(self.cluster.node_files(node_id) / OUTPUT_NAME)
        except OSError as error:
            return f"no output ({error.strerror})"
        return " / ".join(text.splitlines()[-LINES_SHOWN:]) or "nothing printed"


@contextmanager
def cluster_of(backend: str, options: ClusterOptions, system: System) -> Iterator[SyncCluster]:
    """A cluster that is up, and is taken down whatever happens meanwhile."""
    from kraftproof.run.backends import make_backend, make_judged_cluster
    from kraftproof.run.live.backends import LiveBackend

    chosen = make_backend(backend)
    if not isinstance(chosen, LiveBackend):
        simulated = make_judged_cluster(options)
        simulated.run(simulated.start())
        yield SyncCluster(simulated, simulated.run, system)
        return
    with asyncio.Runner() as runner:
        scope = runner.run(_live_scope())
        cluster = chosen.cluster(options, scope, system, _silent)
        try:
            runner.run(cluster.start())
            yield SyncCluster(cluster, runner.run, system)
        finally:
            runner.run(cluster.stop())
            runner.run(scope.cancel_rest())


async def _live_scope() -> LiveScope:
    """Return a scope that is made on the running event loop."""
    from kraftproof.cluster.live.scope import LiveScope

    return LiveScope()


def _silent(line: str) -> None:
    """Take a line of progress that nobody reads."""
    del line
