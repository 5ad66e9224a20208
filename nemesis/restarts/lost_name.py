"""Restart one node while the names of the other nodes do not resolve there."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target, skipped_if_down
from kraftproof.nemesis.one_node import OneNode
from kraftproof.nemesis.restarts.taken_port import reaction, start_and_watch, starts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LostName(OneNode):
    """kill -9 of one node, and a start without the names of its peers; the heal restores them."""

    kind: ClassVar[str] = "lost-name"
    requires: ClassVar[Capability] = Capability.LOST_NAME

    def describe(self) -> str:
        """Name the node."""
        return f"restart of node {self.target} without the names of its peers"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"names of peers for node {self.target} again, start node {self.target} if down"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if the node is down, or knows its peers by address."""
        if not starts_of(context).names_in_use(self.node_id):
            return f"node {self.target} knows its peers by address"
        return await skipped_if_down(context, self.node_id)

    async def apply(self, context: FaultContext) -> None:
        """Kill the node, hide the names, and start the node."""
        await context.cluster.kill(self.node_id)
        await starts_of(context).hide_names(self.node_id)
        await start_and_watch(context, self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the reaction of the node, once none of the names resolves there."""
        del baseline
        names = await starts_of(context).unresolved(self.node_id)
        if not names:
            return None
        trouble = f"{', '.join(names)} did not resolve"
        return await reaction(context, self.node_id, trouble)

    async def heal(self, context: FaultContext) -> None:
        """Restore the names, and start the node if the node has ended."""
        await starts_of(context).restore_names(self.node_id)
        await context.start_if_down(self.node_id)


def plan_lost_name(random: Random, nodes: Sequence[NodeInfo], /) -> LostName:
    """Draw a node that loses the names of its peers."""
    return LostName(target=draw_target(random, nodes))
