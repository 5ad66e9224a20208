"""Stop one node with the stop signal of its deployment; the node is away until the heal."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import (
    Baseline,
    FaultContext,
    draw_target,
    process_ids,
    skipped_if_down,
)
from kraftproof.nemesis.kill import changed
from kraftproof.nemesis.one_node import OneNode

SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(OneNode):
    """The stop signal (SIGTERM) to one node, which ends in order; the heal starts the node."""

    kind: ClassVar[str] = "stop"
    requires: ClassVar[Capability] = Capability.RESTART

    def describe(self) -> str:
        """Name the signal and the node."""
        return f"stop signal to node {self.target}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start node {self.target}"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if the node is down or paused; a paused process can't handle a signal."""
        return await skipped_if_unable_to_stop(context, self.node_id)

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process id."""
        return await process_ids(context, [self.node_id])

    async def apply(self, context: FaultContext) -> None:
        """Send the signal and wait for the exit; the cluster kills the node after ten seconds."""
        seconds = await stop(context, self.node_id)
        context.note(self, f"{seconds:.2f} s after its stop signal")

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once the process is gone or replaced."""
        ended = await changed(context, baseline)
        return None if ended is None else " ".join((ended, *context.notes(self)))

    async def heal(self, context: FaultContext) -> None:
        """Start the node."""
        await context.start_if_down(self.node_id)


async def skipped_if_unable_to_stop(context: FaultContext, node_id: int) -> str | None:
    """Return a reason if the node is down or paused, otherwise None."""
    if await context.cluster.is_paused(node_id):
        return f"node {node_id} is paused"
    return await skipped_if_down(context, node_id)


async def stop(context: FaultContext, node_id: int) -> float:
    """Stop a node, and return the seconds until its process had ended."""
    scope = context.cluster.scope
    began_ns = scope.now()
    await context.cluster.stop_node(node_id)
    return (scope.now() - began_ns) / SECOND_NS


def plan_stop(random: Random, nodes: Sequence[NodeInfo], /) -> Stop:
    """Draw a node to stop."""
    return Stop(target=draw_target(random, nodes))
