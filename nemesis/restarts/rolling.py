"""Restart all nodes in turn: the next node stops once the cluster is ready again."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kraftproof.cluster.protocol import Capability, ClusterError, Link, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, Roles, Target, process_ids
from kraftproof.nemesis.kill import changed
from kraftproof.nemesis.restarts.stop import SECOND_NS, skipped_if_unable_to_stop, stop

POLL_NS = 50_000_000
STOP_NS = 20 * SECOND_NS
"""Longest time of one stop, in nanoseconds: ten seconds of waiting, and the kill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingRestart:
    """Stop and start of all nodes, one after the other; each waits until the cluster is ready.

    Attributes:
        order: The nodes in the order of their restarts.
        ready_ns: Longest time from the start of a node to a ready cluster, in nanoseconds.
    """

    kind: ClassVar[str] = "rolling"
    requires: ClassVar[Capability] = Capability.RESTART
    order: tuple[int, ...]
    ready_ns: int = 60 * SECOND_NS

    @property
    def call_limit_ns(self) -> int:
        """Longest time of all restarts, in nanoseconds."""
        return len(self.order) * (STOP_NS + self.ready_ns)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every node, in the order of the restarts."""
        return self.order

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "RollingRestart":
        """Return the fault as it is, since the fault names no roles."""
        del roles, nodes
        return self

    def describe(self) -> str:
        """Name the nodes in their order."""
        return f"rolling restart of nodes {', '.join(map(str, self.order))}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start all {len(self.order)} nodes"

    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if no node can stop in order."""
        reasons = [await skipped_if_unable_to_stop(context, node_id) for node_id in self.order]
        return "no node runs" if all(reasons) else None

    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process ids of the nodes that can stop in order."""
        able = [n for n in self.order if await skipped_if_unable_to_stop(context, n) is None]
        return await process_ids(context, able)

    async def apply(self, context: FaultContext) -> None:
        """Restart the nodes in turn.

        Raises:
            ClusterError: the cluster is not ready in time after a restart; the rest stays up.
        """
        for node_id in self.order:
            if await skipped_if_unable_to_stop(context, node_id) is not None:
                continue
            stop_s = await stop(context, node_id)
            await context.start_if_down(node_id)
            ready_s = await self._wait_until_ready(context, node_id)
            context.note(self, f"node {node_id} {stop_s:.2f} s down, ready after {ready_s:.2f} s")

    async def _wait_until_ready(self, context: FaultContext, node_id: int) -> float:
        scope = context.cluster.scope
        began_ns = scope.now()
        while (lacks := await self._lacks(context, node_id)) is not None:
            if scope.now() - began_ns > self.ready_ns:
                raise ClusterError(
                    f"node {node_id}: {self.ready_ns // SECOND_NS} s after its restart the cluster "
                    f"is not ready: {lacks}"
                )
            await scope.sleep(POLL_NS)
        return (scope.now() - began_ns) / SECOND_NS

    async def _lacks(self, context: FaultContext, node_id: int) -> str | None:
        """Return what the cluster lacks to be ready, also an answer of the node to another node."""
        cluster = context.cluster
        if (lacks := await cluster.lacks()) is not None:
            return lacks
        others = [n for n in self.order if n != node_id]
        for other in others:
            if await cluster.round_trip(Link(other, node_id)):
                return None
        return f"node {node_id} answers no other node" if others else None

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the times of each restart once every process is replaced."""
        if await changed(context, baseline) is None:
            return None
        return "; ".join(context.notes(self))

    async def heal(self, context: FaultContext) -> None:
        """Start the nodes that are down."""
        for node_id in self.order:
            await context.start_if_down(node_id)


def plan_rolling(random: Random, nodes: Sequence[NodeInfo], /) -> RollingRestart:
    """Draw the order of the nodes."""
    order = [node.node_id for node in nodes]
    random.shuffle(order)
    return RollingRestart(order=tuple(order))
