"""Kill one node or all nodes with SIGKILL; see lose_unsynced.py for lost writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, Roles, Target, draw_target, process_ids
from kraftproof.nemesis.one_node import OneNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill(OneNode):
    """kill -9 of one node; the heal starts the node."""

    kind: ClassVar[str] = "kill"
    requires: ClassVar[Capability] = Capability.KILL

    def describe(self) -> str:
        """Name the signal and the node."""
        return f"kill -9 node {self.target}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start node {self.target}"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process id."""
        return await process_ids(context, [self.node_id])

    async def apply(self, context: FaultContext) -> None:
        """Kill the node."""
        await context.cluster.kill(self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once the process is gone or replaced."""
        return await changed(context, baseline)

    async def heal(self, context: FaultContext) -> None:
        """Start the node."""
        await context.start_if_down(self.node_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class KillAll:
    """kill -9 of all nodes at once; the heal starts all nodes."""

    kind: ClassVar[str] = "kill-all"
    requires: ClassVar[Capability] = Capability.KILL
    node_ids: tuple[int, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every node."""
        return self.node_ids

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "KillAll":
        """Return the fault as it is, since the fault names no roles."""
        del roles, nodes
        return self

    def describe(self) -> str:
        """Name the signal."""
        return f"kill -9 all {len(self.node_ids)} nodes"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start all {len(self.node_ids)} nodes"

    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if all nodes are down."""
        for node_id in self.node_ids:
            if not await context.down(node_id):
                return None
        return "every node is down already"

    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process ids of the running nodes."""
        found = await process_ids(context, self.node_ids)
        return {node_id: pid for node_id, pid in found.items() if pid is not None}

    async def apply(self, context: FaultContext) -> None:
        """Kill all nodes concurrently."""
        scope = context.cluster.scope
        tasks = [scope.spawn(context.cluster.kill(node_id)) for node_id in self.node_ids]
        for task in tasks:
            await task

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once all processes are gone or replaced."""
        return await changed(context, baseline)

    async def heal(self, context: FaultContext) -> None:
        """Start all nodes concurrently."""
        scope = context.cluster.scope
        tasks = [scope.spawn(context.start_if_down(node_id)) for node_id in self.node_ids]
        for task in tasks:
            await task


async def changed(context: FaultContext, baseline: Baseline) -> str | None:
    """Return the list of ended processes once every process is gone or replaced."""
    after = await process_ids(context, list(baseline))
    if any(after[node_id] == baseline[node_id] for node_id in baseline):
        return None
    return ", ".join(
        f"node {node_id}: process {baseline[node_id]} ended" for node_id in sorted(baseline)
    )


def plan_kill(random: Random, nodes: Sequence[NodeInfo], /) -> Kill:
    """Draw a node to kill."""
    return Kill(target=draw_target(random, nodes))


def plan_kill_all(random: Random, nodes: Sequence[NodeInfo], /) -> KillAll:
    """Return a kill of all nodes."""
    del random
    return KillAll(node_ids=tuple(node.node_id for node in nodes))
