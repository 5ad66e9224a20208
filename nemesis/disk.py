"""Disk faults of one node: a full, failing, slow or wiped disk.

A node exits when its disk fails, and keeps all data that the node has acknowledged. The heal
repairs the disk and starts the node. See lose_unsynced.py for data loss by a power failure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.capabilities import (
    DirectoryFaultCapable,
    DiskFailureMode,
    DiskFailureReporting,
    DiskFault,
    DiskFaultCapable,
)
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, EndsLate, FaultContext, deciding, draw_target
from kraftproof.nemesis.one_node import OneNode

LATE_END_NS: Final = 15_000_000_000
"""Time after the repair in which a node may end because of the fault."""
LATE_LOOK_NS: Final = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BadDisk(OneNode, EndsLate):
    """A bad disk of one node; the heal repairs the disk and starts the node."""

    kind: ClassVar[str]
    trouble: DiskFault

    def describe(self) -> str:
        """Name the kind of failure and the node."""
        failure = f" of {self.trouble.failure}s" if self.kind == DiskError.kind else ""
        return f"{self.kind}{failure} at node {self.target}"

    def describe_heal(self) -> str:
        """Name the repair and the start."""
        return f"mend the disk of node {self.target}, start it"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the number of disk operations that faults have affected so far."""
        return {self.node_id: await harming(context).disk_fault_count(self.node_id)}

    async def apply(self, context: FaultContext) -> None:
        """Make the disk bad."""
        await harming(context).add_disk_fault(self.node_id, self.trouble)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the number of affected disk operations, once an operation is affected."""
        harms = await harming(context).disk_fault_count(self.node_id) - (
            baseline[self.node_id] or 0
        )
        ending = ", which has ended" if harms and await context.down(self.node_id) else ""
        return f"{harms} operations of node {self.target}{ending}" if harms else None

    async def heal(self, context: FaultContext) -> None:
        """Repair the disk, and start the node if the node has exited."""
        await harming(context).remove_disk_fault(self.node_id, self.trouble)
        await context.start_if_down(self.node_id)

    @override
    def may_end_late(self, context: FaultContext) -> bool:
        """Return whether the cluster is live: a simulated node ends at the failed operation."""
        return self.trouble.failure is not None and isinstance(
            context.cluster, DiskFailureReporting
        )

    @override
    async def ended_late(self, context: FaultContext) -> str | None:
        """Return that the node has ended, if its last line names the failed disk."""
        cluster = context.cluster
        assert isinstance(cluster, DiskFailureReporting), "see may_end_late"
        process_id, healed_ns = await cluster.process_id(self.node_id), cluster.scope.now()
        while await cluster.process_id(self.node_id) == process_id:
            if cluster.scope.now() - healed_ns > LATE_END_NS:
                return None
            await cluster.scope.sleep(LATE_LOOK_NS)
        line = await cluster.disk_failure_line(self.node_id)
        late_s = (cluster.scope.now() - healed_ns) / 1e9
        return line and f"ended {late_s:.1f} s after the repair of its disk: {line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFull(BadDisk):
    """Let writes fail with ENOSPC: no space is left."""

    kind: ClassVar[str] = "disk-full"
    requires: ClassVar[Capability] = Capability.DISK_FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskError(BadDisk):
    """Let writes or fsyncs fail with EIO."""

    kind: ClassVar[str] = "disk-error"
    requires: ClassVar[Capability] = Capability.DISK_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowDisk(BadDisk):
    """Delay each fsync."""

    kind: ClassVar[str] = "slow-disk"
    requires: ClassVar[Capability] = Capability.SLOW_DISK


@dataclass(frozen=True, slots=True, kw_only=True)
class Wipe(OneNode):
    """A broker loses its disk and restarts with an empty disk that is formatted like the first.

    Voters are never wiped: a voter that forgets its vote and its acknowledged records breaks an
    assumption of Raft. KIP-853 makes a wipe of a voter safe by directory ids, and this project
    does not implement KIP-853.
    """

    kind: ClassVar[str] = "wipe"
    requires: ClassVar[Capability] = Capability.WIPE

    def describe(self) -> str:
        """Name the node."""
        return f"wipe the disk of node {self.target}"

    def describe_heal(self) -> str:
        """Name the start from an empty disk."""
        return f"start node {self.target} from an empty disk"

    @override
    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if the node is a voter; a wipe works on a stopped node as well."""
        (node,) = [node for node in context.cluster.nodes if node.node_id == self.node_id]
        return f"node {self.target} is a voter" if node.has("controller") else None

    async def apply(self, context: FaultContext) -> None:
        """Wipe the disk."""
        await harming(context).wipe(self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once the node is down; the wipe itself formats the disk."""
        del baseline
        return f"node {self.target} has ended" if await context.down(self.node_id) else None

    async def heal(self, context: FaultContext) -> None:
        """Start the node."""
        await context.start_if_down(self.node_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedDirectory(OneNode):
    """The disk of one of a broker's log directories fails for good.

    The broker goes on with its other directory. The heal ends the broker and starts it with the
    old disk, or with an empty disk if no ISR needs the records of the old one.
    """

    kind: ClassVar[str] = "failed-directory"
    requires: ClassVar[Capability] = Capability.FAILED_DIRECTORY

    def describe(self) -> str:
        """Name the node."""
        return f"fail the disk of a log directory of node {self.target}"

    def describe_heal(self) -> str:
        """Name the replacement and the start."""
        return f"replace the disk of node {self.target}, start it"

    async def apply(self, context: FaultContext) -> None:
        """Let the disk fail."""
        await losing(context).fail_directory(self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the reaction of the node."""
        del baseline
        return await losing(context).directory_failure_observed(self.node_id)

    async def heal(self, context: FaultContext) -> None:
        """Replace the disk, and start the node."""
        await losing(context).end_directory_failure(self.node_id)
        await context.start_if_down(self.node_id)


def losing(context: FaultContext) -> DirectoryFaultCapable:
    """Return the cluster typed as a cluster with log directories that fail."""
    assert isinstance(context.cluster, DirectoryFaultCapable), "its capabilities say that it is"
    return context.cluster


def harming(context: FaultContext) -> DiskFaultCapable:
    """Return the cluster typed as a cluster with disk faults."""
    assert isinstance(context.cluster, DiskFaultCapable), "its capabilities say that it is"
    return context.cluster


def plan_disk_full(random: Random, nodes: Sequence[NodeInfo], /) -> DiskFull:
    """Draw a node whose disk gets full."""
    return DiskFull(target=draw_target(random, nodes), trouble=DiskFault(failure="full"))


def plan_disk_error(random: Random, nodes: Sequence[NodeInfo], /) -> DiskError:
    """Draw a node, and either failing writes or failing fsyncs.

    Fsyncs fail at the deciding nodes: voters fsync before each acknowledgement, brokers seldom.
    """
    failure: DiskFailureMode = "write" if random.random() < 0.4 else "fsync"
    targets = nodes if failure == "write" else deciding(nodes)
    return DiskError(target=draw_target(random, targets), trouble=DiskFault(failure=failure))


def plan_slow_disk(random: Random, nodes: Sequence[NodeInfo], /) -> SlowDisk:
    """Draw a node whose fsyncs take up to 50, 300 or 1200 ms."""
    slow_ns = random.choice((50_000_000, 300_000_000, 1_200_000_000))
    target = draw_target(random, deciding(nodes))
    return SlowDisk(target=target, trouble=DiskFault(slow_ns=slow_ns))


def plan_wipe(random: Random, nodes: Sequence[NodeInfo], /) -> Wipe:
    """Draw a broker that does not vote; without such a broker the injector skips the fault."""
    brokers = [node.node_id for node in nodes if not node.has("controller")]
    return Wipe(target=random.choice(brokers or [node.node_id for node in nodes]))


def plan_failed_directory(random: Random, nodes: Sequence[NodeInfo], /) -> FailedDirectory:
    """Draw a broker; a run with this fault gives each broker a disk for each log directory."""
    brokers = [node.node_id for node in nodes if node.has("broker")]
    return FailedDirectory(target=random.choice(brokers or [node.node_id for node in nodes]))
