"""Bit rot: a bit of a node's closed segment, snapshot or quorum-state flips.

The node restarts on the damaged file, or runs on until another fault restarts the node. The heal
restores the file, as an operator does from a copy, and starts the node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kraftproof.cluster.capabilities import BitRotCapable
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target
from kraftproof.nemesis.one_node import OneNode

RUNNING_SHARE = 0.3
"""Share of the faults that damage a file of a running node, without a restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitRot(OneNode):
    """A flipped bit in a durable file of a node; the heal restores the file."""

    kind: ClassVar[str] = "bit-rot"
    requires: ClassVar[Capability] = Capability.BIT_ROT
    is_running: bool = False
    """Whether the node runs on; otherwise the node is killed and started on the damaged file."""

    def describe(self) -> str:
        """Name the node."""
        return f"flip a bit on the disk of node {self.target}"

    def describe_heal(self) -> str:
        """Name the repair and the start."""
        return f"restore the file of node {self.target}, start it"

    async def apply(self, context: FaultContext) -> None:
        """Damage a file; unless the node runs on, kill the node before and start it after."""
        if not self.is_running:
            await context.cluster.kill(self.node_id)
        await _rotting(context).damage_file(self.node_id)
        await context.start_if_down(self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return what the node did about the damaged file."""
        del baseline
        return await _rotting(context).damage_observed(self.node_id)

    async def heal(self, context: FaultContext) -> None:
        """Restore the file, and start the node if the node is down."""
        await _rotting(context).restore_file(self.node_id)
        await context.start_if_down(self.node_id)


def _rotting(context: FaultContext) -> BitRotCapable:
    """Return the cluster typed as a cluster whose files can be damaged."""
    assert isinstance(context.cluster, BitRotCapable), "its capabilities say that it is"
    return context.cluster


def plan_bit_rot(random: Random, nodes: Sequence[NodeInfo], /) -> BitRot:
    """Draw a node, and whether the node runs on."""
    return BitRot(target=draw_target(random, nodes), is_running=random.random() < RUNNING_SHARE)
