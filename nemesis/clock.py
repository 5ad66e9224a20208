"""Clock faults of one node: a shifted or jumping wall clock, a monotonic clock of a wrong rate.

The protocol never relies on wall clocks, so a wall-clock fault excuses no violation. A monotonic
clock of a wrong rate makes the node's sessions shorter or longer by the same factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kraftproof.cluster.capabilities import ClockFaultCapable, WallClockFaultCapable
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target
from kraftproof.nemesis.one_node import OneNode

SECOND_NS = 1_000_000_000
LARGEST_RATE_PPM = 50_000
"""Largest error of a monotonic clock's rate, in parts per million."""
LARGEST_WALL_RATE_PPM = 500_000
"""Largest error of a wall clock's rate, in parts per million."""
LEAST_DRIFT_NS = 50_000_000
"""Reported offset that is the evidence of a drift, in nanoseconds."""
TOLERANCE_NS = SECOND_NS
"""Accepted difference between the reported and the set wall-clock offset, in nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBump(OneNode):
    """Set a node's wall clock ahead or back."""

    kind: ClassVar[str] = "clock"
    requires: ClassVar[Capability] = Capability.CLOCK
    offset_ns: int

    def describe(self) -> str:
        """Name the node and the offset."""
        return f"clock of node {self.target} by {self.offset_ns / SECOND_NS:+.1f} s"

    def describe_heal(self) -> str:
        """Name the true time."""
        return f"clock of node {self.target} back to true time"

    async def apply(self, context: FaultContext) -> None:
        """Shift the wall clock."""
        await context.cluster.shift_clock(self.node_id, self.offset_ns)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the offset that the node reports, once the offset is close to the one set."""
        del baseline
        reported = await context.cluster.wall_clock_offset(self.node_id)
        if reported is None or abs(reported - self.offset_ns) > TOLERANCE_NS:
            return None
        return f"node {self.target} reports {reported / SECOND_NS:+.3f} s"

    async def heal(self, context: FaultContext) -> None:
        """Set the wall clock to true time."""
        await context.cluster.shift_clock(self.node_id, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockStrobe(OneNode):
    """Make a node's wall clock jump between true time and an offset."""

    kind: ClassVar[str] = "clock-strobe"
    requires: ClassVar[Capability] = Capability.CLOCK_STROBE
    offset_ns: int
    period_ns: int

    def describe(self) -> str:
        """Name the node, the offset and the period."""
        return (
            f"clock of node {self.target} to and fro by {self.offset_ns / SECOND_NS:+.1f} s "
            f"each {self.period_ns / 1_000_000:.0f} ms"
        )

    def describe_heal(self) -> str:
        """Say that the clock stops jumping."""
        return f"clock of node {self.target} still"

    async def apply(self, context: FaultContext) -> None:
        """Start the jumps."""
        await _wall_clocks(context).strobe_clock(self.node_id, self.offset_ns, self.period_ns)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the offset that the node reports, if the node reports at least half of it."""
        del baseline
        reported = await context.cluster.wall_clock_offset(self.node_id)
        if reported is None or abs(reported) < abs(self.offset_ns) / 2:
            return None
        return f"node {self.target} reports {reported / SECOND_NS:+.3f} s"

    async def heal(self, context: FaultContext) -> None:
        """Stop the jumps."""
        await _wall_clocks(context).strobe_clock(self.node_id, 0, self.period_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(OneNode):
    """Let a node's monotonic clock run at a wrong rate; a heal does not undo the past error."""

    kind: ClassVar[str] = "drift"
    requires: ClassVar[Capability] = Capability.DRIFT
    rate_ppm: int

    def describe(self) -> str:
        """Name the node and the rate."""
        return f"monotonic clock of node {self.target} by {self.rate_ppm / 10_000:+.1f} %"

    def describe_heal(self) -> str:
        """Name the true rate."""
        return f"monotonic clock of node {self.target} at true rate"

    async def apply(self, context: FaultContext) -> None:
        """Set the wrong rate."""
        await _bending(context).set_clock_rate(self.node_id, self.rate_ppm)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the rate of the node's clock, once the rate is the one set."""
        del baseline
        rate_ppm = await _bending(context).clock_rate(self.node_id)
        return f"rate {rate_ppm / 10_000:+.1f} %" if rate_ppm == self.rate_ppm else None

    async def heal(self, context: FaultContext) -> None:
        """Set the true rate."""
        await _bending(context).set_clock_rate(self.node_id, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDrift(OneNode):
    """Let a node's wall clock run too fast or too slow; the heal returns to true time."""

    kind: ClassVar[str] = "clock-drift"
    requires: ClassVar[Capability] = Capability.CLOCK_DRIFT
    rate_ppm: int

    def describe(self) -> str:
        """Name the node and the rate."""
        return f"wall clock of node {self.target} by {self.rate_ppm / 10_000:+.1f} %"

    def describe_heal(self) -> str:
        """Name the true time."""
        return f"wall clock of node {self.target} at true time and rate"

    async def apply(self, context: FaultContext) -> None:
        """Start the drift."""
        await _wall_clocks(context).drift_clock(self.node_id, self.rate_ppm)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the offset that the node reports, once the offset is off in this direction."""
        del baseline
        reported = await context.cluster.wall_clock_offset(self.node_id)
        if reported is None or reported * self.rate_ppm < 0 or abs(reported) < LEAST_DRIFT_NS:
            return None
        return f"node {self.target} reports {reported / SECOND_NS:+.3f} s"

    async def heal(self, context: FaultContext) -> None:
        """Stop the drift, and set the wall clock to true time."""
        await _wall_clocks(context).drift_clock(self.node_id, 0)


def rate_error(names: Sequence[str]) -> float:
    """Return the largest relative error of a monotonic clock under these nemeses."""
    return LARGEST_RATE_PPM / 1_000_000 if Drift.kind in names else 0.0


def _bending(context: FaultContext) -> ClockFaultCapable:
    assert isinstance(context.cluster, ClockFaultCapable), "its capabilities say that it is"
    return context.cluster


def _wall_clocks(context: FaultContext) -> WallClockFaultCapable:
    assert isinstance(context.cluster, WallClockFaultCapable), "its capabilities say that it is"
    return context.cluster


def plan_clock(random: Random, nodes: Sequence[NodeInfo], /) -> ClockBump:
    """Draw a node, and an offset of 3 to 60 s ahead or back."""
    target = draw_target(random, nodes)
    seconds = random.uniform(3, 60) * random.choice((-1, 1))
    return ClockBump(target=target, offset_ns=int(seconds * SECOND_NS))


def plan_clock_strobe(random: Random, nodes: Sequence[NodeInfo], /) -> ClockStrobe:
    """Draw a node, an offset of 0.2, 3 or 30 s ahead or back, and a period of 0.5 to 400 ms."""
    seconds = random.choice((0.2, 3.0, 30.0)) * random.choice((-1, 1))
    return ClockStrobe(
        target=draw_target(random, nodes),
        offset_ns=int(seconds * SECOND_NS),
        period_ns=int(random.choice((0.001, 0.02, 0.4)) * random.uniform(0.5, 1.0) * SECOND_NS),
    )


def plan_drift(random: Random, nodes: Sequence[NodeInfo], /) -> Drift:
    """Draw a node, and a rate that is wrong by 1 to 5 percent."""
    rate_ppm = int(random.uniform(10_000, LARGEST_RATE_PPM)) * random.choice((-1, 1))
    return Drift(target=draw_target(random, nodes), rate_ppm=rate_ppm)


def plan_clock_drift(random: Random, nodes: Sequence[NodeInfo], /) -> ClockDrift:
    """Draw a node, and a wall clock that is wrong by 5 to 50 percent."""
    rate_ppm = int(random.uniform(50_000, LARGEST_WALL_RATE_PPM)) * random.choice((-1, 1))
    return ClockDrift(target=draw_target(random, nodes), rate_ppm=rate_ppm)
