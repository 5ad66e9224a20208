"""A step of one node's wall clock. Not: its monotonic clock, which no fault here touches."""

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

SECOND_NS = 1_000_000_000
TOLERANCE_NS = SECOND_NS
"""How far the reported offset may be from the one that was set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBump:
    """Set a node's wall clock ahead or behind."""

    kind: ClassVar[str] = "clock"
    requires: ClassVar[Capability] = Capability.CLOCK
    target: Target
    offset_ns: int

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one node."""
        return (self.target,)

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "ClockBump":
        """Return it with a node id."""
        return replace(self, target=resolve(self.target, roles, nodes))

    def describe(self) -> str:
        """Name the node and the offset."""
        return f"clock of node {self.target} by {self.offset_ns / SECOND_NS:+.1f} s"

    def describe_heal(self) -> str:
        """Name the true time."""
        return f"clock of node {self.target} back to true time"

    async def moot(self, world: World) -> str | None:
        """A node that is down tells no time."""
        return await moot_if_down(world, as_node(self.target))

    async def before(self, world: World) -> Before:
        """Nothing needs noting."""
        del world
        return {}

    async def apply(self, world: World) -> None:
        """Shift it."""
        await world.cluster.shift_clock(as_node(self.target), self.offset_ns)

    async def bitten(self, world: World, before: Before) -> str | None:
        """The node itself reports the offset."""
        del before
        reported = await world.cluster.wall_clock_offset(as_node(self.target))
        if reported is None or abs(reported - self.offset_ns) > TOLERANCE_NS:
            return None
        return f"node {self.target} reports {reported / SECOND_NS:+.3f} s"

    async def heal(self, world: World) -> None:
        """Set it right."""
        await world.cluster.shift_clock(as_node(self.target), 0)


def plan_clock(random: Random, nodes: Sequence[NodeInfo], /) -> ClockBump:
    """Draw a node, and an offset of 3 to 60 s to either side."""
    target = draw_target(random, nodes)
    seconds = random.uniform(3, 60) * random.choice((-1, 1))
    return ClockBump(target=target, offset_ns=int(seconds * SECOND_NS))
