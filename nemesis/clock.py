"""A step of one node's wall clock. Not: its monotonic clock, which no fault here touches."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from cluster.protocol import Capability, NodeInfo
from nemesis.fault import Before, World, draw_target
from nemesis.one_node import OneNode

SECOND_NS = 1_000_000_000
TOLERANCE_NS = SECOND_NS
"""How far the reported offset may be from the one that was set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBump(OneNode):
    """Set a node's wall clock ahead or behind."""

    kind: ClassVar[str] = "clock"
    requires: ClassVar[Capability] = Capability.CLOCK
    offset_ns: int

    def describe(self) -> str:
        """Name the node and the offset."""
        return f"clock of node {self.target} by {self.offset_ns / SECOND_NS:+.1f} s"

    def describe_heal(self) -> str:
        """Name the true time."""
        return f"clock of node {self.target} back to true time"

    async def apply(self, world: World) -> None:
        """Shift it."""
        await world.cluster.shift_clock(self.node_id, self.offset_ns)

    async def bitten(self, world: World, before: Before) -> str | None:
        """The node itself reports the offset."""
        del before
        reported = await world.cluster.wall_clock_offset(self.node_id)
        if reported is None or abs(reported - self.offset_ns) > TOLERANCE_NS:
            return None
        return f"node {self.target} reports {reported / SECOND_NS:+.3f} s"

    async def heal(self, world: World) -> None:
        """Set it right."""
        await world.cluster.shift_clock(self.node_id, 0)


def plan_clock(random: Random, nodes: Sequence[NodeInfo], /) -> ClockBump:
    """Draw a node, and an offset of 3 to 60 s to either side."""
    target = draw_target(random, nodes)
    seconds = random.uniform(3, 60) * random.choice((-1, 1))
    return ClockBump(target=target, offset_ns=int(seconds * SECOND_NS))
