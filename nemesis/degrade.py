"""Links of one node that are bad without being cut: losses, resets and stalls.

What TCP makes of them: a lost segment is late, and with it all that follows; a broken connection
leaves open whether the request was carried out, so that it is done twice by a retry. Not: how a
backend does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar, Self

from typing_extensions import override

from kraftproof.cluster.capabilities import LinkFault, LinkFaultCapable
from kraftproof.cluster.protocol import Capability, Link, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, Roles, draw_target, resolve
from kraftproof.nemesis.one_node import OneNode
from kraftproof.nemesis.partition import Direction, isolation

SECOND_NS = 1_000_000_000
DIRECTIONS: tuple[Direction, ...] = ("both", "in", "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrade(OneNode):
    """Make the links between one node and all others bad; those of clients are left alone."""

    kind: ClassVar[str]
    toxic: LinkFault
    direction: Direction = "both"
    links: tuple[Link, ...] = ()
    """Filled in by `resolved`."""

    @override
    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> Self:
        """Return it with a node id and its links."""
        node_id = resolve(self.target, roles, nodes)
        others = [node.node_id for node in nodes if node.node_id != node_id]
        return replace(self, target=node_id, links=isolation(node_id, others, self.direction))

    def describe(self) -> str:
        """Name the trouble and the node."""
        return f"{self.kind} on links of node {self.target} ({self.direction})"

    def describe_heal(self) -> str:
        """Name the end."""
        return f"end {self.kind} on links of node {self.target} ({self.direction})"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Note how often the links have been bad to a message."""
        return {self.node_id: await _degrading(context).link_fault_count(frozenset(self.links))}

    async def apply(self, context: FaultContext) -> None:
        """Make them bad."""
        await _degrading(context).add_link_fault(frozenset(self.links), self.toxic)

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """A message has met with it."""
        hits = await _degrading(context).link_fault_count(frozenset(self.links))
        hits -= baseline[self.node_id] or 0
        return f"{hits} messages met with {self.kind}" if hits else None

    async def heal(self, context: FaultContext) -> None:
        """Make them good."""
        await _degrading(context).remove_link_fault(frozenset(self.links), self.toxic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss(Degrade):
    """Segments are lost and sent again."""

    kind: ClassVar[str] = "loss"
    requires: ClassVar[Capability] = Capability.LOSS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Degrade):
    """Connections break as requests arrive."""

    kind: ClassVar[str] = "reset"
    requires: ClassVar[Capability] = Capability.RESET


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall(Degrade):
    """Connections stand still for a while."""

    kind: ClassVar[str] = "stall"
    requires: ClassVar[Capability] = Capability.STALL


def _degrading(context: FaultContext) -> LinkFaultCapable:
    assert isinstance(context.cluster, LinkFaultCapable), "its capabilities say that it is"
    return context.cluster


def plan_loss(random: Random, nodes: Sequence[NodeInfo], /) -> Loss:
    """Draw a node, and that 5 to 50 segments in a hundred are lost."""
    return Loss(
        target=draw_target(random, nodes),
        direction=random.choice(DIRECTIONS),
        toxic=LinkFault(loss=random.choice((0.05, 0.2, 0.5))),
    )


def plan_reset(random: Random, nodes: Sequence[NodeInfo], /) -> Reset:
    """Draw a node, and that 5 to 50 requests in a hundred meet with a reset."""
    return Reset(
        target=draw_target(random, nodes),
        toxic=LinkFault(reset=random.choice((0.05, 0.2, 0.5))),
    )


def plan_stall(random: Random, nodes: Sequence[NodeInfo], /) -> Stall:
    """Draw a node, and that 5 to 30 messages in a hundred stall for up to 3 s."""
    return Stall(
        target=draw_target(random, nodes),
        direction=random.choice(DIRECTIONS),
        toxic=LinkFault(
            stall=random.choice((0.05, 0.3)), stall_ns=int(random.uniform(0.2, 3.0) * SECOND_NS)
        ),
    )
