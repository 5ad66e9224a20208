"""Restart one node in an orderly way: SIGTERM, wait for the exit, start."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(OneNode):
    """Stop and start one node; the heal starts a node that is still down."""

    kind: ClassVar[str] = "restart"
    requires: ClassVar[Capability] = Capability.RESTART

    def describe(self) -> str:
        """Name the node."""
        return f"restart node {self.target}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start node {self.target}"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if the node is down or paused; a paused process can't handle SIGTERM."""
        node_id = self.node_id
        if await context.cluster.is_paused(node_id):
            return f"node {node_id} is paused"
        return await skipped_if_down(context, node_id)

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process id."""
        return await process_ids(context, [self.node_id])

    async def apply(self, context: FaultContext) -> None:
        """Stop and start the node."""
        await context.cluster.stop_node(self.node_id)
        await context.start_if_down(self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once the process is replaced."""
        return await changed(context, baseline)

    async def heal(self, context: FaultContext) -> None:
        """Start the node if the node is down."""
        await context.start_if_down(self.node_id)


def plan_restart(random: Random, nodes: Sequence[NodeInfo], /) -> Restart:
    """Draw a node to restart."""
    return Restart(target=draw_target(random, nodes))
