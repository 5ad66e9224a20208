"""SIGSTOP of one node, SIGCONT to heal: a process that does not know it was away."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from cluster.protocol import Capability, NodeInfo
from nemesis.fault import (
    Before,
    Roles,
    Target,
    World,
    as_node,
    draw_target,
    moot_if_down,
    resolve,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Stop one node's process where it stands."""

    kind: ClassVar[str] = "pause"
    requires: ClassVar[Capability] = Capability.PAUSE
    target: Target

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one node."""
        return (self.target,)

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "Pause":
        """Return it with a node id."""
        return replace(self, target=resolve(self.target, roles, nodes))

    def describe(self) -> str:
        """Name the node."""
        return f"pause node {self.target}"

    def describe_heal(self) -> str:
        """Name the resume."""
        return f"resume node {self.target}"

    async def moot(self, world: World) -> str | None:
        """A node that is down or paused can't be paused."""
        node_id = as_node(self.target)
        if await world.cluster.is_paused(node_id):
            return f"node {node_id} is paused already"
        return await moot_if_down(world, node_id)

    async def before(self, world: World) -> Before:
        """Nothing needs noting."""
        del world
        return {}

    async def apply(self, world: World) -> None:
        """Pause it."""
        await world.cluster.pause(as_node(self.target))

    async def bitten(self, world: World, before: Before) -> str | None:
        """The operating system says that it is stopped."""
        del before
        node_id = as_node(self.target)
        return f"node {node_id} is stopped" if await world.cluster.is_paused(node_id) else None

    async def heal(self, world: World) -> None:
        """Resume it, if it is still there and stopped."""
        node_id = as_node(self.target)
        if not await world.down(node_id) and await world.cluster.is_paused(node_id):
            await world.cluster.resume(node_id)


def plan_pause(random: Random, nodes: Sequence[NodeInfo], /) -> Pause:
    """Draw a node to pause."""
    return Pause(target=draw_target(random, nodes))
