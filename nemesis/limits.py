"""Limit the processor time or the memory of one node, as a crowded machine does."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.capabilities import LimitCapable
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target
from kraftproof.nemesis.one_node import OneNode

MEBIBYTE = 1 << 20
FULL = 0.99
"""Share of its memory limit that a node must use, where the kernel counts no refusals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuLimit(OneNode):
    """Give a node only a share of one processor.

    Attributes:
        share: Share of one processor, between 0.01 and 1.
    """

    kind: ClassVar[str] = "cpu"
    requires: ClassVar[Capability] = Capability.CPU
    share: float

    def describe(self) -> str:
        """Name the node and the share."""
        return f"node {self.target} at {self.share:.0%} of a processor"

    def describe_heal(self) -> str:
        """Say that the limit ends."""
        return f"node {self.target} without limit of its processor time"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the number of throttled periods so far."""
        usage = await _limits(context).usage(self.node_id)
        return {self.node_id: None if usage is None else usage.throttled}

    async def apply(self, context: FaultContext) -> None:
        """Set the limit."""
        await _limits(context).limit_cpu(self.node_id, self.share)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the throttled time, once the kernel has throttled the node."""
        usage = await _limits(context).usage(self.node_id)
        if usage is None or usage.throttled <= (baseline[self.node_id] or 0):
            return None
        return f"node {self.target} waited {usage.throttled_ns / 1e9:.2f} s for its processor"

    async def heal(self, context: FaultContext) -> None:
        """Remove the limit."""
        await _limits(context).limit_cpu(self.node_id, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLimit(OneNode):
    """Limit a node to its present memory: the kernel takes pages away, or ends the node.

    An idle node may give memory back. A look without evidence sets the limit again, at the present
    memory.

    Attributes:
        slack: Memory that the node may use in addition, in bytes; negative takes memory away.
    """

    kind: ClassVar[str] = "memory"
    requires: ClassVar[Capability] = Capability.MEMORY
    slack: int = 0

    def describe(self) -> str:
        """Name the node and the slack."""
        return f"node {self.target} at its present memory {self.slack / MEBIBYTE:+g} MiB"

    def describe_heal(self) -> str:
        """Say that the limit ends, and that the node runs."""
        return f"node {self.target} with its memory again, start node {self.target} if down"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the number of allocations that met a limit so far."""
        usage = await _limits(context).usage(self.node_id)
        return {self.node_id: None if usage is None else usage.at_memory_limit}

    async def apply(self, context: FaultContext) -> None:
        """Set the limit."""
        limit = await _limits(context).limit_memory(self.node_id, self.slack)
        if limit is not None:
            context.note(self, f"limit {limit / MEBIBYTE:.1f} MiB")

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once an allocation met the limit, or the kernel ended the node."""
        usage = await _limits(context).usage(self.node_id)
        if usage is None:
            return None
        limit = context.notes(self)[-1] if context.notes(self) else "limit unknown"
        if await context.down(self.node_id) and usage.is_out_of_memory:
            return f"node {self.target} was ended for lack of memory ({limit})"
        before = baseline[self.node_id]
        if usage.at_memory_limit is None or before is None:
            is_full = usage.memory >= FULL * usage.memory_limit
            if is_full:
                used = f"{usage.memory / MEBIBYTE:.1f} MiB"
                return f"node {self.target} uses {used} ({limit})"
        elif usage.at_memory_limit > before:
            met = usage.at_memory_limit - before
            return f"node {self.target} met its limit {met} times ({limit})"
        await self.apply(context)
        return None

    async def heal(self, context: FaultContext) -> None:
        """Remove the limit, and start the node if the kernel ended the node."""
        await _limits(context).limit_memory(self.node_id, None)
        await context.start_if_down(self.node_id)


def _limits(context: FaultContext) -> LimitCapable:
    assert isinstance(context.cluster, LimitCapable), "its capabilities say that it is"
    return context.cluster


def plan_cpu(random: Random, nodes: Sequence[NodeInfo], /) -> CpuLimit:
    """Draw a node, and 1, 2 or 5 percent of a processor: an idle node needs little time."""
    return CpuLimit(target=draw_target(random, nodes), share=random.choice((0.01, 0.02, 0.05)))


def plan_memory(random: Random, nodes: Sequence[NodeInfo], /) -> MemoryLimit:
    """Draw a node, and a limit at its present memory, or 0.25 or 1 MiB below."""
    slack = random.choice((0, -MEBIBYTE // 4, -MEBIBYTE))
    return MemoryLimit(target=draw_target(random, nodes), slack=slack)
