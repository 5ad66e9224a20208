"""Pause one node with SIGSTOP, and resume with SIGCONT: the process does not notice the gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target, skipped_if_down
from kraftproof.nemesis.one_node import OneNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(OneNode):
    """SIGSTOP of one node; the heal sends SIGCONT."""

    kind: ClassVar[str] = "pause"
    requires: ClassVar[Capability] = Capability.PAUSE

    def describe(self) -> str:
        """Name the node."""
        return f"pause node {self.target}"

    def describe_heal(self) -> str:
        """Name the resume."""
        return f"resume node {self.target}"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if the node is down or paused."""
        node_id = self.node_id
        if await context.cluster.is_paused(node_id):
            return f"node {node_id} is paused already"
        return await skipped_if_down(context, node_id)

    async def apply(self, context: FaultContext) -> None:
        """Pause the node."""
        await context.cluster.pause(self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once the operating system reports a stopped process."""
        del baseline
        node_id = self.node_id
        return f"node {node_id} is stopped" if await context.cluster.is_paused(node_id) else None

    async def heal(self, context: FaultContext) -> None:
        """Resume the node if its process still exists and is stopped."""
        node_id = self.node_id
        if not await context.down(node_id) and await context.cluster.is_paused(node_id):
            await context.cluster.resume(node_id)


def plan_pause(random: Random, nodes: Sequence[NodeInfo], /) -> Pause:
    """Draw a node to pause."""
    return Pause(target=draw_target(random, nodes))
