"""SIGKILL of one node, or of every node at once. Not: loss of unsynced writes."""

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
    """kill -9 of one node; healed by starting it again."""

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
        """Note the process id."""
        return await process_ids(context, [self.node_id])

    async def apply(self, context: FaultContext) -> None:
        """Kill it."""
        await context.cluster.kill(self.node_id)

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """The process id has changed, or is gone."""
        return await changed(context, before)

    async def heal(self, context: FaultContext) -> None:
        """Start it."""
        await context.start_if_down(self.node_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class KillAll:
    """kill -9 of every node at once; healed by starting them all."""

    kind: ClassVar[str] = "kill-all"
    requires: ClassVar[Capability] = Capability.KILL
    node_ids: tuple[int, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every node."""
        return self.node_ids

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "KillAll":
        """It names no roles."""
        del roles, nodes
        return self

    def describe(self) -> str:
        """Name the signal."""
        return f"kill -9 all {len(self.node_ids)} nodes"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start all {len(self.node_ids)} nodes"

    async def skipped(self, context: FaultContext) -> str | None:
        """It takes one node that is up."""
        for node_id in self.node_ids:
            if not await context.down(node_id):
                return None
        return "every node is down already"

    async def baseline(self, context: FaultContext) -> Baseline:
        """Note the process ids of those that are up."""
        found = await process_ids(context, self.node_ids)
        return {node_id: pid for node_id, pid in found.items() if pid is not None}

    async def apply(self, context: FaultContext) -> None:
        """Kill them all beside each other."""
        scope = context.cluster.scope
        tasks = [scope.spawn(context.cluster.kill(node_id)) for node_id in self.node_ids]
        for task in tasks:
            await task

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """Every process id has changed, or is gone."""
        return await changed(context, before)

    async def heal(self, context: FaultContext) -> None:
        """Start them all beside each other."""
        scope = context.cluster.scope
        tasks = [scope.spawn(context.start_if_down(node_id)) for node_id in self.node_ids]
        for task in tasks:
            await task


async def changed(context: FaultContext, before: Baseline) -> str | None:
    """Return what became of the processes when all of them are other ones or gone."""
    after = await process_ids(context, list(before))
    if any(after[node_id] == baseline[node_id] for node_id in before):
        return None
    return ", ".join(
        f"node {node_id}: process {baseline[node_id]} ended" for node_id in sorted(before)
    )


def plan_kill(random: Random, nodes: Sequence[NodeInfo], /) -> Kill:
    """Draw a node to kill."""
    return Kill(target=draw_target(random, nodes))


def plan_kill_all(random: Random, nodes: Sequence[NodeInfo], /) -> KillAll:
    """Kill them all."""
    del random
    return KillAll(node_ids=tuple(node.node_id for node in nodes))
