"""Cuts of links between nodes: the shapes, as pure values. Not: how a backend withholds traffic.

A link is one way. The shapes are those of Jepsen's nemesis: halves, one node alone, the active
controller alone, one way only, a bridge, and a ring in which every node sees a majority but no
two see the same one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar, Literal

from kraftproof.cluster.protocol import Capability, Link, NodeInfo
from kraftproof.nemesis.fault import (
    Baseline,
    FaultContext,
    Roles,
    Target,
    deciding,
    leading,
    resolve,
)

Direction = Literal["both", "in", "out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Withhold the traffic of some links, given as such or as those of one node.

    Attributes:
        shape: Its name, for people.
        links: What is cut; filled in by `resolved` where `around` is given.
        around: A node whose links to all others, or to those of `others` alone, are cut.
        others: See `around`.
        direction: Which of the links of `around`.
        divides: A node that must lose a link; where it would lose none, it takes the place of
            one that does. Standbys hardly talk to each other, so a cut that the active
            controller does not feel withholds nothing.
    """

    kind: ClassVar[str] = "partition"
    requires: ClassVar[Capability] = Capability.PARTITION
    shape: str
    links: tuple[Link, ...] = ()
    around: Target | None = None
    others: tuple[Target, ...] = ()
    direction: Direction = "both"
    divides: Target | None = None

    @property
    def targets(self) -> tuple[Target, ...]:
        """The node in the middle, or every node with a link that is cut."""
        if self.around is not None:
            return (self.around,)
        return tuple(sorted({node for link in self.links for node in link}))

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "Cut":
        """Return it with its links spelt out."""
        if self.around is None:
            if self.divides is None:
                return self
            node_id = resolve(self.divides, roles, nodes)
            return replace(self, divides=node_id, links=touching(self.links, node_id))
        node_id = resolve(self.around, roles, nodes)
        named = sorted({resolve(other, roles, nodes) for other in self.others})
        others = [n for n in named or [node.node_id for node in nodes] if n != node_id]
        links = isolation(node_id, others, self.direction)
        return replace(self, around=node_id, others=tuple(named), links=links)

    def describe(self) -> str:
        """Name the shape, and the node or the links."""
        if self.around is not None:
            apart = f" from {', '.join(map(str, self.others))}" if self.others else ""
            return f"partition {self.shape} of {self.around}{apart}"
        return f"partition {self.shape}: {self._spelt()}"

    def describe_heal(self) -> str:
        """Name the links to heal."""
        return f"heal {self._spelt()}" if self.links else "heal its links"

    def _spelt(self) -> str:
        return " ".join(f"{link.source}>{link.target}" for link in self.links)

    async def skipped(self, context: FaultContext) -> str | None:
        """A cut is moot where all of one end is down."""
        down = [
            n for n in sorted({x for link in self.links for x in link}) if await context.down(n)
        ]
        if all(link.source in down or link.target in down for link in self.links):
            return "no link has both ends up"
        return None

    async def baseline(self, context: FaultContext) -> Baseline:
        """Nothing needs noting."""
        del context
        return {}

    async def apply(self, context: FaultContext) -> None:
        """Cut them."""
        await context.cut(self.links)

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """Traffic was withheld, and a round trip over a link that is cut fails."""
        del before
        withheld = await context.cluster.withheld(frozenset(self.links))
        if withheld == 0:
            return None
        for link in self.links:
            if await context.down(link.source) or await context.down(link.target):
                continue
            if not await context.cluster.round_trip(link):
                return f"{withheld} withheld, no round trip {link.source}>{link.target}"
        return None

    async def heal(self, context: FaultContext) -> None:
        """Heal them."""
        await context.heal(self.links)


def touching(links: tuple[Link, ...], node_id: int) -> tuple[Link, ...]:
    """Return links of the same shape, at least one of which is this node's."""
    if not links or any(node_id in link for link in links):
        return links
    replaced = links[0].source
    ends = [[node_id if end == replaced else end for end in link] for link in links]
    return tuple(sorted(Link(source, target) for source, target in ends))


def isolation(node_id: int, others: Sequence[int], direction: Direction) -> tuple[Link, ...]:
    """Return the links between one node and all others, to it, from it or both."""
    into = [Link(other, node_id) for other in others] if direction != "out" else []
    out = [Link(node_id, other) for other in others] if direction != "in" else []
    return tuple(sorted(into + out))


def between(left: Sequence[int], right: Sequence[int]) -> tuple[Link, ...]:
    """Return the links between two groups, both ways."""
    ways = [(a, b) for a in left for b in right]
    return tuple(sorted([Link(a, b) for a, b in ways] + [Link(b, a) for a, b in ways]))


def _shuffled(random: Random, nodes: Sequence[NodeInfo]) -> list[int]:
    node_ids = [node.node_id for node in nodes]
    random.shuffle(node_ids)
    return node_ids


def halves(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Two groups, as equal as can be."""
    node_ids = _shuffled(random, nodes)
    middle = len(node_ids) // 2
    return Cut(shape="halves", links=between(node_ids[:middle], node_ids[middle:]))


def isolate_one(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """One node alone."""
    return Cut(shape="isolate-one", around=random.choice([node.node_id for node in nodes]))


def isolate_active(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """The leading node alone."""
    del random
    role = leading(nodes)
    return Cut(shape=f"isolate-{role}", around=role)


def one_way(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """A node that can hear but not speak, or speak but not hear."""
    around: Target = leading(nodes)
    if random.random() < 0.5:
        around = random.choice([node.node_id for node in deciding(nodes)])
    direction: Direction = "in" if random.random() < 0.5 else "out"
    return Cut(shape=f"one-way-{direction}", around=around, direction=direction)


def bridge(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Two halves, and one node that sees both."""
    _, *rest = _shuffled(random, nodes)
    middle = len(rest) // 2
    links = between(rest[:middle], rest[middle:])
    return Cut(shape="bridge", links=links, divides=leading(nodes))


def majorities_ring(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Every node sees a majority, its neighbours on a ring; no two see the same one."""
    ring = _shuffled(random, nodes)
    size = len(ring)
    reach = max(1, (size // 2 + 1) // 2)
    links = [
        Link(node_id, ring[(position + distance) % size])
        for position, node_id in enumerate(ring)
        for distance in range(reach + 1, size - reach)
    ]
    # Up to three nodes have no such ring: all of them are neighbours.
    return (
        Cut(shape="majorities-ring", links=tuple(sorted(links))) if links else halves(random, nodes)
    )


SHAPES: tuple[Callable[[Random, Sequence[NodeInfo]], Cut], ...] = (
    halves,
    isolate_one,
    isolate_active,
    one_way,
    bridge,
    majorities_ring,
)

AMONG_CONTROLLERS = (halves, bridge, majorities_ring)
"""The shapes that divide a quorum in a way of their own when brokers are left out."""


def plan_partition(random: Random, nodes: Sequence[NodeInfo], /) -> Cut:
    """Draw a shape and who is where in it: of all nodes, or of the controllers alone."""
    shape = random.choice(SHAPES)
    controllers = [node for node in nodes if node.has("controller")]
    if shape in AMONG_CONTROLLERS and len(controllers) > 2 and random.random() < 0.5:
        return shape(random, controllers)
    return shape(random, nodes)
