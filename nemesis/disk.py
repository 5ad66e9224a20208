"""A node's disk that is full, fails, or is slow for a while.

A node whose disk refuses ends by itself, and has lost nothing that it has vouched for; it is
started again once the disk is mended. Not: what a loss of power takes away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.capabilities import DiskFailureMode, DiskFault, DiskFaultCapable
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target
from kraftproof.nemesis.one_node import OneNode


@dataclass(frozen=True, slots=True, kw_only=True)
class BadDisk(OneNode):
    """Trouble with one node's disk; healed by mending it and starting the node."""

    kind: ClassVar[str]
    trouble: DiskFault

    def describe(self) -> str:
        """Name the trouble and the node."""
        failure = f" of {self.trouble.failure}s" if self.kind == DiskError.kind else ""
        return f"{self.kind}{failure} at node {self.target}"

    def describe_heal(self) -> str:
        """Name the end."""
        return f"mend the disk of node {self.target}, start it"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Note how often the disk has been bad."""
        return {self.node_id: await harming(context).disk_fault_count(self.node_id)}

    async def apply(self, context: FaultContext) -> None:
        """Make it bad."""
        await harming(context).add_disk_fault(self.node_id, self.trouble)

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """An operation of the node has met with it."""
        harms = await harming(context).disk_fault_count(self.node_id) - (
            baseline[self.node_id] or 0
        )
        ending = ", which has ended" if harms and await context.down(self.node_id) else ""
        return f"{harms} operations of node {self.target}{ending}" if harms else None

    async def heal(self, context: FaultContext) -> None:
        """Mend it, and start the node if it has ended."""
        await harming(context).remove_disk_fault(self.node_id, self.trouble)
        await context.start_if_down(self.node_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFull(BadDisk):
    """No space is left: ENOSPC."""

    kind: ClassVar[str] = "disk-full"
    requires: ClassVar[Capability] = Capability.DISK_FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskError(BadDisk):
    """Writes or fsyncs fail: EIO."""

    kind: ClassVar[str] = "disk-error"
    requires: ClassVar[Capability] = Capability.DISK_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowDisk(BadDisk):
    """An fsync takes long."""

    kind: ClassVar[str] = "slow-disk"
    requires: ClassVar[Capability] = Capability.SLOW_DISK


@dataclass(frozen=True, slots=True, kw_only=True)
class Wipe(OneNode):
    """A broker loses its disk and comes back with a new one, formatted as the first was.

    Of brokers alone: a voter that forgets its vote and what it has acknowledged breaks the promises
    that Raft rests on. What makes that safe, directory ids, is KIP-853, which is not here.
    """

    kind: ClassVar[str] = "wipe"
    requires: ClassVar[Capability] = Capability.WIPE

    def describe(self) -> str:
        """Name the node."""
        return f"wipe the disk of node {self.target}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start node {self.target} from an empty disk"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """A disk can be lost whether its node runs or not; it must not vote."""
        (node,) = [node for node in context.cluster.nodes if node.node_id == self.node_id]
        return f"node {self.target} is a voter" if node.has("controller") else None

    async def apply(self, context: FaultContext) -> None:
        """Wipe it."""
        await harming(context).wipe(self.node_id)

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """The node is down, and its disk is as one that was just formatted."""
        del before
        return f"node {self.target} has ended" if await context.down(self.node_id) else None

    async def heal(self, context: FaultContext) -> None:
        """Start it."""
        await context.start_if_down(self.node_id)


def harming(context: FaultContext) -> DiskFaultCapable:
    """Return the cluster as one whose disks can be harmed."""
    assert isinstance(context.cluster, DiskFaultCapable), "its capabilities say that it is"
    return context.cluster


def plan_disk_full(random: Random, nodes: Sequence[NodeInfo], /) -> DiskFull:
    """Draw a node whose disk is full."""
    return DiskFull(target=draw_target(random, nodes), trouble=DiskFault(failure="full"))


def plan_disk_error(random: Random, nodes: Sequence[NodeInfo], /) -> DiskError:
    """Draw a node, and whether writes or fsyncs fail."""
    failure: DiskFailureMode = "write" if random.random() < 0.4 else "fsync"
    targets = nodes if failure == "write" else _often_synced(nodes)
    return DiskError(target=draw_target(random, targets), trouble=DiskFault(failure=failure))


def plan_slow_disk(random: Random, nodes: Sequence[NodeInfo], /) -> SlowDisk:
    """Draw a node whose fsyncs take up to 50, 300 or 1200 ms."""
    slow_ns = random.choice((50_000_000, 300_000_000, 1_200_000_000))
    target = draw_target(random, _often_synced(nodes))
    return SlowDisk(target=target, trouble=DiskFault(slow_ns=slow_ns))


def _often_synced(nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
    """Voters vouch for what they write; a node that doesn't seldom has an fsync to fail."""
    return [node for node in nodes if node.has("controller")]


def plan_wipe(random: Random, nodes: Sequence[NodeInfo], /) -> Wipe:
    """Draw a broker that does not vote; where there is none the fault will be moot."""
    brokers = [node.node_id for node in nodes if not node.has("controller")]
    return Wipe(target=random.choice(brokers or [node.node_id for node in nodes]))
