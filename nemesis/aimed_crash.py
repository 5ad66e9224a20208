"""Aimed crash: a node dies amid an append, or amid work on a snapshot or a truncation.

In scenarios/snapshots.py, other faults bring the later moments about. The heal starts the node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.capabilities import AimedCrashCapable, CrashAim, CrashMoment
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target, process_ids
from kraftproof.nemesis.kill import changed
from kraftproof.nemesis.one_node import OneNode

MAX_OPERATIONS = 16
"""Largest number of drawn changes of the disk; an installation takes about a dozen."""
AGAIN_SHARE = 0.3
POWER_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AimedCrash(OneNode):
    """A crash of a node at a moment of work; the heal starts the node."""

    kind: ClassVar[str] = "aimed-crash"
    requires: ClassVar[Capability] = Capability.AIMED_CRASH
    aim: CrashAim

    def describe(self) -> str:
        """Name the node and the moment."""
        times = "" if self.aim.operations_again is None else " twice"
        return f"crash node {self.target}{times} when {self.aim.moment}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start node {self.target}"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """Return no reason: a stopped node may start and come to the moment."""
        del context
        return None

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process id."""
        return await process_ids(context, [self.node_id])

    async def apply(self, context: FaultContext) -> None:
        """Aim at the node."""
        await _aiming(context).arm_crash(self.node_id, self.aim)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once the process is gone or replaced."""
        return await changed(context, baseline)

    async def heal(self, context: FaultContext) -> None:
        """Remove the aim, and start the node if the node is down."""
        await _aiming(context).disarm_crash(self.node_id)
        await context.start_if_down(self.node_id)


def _aiming(context: FaultContext) -> AimedCrashCapable:
    """Return the cluster typed as a cluster with aimed crashes."""
    assert isinstance(context.cluster, AimedCrashCapable), "its capabilities say that it is"
    return context.cluster


def draw_operations(random: Random) -> int:
    """Draw a number of changes of the disk, small numbers more often."""
    return int(random.random() ** 2 * MAX_OPERATIONS)


def draw_aim(random: Random, moment: CrashMoment) -> CrashAim:
    """Draw the operations before the crash, the loss of power, and a second crash."""
    return CrashAim(
        moment=moment,
        operations=draw_operations(random),
        loses_power=random.random() < POWER_SHARE,
        operations_again=draw_operations(random) if random.random() < AGAIN_SHARE else None,
    )


def plan_aimed_crash(random: Random, nodes: Sequence[NodeInfo], /) -> AimedCrash:
    """Draw a node, which crashes amid an append: the only work that every node surely does."""
    return AimedCrash(target=draw_target(random, nodes), aim=draw_aim(random, "appending"))
