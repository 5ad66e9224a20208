"""Power failure: nodes die and lose all writes that were not fsynced."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import (
    Baseline,
    FaultContext,
    Roles,
    Target,
    as_node,
    deciding,
    draw_target,
    process_ids,
    resolve,
)
from kraftproof.nemesis.kill import changed


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseUnsynced:
    """Kill nodes and drop their unsynced writes; the heal starts the nodes."""

    kind: ClassVar[str] = "lose-unsynced"
    requires: ClassVar[Capability] = Capability.LOSE_UNSYNCED
    victims: tuple[Target, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The nodes that lose power."""
        return self.victims

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "LoseUnsynced":
        """Return the fault with distinct node ids."""
        found = sorted({resolve(victim, roles, nodes) for victim in self.victims})
        return replace(self, victims=tuple(found))

    def describe(self) -> str:
        """Name the nodes."""
        return f"power failure of nodes {', '.join(map(str, self.victims))}"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"start nodes {', '.join(map(str, self.victims))}"

    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if all the nodes are down."""
        for victim in self.victims:
            if not await context.down(as_node(victim)):
                return None
        return "the nodes are down already"

    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the process ids of the running nodes."""
        found = await process_ids(context, [as_node(victim) for victim in self.victims])
        return {node_id: pid for node_id, pid in found.items() if pid is not None}

    async def apply(self, context: FaultContext) -> None:
        """Cut the power of each running node, without a pause between nodes."""
        for victim in self.victims:
            if not await context.down(as_node(victim)):
                await context.cluster.lose_unsynced(as_node(victim))

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once all processes are gone; lost writes are not measured."""
        return await changed(context, baseline)

    async def heal(self, context: FaultContext) -> None:
        """Start the nodes."""
        for victim in self.victims:
            await context.start_if_down(as_node(victim))


def plan_lose_unsynced(random: Random, nodes: Sequence[NodeInfo], /) -> LoseUnsynced:
    """Draw the victims: a node, every node, every deciding node, or every such node but one."""
    decisive = [node.node_id for node in deciding(nodes)]
    shape = random.randrange(4)
    victims: tuple[Target, ...]
    if shape == 0:
        victims = tuple(node.node_id for node in nodes)
    elif shape == 1:
        victims = tuple(decisive)
    elif shape == 2:
        spared = random.choice(decisive)
        victims = tuple(node_id for node_id in decisive if node_id != spared)
    else:
        victims = (draw_target(random, nodes),)
    return LoseUnsynced(victims=victims or tuple(decisive))
