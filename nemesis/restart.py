"""SIGTERM, wait, start: an orderly restart of one node."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Before, World, draw_target, moot_if_down, process_ids
from kraftproof.nemesis.kill import changed
from kraftproof.nemesis.one_node import OneNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(OneNode):
    """Stop one node in an orderly way; healed by starting it again."""

    kind: ClassVar[str] = "restart"
    requires: ClassVar[Capability] = Capability.RESTART

    def describe(self) -> str:
        """Name the node."""
        return f"restart node {self.target}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start node {self.target}"

    @override
    async def moot(self, world: World) -> str | None:
        """A node that is down or paused does not hear SIGTERM."""
        node_id = self.node_id
        if await world.cluster.is_paused(node_id):
            return f"node {node_id} is paused"
        return await moot_if_down(world, node_id)

    @override
    async def before(self, world: World) -> Before:
        """Note the process id."""
        return await process_ids(world, [self.node_id])

    async def apply(self, world: World) -> None:
        """Stop and start it."""
        await world.cluster.stop_node(self.node_id)
        await world.start_if_down(self.node_id)

    async def bitten(self, world: World, before: Before) -> str | None:
        """The process id has changed."""
        return await changed(world, before)

    async def heal(self, world: World) -> None:
        """Start it, should it be down."""
        await world.start_if_down(self.node_id)


def plan_restart(random: Random, nodes: Sequence[NodeInfo], /) -> Restart:
    """Draw a node to restart."""
    return Restart(target=draw_target(random, nodes))
