"""SIGSTOP of one node, SIGCONT to heal: a process that does not know it was away."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Before, World, draw_target, moot_if_down
from kraftproof.nemesis.one_node import OneNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(OneNode):
    """Stop one node's process where it stands."""

    kind: ClassVar[str] = "pause"
    requires: ClassVar[Capability] = Capability.PAUSE

    def describe(self) -> str:
        """Name the node."""
        return f"pause node {self.target}"

    def describe_heal(self) -> str:
        """Name the resume."""
        return f"resume node {self.target}"

    @override
    async def moot(self, world: World) -> str | None:
        """A node that is down or paused can't be paused."""
        node_id = self.node_id
        if await world.cluster.is_paused(node_id):
            return f"node {node_id} is paused already"
        return await moot_if_down(world, node_id)

    async def apply(self, world: World) -> None:
        """Pause it."""
        await world.cluster.pause(self.node_id)

    async def bitten(self, world: World, before: Before) -> str | None:
        """The operating system says that it is stopped."""
        del before
        node_id = self.node_id
        return f"node {node_id} is stopped" if await world.cluster.is_paused(node_id) else None

    async def heal(self, world: World) -> None:
        """Resume it, if it is still there and stopped."""
        node_id = self.node_id
        if not await world.down(node_id) and await world.cluster.is_paused(node_id):
            await world.cluster.resume(node_id)


def plan_pause(random: Random, nodes: Sequence[NodeInfo], /) -> Pause:
    """Draw a node to pause."""
    return Pause(target=draw_target(random, nodes))
