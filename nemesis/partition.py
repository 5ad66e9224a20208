"""Network partitions: cuts of directed links between nodes, in several shapes.

The shapes are the shapes of Jepsen's nemesis: two halves, an isolated node, an isolated active
controller, a one-way cut, a bridge, and a ring in which each node sees a different majority.
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
    """Withhold the traffic of links: the listed links, or the links of one node.

    Attributes:
        shape: Name of the shape in logs and reports.
        links: Directed links to cut; `resolved` computes the links if `around` is set.
        around: Node whose links to `others` are cut.
        others: Nodes at the far end; empty means all other nodes.
        direction: Cut links to the node, links from the node, or both.
        divides: Node that must lose a link; if the node has no cut link, the node takes the place
            of the source of the first link. Standbys exchange little traffic, so a cut that spares
            the active controller would withhold nothing.
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
        """The node of `around`, or all nodes with a cut link."""
        if self.around is not None:
            return (self.around,)
        return tuple(sorted({node for link in self.links for node in link}))

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "Cut":
        """Return the cut with node ids and a complete list of links."""
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
        """Return a reason if every link has an end that is down."""
        down = [
            n for n in sorted({x for link in self.links for x in link}) if await context.down(n)
        ]
        if all(link.source in down or link.target in down for link in self.links):
            return "no link has both ends up"
        return None

    async def baseline(self, context: FaultContext) -> Baseline:
        """Return no measurements; the cluster counts withheld traffic per link."""
        del context
        return {}

    async def apply(self, context: FaultContext) -> None:
        """Cut the links."""
        await context.cut(self.links)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence once traffic was withheld and a round trip over a cut link fails."""
        del baseline
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
        """Heal the links."""
        await context.heal(self.links)


def touching(links: tuple[Link, ...], node_id: int) -> tuple[Link, ...]:
    """Return links of the same shape, with at least one link of the node."""
    if not links or any(node_id in link for link in links):
        return links
    replaced = links[0].source
    ends = [[node_id if end == replaced else end for end in link] for link in links]
    return tuple(sorted(Link(source, target) for source, target in ends))


def isolation(node_id: int, others: Sequence[int], direction: Direction) -> tuple[Link, ...]:
    """Return the links between a node and `others`: to the node, from the node, or both."""
    into = [Link(other, node_id) for other in others] if direction != "out" else []
    out = [Link(node_id, other) for other in others] if direction != "in" else []
    return tuple(sorted(into + out))


def between(left: Sequence[int], right: Sequence[int]) -> tuple[Link, ...]:
    """Return the links between two groups in both directions."""
    ways = [(a, b) for a in left for b in right]
    return tuple(sorted([Link(a, b) for a, b in ways] + [Link(b, a) for a, b in ways]))


def _shuffled(random: Random, nodes: Sequence[NodeInfo]) -> list[int]:
    node_ids = [node.node_id for node in nodes]
    random.shuffle(node_ids)
    return node_ids


def halves(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Draw two groups of equal size; the sizes differ by 1 for an odd number of nodes."""
    node_ids = _shuffled(random, nodes)
    middle = len(node_ids) // 2
    return Cut(shape="halves", links=between(node_ids[:middle], node_ids[middle:]))


def isolate_one(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Isolate a drawn node."""
    return Cut(shape="isolate-one", around=random.choice([node.node_id for node in nodes]))


def isolate_active(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Isolate the leading node."""
    del random
    role = leading(nodes)
    return Cut(shape=f"isolate-{role}", around=role)


def one_way(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Draw a node that can only send or only receive."""
    around: Target = leading(nodes)
    if random.random() < 0.5:
        around = random.choice([node.node_id for node in deciding(nodes)])
    direction: Direction = "in" if random.random() < 0.5 else "out"
    return Cut(shape=f"one-way-{direction}", around=around, direction=direction)


def bridge(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Draw two halves and a node that is connected to both halves."""
    _, *rest = _shuffled(random, nodes)
    middle = len(rest) // 2
    links = between(rest[:middle], rest[middle:])
    return Cut(shape="bridge", links=links, divides=leading(nodes))


def majorities_ring(random: Random, nodes: Sequence[NodeInfo]) -> Cut:
    """Connect each node to its neighbours on a ring only: each node sees a different majority."""
    ring = _shuffled(random, nodes)
    size = len(ring)
    reach = max(1, (size // 2 + 1) // 2)
    links = [
        Link(node_id, ring[(position + distance) % size])
        for position, node_id in enumerate(ring)
        for distance in range(reach + 1, size - reach)
    ]
    # In a ring of up to three nodes all nodes are neighbours, so no link can be cut.
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
"""Shapes that are also drawn over the controllers alone, since the quorum then divides anew."""


def plan_partition(random: Random, nodes: Sequence[NodeInfo], /) -> Cut:
    """Draw a shape and the place of each node in the shape, over all nodes or the controllers.

    A system without controllers may elect by nodes that keep no data (Sentinels, for example), so
    few of the shapes part its leader from the electors: every second cut isolates the leader.
    """
    controllers = [node for node in nodes if node.has("controller")]
    if not controllers and random.random() < 0.5:
        return isolate_active(random, nodes)
    shape = random.choice(SHAPES)
    if shape in AMONG_CONTROLLERS and len(controllers) > 2 and random.random() < 0.5:
        return shape(random, controllers)
    return shape(random, nodes)
