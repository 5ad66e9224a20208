"""Degrade the links of one node without a cut: segment loss, connection resets and stalls.

TCP turns a lost segment into a delay of the segment and of all later segments. After a reset the
client does not know whether the node executed the request, and a retry may execute the request
twice.
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
MS_NS = 1_000_000
DIRECTIONS: tuple[Direction, ...] = ("both", "in", "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrade(OneNode):
    """Degrade the links between one node and all other nodes; client links stay as they are."""

    kind: ClassVar[str]
    toxic: LinkFault
    direction: Direction = "both"
    links: tuple[Link, ...] = ()
    """Directed links of the node; `resolved` sets the field."""

    @override
    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> Self:
        """Return the fault with a node id and the links of the node."""
        node_id = resolve(self.target, roles, nodes)
        others = [node.node_id for node in nodes if node.node_id != node_id]
        return replace(self, target=node_id, links=isolation(node_id, others, self.direction))

    def describe(self) -> str:
        """Name the kind of degradation and the node."""
        return f"{self.kind} on links of node {self.target} ({self.direction})"

    def describe_heal(self) -> str:
        """Name the kind of degradation that ends."""
        return f"end {self.kind} on links of node {self.target} ({self.direction})"

    @override
    async def baseline(self, context: FaultContext) -> Baseline:
        """Return the number of messages that the links have affected so far."""
        return {self.node_id: await _degrading(context).link_fault_count(frozenset(self.links))}

    async def apply(self, context: FaultContext) -> None:
        """Degrade the links."""
        await _degrading(context).add_link_fault(frozenset(self.links), self.toxic)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the measured effect on the links, once there is an effect."""
        before = baseline[self.node_id] or 0
        cluster = _degrading(context)
        return await cluster.link_fault_effect(frozenset(self.links), self.toxic, before)

    async def heal(self, context: FaultContext) -> None:
        """Restore the links."""
        await _degrading(context).remove_link_fault(frozenset(self.links), self.toxic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss(Degrade):
    """Lose segments, which TCP sends again."""

    kind: ClassVar[str] = "loss"
    requires: ClassVar[Capability] = Capability.LOSS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Degrade):
    """Break connections when requests arrive."""

    kind: ClassVar[str] = "reset"
    requires: ClassVar[Capability] = Capability.RESET


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall(Degrade):
    """Delay all traffic of a connection for a while."""

    kind: ClassVar[str] = "stall"
    requires: ClassVar[Capability] = Capability.STALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(Degrade):
    """Delay all traffic by a fixed time."""

    kind: ClassVar[str] = "latency"
    requires: ClassVar[Capability] = Capability.LATENCY


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth(Degrade):
    """Limit the rate of each connection."""

    kind: ClassVar[str] = "bandwidth"
    requires: ClassVar[Capability] = Capability.BANDWIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowClose(Degrade):
    """Delay the end of each connection."""

    kind: ClassVar[str] = "slow-close"
    requires: ClassVar[Capability] = Capability.SLOW_CLOSE


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitData(Degrade):
    """End each connection after a number of bytes, also within a message."""

    kind: ClassVar[str] = "limit-data"
    requires: ClassVar[Capability] = Capability.LIMIT_DATA


def _degrading(context: FaultContext) -> LinkFaultCapable:
    assert isinstance(context.cluster, LinkFaultCapable), "its capabilities say that it is"
    return context.cluster


def plan_loss(random: Random, nodes: Sequence[NodeInfo], /) -> Loss:
    """Draw a node, directions, and a loss of 5, 20 or 50 percent of the segments."""
    return Loss(
        target=draw_target(random, nodes),
        direction=random.choice(DIRECTIONS),
        toxic=LinkFault(loss=random.choice((0.05, 0.2, 0.5))),
    )


def plan_reset(random: Random, nodes: Sequence[NodeInfo], /) -> Reset:
    """Draw a node, and a reset of the connection at 5, 20 or 50 percent of the requests."""
    return Reset(
        target=draw_target(random, nodes),
        toxic=LinkFault(reset=random.choice((0.05, 0.2, 0.5))),
    )


def plan_stall(random: Random, nodes: Sequence[NodeInfo], /) -> Stall:
    """Draw a node, directions, and a stall of up to 3 s at 5 or 30 percent of the messages."""
    return Stall(
        target=draw_target(random, nodes),
        direction=random.choice(DIRECTIONS),
        toxic=LinkFault(
            stall=random.choice((0.05, 0.3)), stall_ns=int(random.uniform(0.2, 3.0) * SECOND_NS)
        ),
    )


def plan_latency(random: Random, nodes: Sequence[NodeInfo], /) -> Latency:
    """Draw a node, directions, and a delay of 50, 200 or 800 ms."""
    return Latency(
        target=draw_target(random, nodes),
        direction=random.choice(DIRECTIONS),
        toxic=LinkFault(slow_ns=random.choice((50, 200, 800)) * MS_NS),
    )


def plan_bandwidth(random: Random, nodes: Sequence[NodeInfo], /) -> Bandwidth:
    """Draw a node, and a rate of 1, 2 or 4 kB/s."""
    rate = random.choice((1_000, 2_000, 4_000))
    return Bandwidth(target=draw_target(random, nodes), toxic=LinkFault(bandwidth=rate))


def plan_slow_close(random: Random, nodes: Sequence[NodeInfo], /) -> SlowClose:
    """Draw a node, and a delay of the end of connections of 0.3, 1 or 2 s."""
    close_ns = random.choice((300, 1_000, 2_000)) * MS_NS
    return SlowClose(target=draw_target(random, nodes), toxic=LinkFault(close_ns=close_ns))


def plan_limit_data(random: Random, nodes: Sequence[NodeInfo], /) -> LimitData:
    """Draw a node, and the end of each connection after 100, 400 or 2000 bytes."""
    limit = random.choice((100, 400, 2_000))
    return LimitData(target=draw_target(random, nodes), toxic=LinkFault(limit=limit))
