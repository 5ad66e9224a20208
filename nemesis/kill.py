"""SIGKILL of one node, or of every node at once. Not: loss of unsynced writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Before, Roles, Target, World, draw_target, process_ids
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
    async def before(self, world: World) -> Before:
        """Note the process id."""
        return await process_ids(world, [self.node_id])

    async def apply(self, world: World) -> None:
        """Kill it."""
        await world.cluster.kill(self.node_id)

    async def bitten(self, world: World, before: Before) -> str | None:
        """The process id has changed, or is gone."""
        return await changed(world, before)

    async def heal(self, world: World) -> None:
        """Start it."""
        await world.start_if_down(self.node_id)


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

    async def moot(self, world: World) -> str | None:
        """It takes one node that is up."""
        for node_id in self.node_ids:
            if not await world.down(node_id):
                return None
        return "every node is down already"

    async def before(self, world: World) -> Before:
        """Note the process ids of those that are up."""
        found = await process_ids(world, self.node_ids)
        return {node_id: pid for node_id, pid in found.items() if pid is not None}

    async def apply(self, world: World) -> None:
        """Kill them all beside each other."""
        scope = world.cluster.scope
        tasks = [scope.spawn(world.cluster.kill(node_id)) for node_id in self.node_ids]
        for task in tasks:
            await task

    async def bitten(self, world: World, before: Before) -> str | None:
        """Every process id has changed, or is gone."""
        return await changed(world, before)

    async def heal(self, world: World) -> None:
        """Start them all beside each other."""
        scope = world.cluster.scope
        tasks = [scope.spawn(world.start_if_down(node_id)) for node_id in self.node_ids]
        for task in tasks:
            await task


async def changed(world: World, before: Before) -> str | None:
    """Return what became of the processes when all of them are other ones or gone."""
    after = await process_ids(world, list(before))
    if any(after[node_id] == before[node_id] for node_id in before):
        return None
    return ", ".join(
        f"node {node_id}: process {before[node_id]} ended" for node_id in sorted(before)
    )


def plan_kill(random: Random, nodes: Sequence[NodeInfo], /) -> Kill:
    """Draw a node to kill."""
    return Kill(target=draw_target(random, nodes))


def plan_kill_all(random: Random, nodes: Sequence[NodeInfo], /) -> KillAll:
    """Kill them all."""
    del random
    return KillAll(node_ids=tuple(node.node_id for node in nodes))
