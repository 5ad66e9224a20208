"""A cluster for plain functions: each method returns once the cluster has done its part.

Tests use it through the fixtures of the pytest plug-in. Time passes for a simulated cluster only
while one of its methods runs; a live node goes on meanwhile.
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

T = TypeVar("T")
SECOND_NS = 1_000_000_000
READY_TIMEOUT_S = 30.0
OUTPUT_NAME = "output.log"
LINES_SHOWN = 5


class Drive(Protocol):
    """Runs a coroutine of a cluster to its end."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Return what the coroutine returns, or raise what it raises."""
        ...


class SyncCluster:
    """A cluster for tests that are plain functions.

    Attributes:
        cluster: The cluster itself; `drive` runs its coroutines.
    """

    def __init__(self, cluster: Cluster, drive: Drive) -> None:
        self.cluster = cluster
        self._drive = drive
        self._cut: set[Link] = set()
        self._shifted: set[int] = set()

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """All nodes, by id."""
        return self.cluster.nodes

    def drive(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the cluster to its end."""
        return self._drive(coroutine)

    def bootstrap(self) -> str:
        """host:port list of the brokers for ordinary clients; empty in simulation."""
        return self.cluster.bootstrap()

    def sleep(self, seconds: float) -> None:
        """Let time pass for the cluster, virtual time in simulation."""
        self.drive(self.cluster.scope.sleep(int(seconds * SECOND_NS)))

    # Processes

    def kill(self, node_id: int) -> None:
        """End a node's process with SIGKILL."""
        self.drive(self.cluster.kill(self._known(node_id)))

    def stop_node(self, node_id: int) -> None:
        """End a node's process with SIGTERM, and wait for its end."""
        self.drive(self.cluster.stop_node(self._known(node_id)))

    def start_node(self, node_id: int) -> None:
        """Start a node that is down."""
        self.drive(self.cluster.start_node(self._known(node_id)))

    def pause(self, node_id: int) -> None:
        """Stop a node's process where it stands."""
        self.drive(self.cluster.pause(self._known(node_id)))

    def resume(self, node_id: int) -> None:
        """Let a paused node go on."""
        self.drive(self.cluster.resume(self._known(node_id)))

    # Links

    def partition(self, *groups: Collection[int]) -> None:
        """Cut every link between nodes of different groups, both ways, until `heal`.

        Nodes that no group names form one more group: `partition({1})` isolates node 1.

        Raises:
            UsageError: a node is unknown or in two groups, or the backend can cut no link.
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
        """Cut the link from one node to another, one way only, until `heal`."""
        self._cut_links([(self._known(source), self._known(target))])

    def heal(self) -> None:
        """Heal every link that was cut, and set every clock right."""
        if self._cut:
            self.drive(self.cluster.heal(frozenset(self._cut)))
            self._cut.clear()
        for node_id in sorted(self._shifted):
            self.drive(self.cluster.shift_clock(node_id, 0))
        self._shifted.clear()

    def can_reach(self, source: int, target: int) -> bool:
        """Say whether a request of one node reaches another and its answer comes back."""
        from kraftproof.cluster.protocol import Link

        link = Link(self._known(source), self._known(target))
        return self.drive(self.cluster.round_trip(link))

    # Clocks

    def shift_clock(self, node_id: int, seconds: float) -> None:
        """Set a node's wall clock that far from the true time, until `heal`; 0 sets it right.

        Raises:
            UsageError: the node is unknown, or the backend can shift no clock.
        """
        from kraftproof.cluster.protocol import Capability

        self._require(Capability.CLOCK)
        self.drive(self.cluster.shift_clock(self._known(node_id), int(seconds * SECOND_NS)))
        self._shifted.add(node_id)

    def clock_offset(self, node_id: int) -> float | None:
        """Return the seconds that a node's wall clock is ahead; None if the node is down."""
        offset_ns = self.drive(self.cluster.wall_clock_offset(self._known(node_id)))
        return None if offset_ns is None else offset_ns / SECOND_NS

    # Readiness

    def wait_until_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Wait until every broker shows all brokers as unfenced.

        Raises:
            ClusterError: one does not in time; notes say what each node printed last.
        """
        from kraftproof.cluster.live.readiness import wait_until_ready
        from kraftproof.cluster.protocol import ClusterError

        try:
            self.drive(wait_until_ready(self.cluster, int(timeout_s * SECOND_NS)))
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
        try:
            text = (self.cluster.node_files(node_id) / OUTPUT_NAME).read_text(errors="replace")
        except OSError as error:
            return f"no output ({error.strerror})"
        return " / ".join(text.splitlines()[-LINES_SHOWN:]) or "nothing printed"


@contextmanager
def cluster_of(backend: str, options: ClusterOptions) -> Iterator[SyncCluster]:
    """A cluster that is up, and is taken down whatever happens meanwhile."""
    if backend == "simulated":
        from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

        simulated = SimulatedCluster(options)
        simulated.run(simulated.start())
        yield SyncCluster(simulated, simulated.run)
        return
    with asyncio.Runner() as runner:
        scope = runner.run(_live_scope())
        cluster = _live_cluster(backend, options, scope)
        try:
            runner.run(cluster.start())
            yield SyncCluster(cluster, runner.run)
        finally:
            runner.run(cluster.stop())
            runner.run(scope.cancel_rest())


async def _live_scope() -> LiveScope:
    """Made on the loop that it is for."""
    from kraftproof.cluster.live.scope import LiveScope

    return LiveScope()


def _live_cluster(backend: str, options: ClusterOptions, scope: LiveScope) -> Cluster:
    if backend == "docker":
        from kraftproof.cluster.docker.capabilities import require_extra

        require_extra()
        from kraftproof.cluster.docker.docker_cluster import DockerCluster

        return DockerCluster(options, scope)
    from kraftproof.cluster.local.local_cluster import LocalCluster

    return LocalCluster(options, scope)
