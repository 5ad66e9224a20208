"""What a fault is: a frozen value that says what it does, how it heals and how it shows its effect.

A fault is one file of this folder: the value, and a planner that draws one from a seed. Nothing
here is carried out by itself: only nemesis/injector.py calls `apply` and `heal`. Not: when
faults come (nemesis/schedule.py).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from typing_extensions import override

from kraftproof.cluster.protocol import Capability, Cluster, Link, NodeInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A target named by what it does when the fault comes; `choice` picks one of several."""

    name: str
    choice: int = 0

    @override
    def __str__(self) -> str:
        return self.name


Target = int | Role
Roles = Mapping[str, tuple[int, ...]]
"""Who has which role now, as the system tells; an unknown role falls on the controllers."""
ACTIVE_CONTROLLER = "active-controller"
STANDBY_CONTROLLER = "standby-controller"
LEADER = "leader"
_SAME_ROLE: Mapping[str, tuple[str, ...]] = {
    ACTIVE_CONTROLLER: (LEADER, "primary"),
    STANDBY_CONTROLLER: ("follower", "backup"),
    LEADER: (ACTIVE_CONTROLLER, "primary"),
}
"""What other systems call a role."""


def resolve(target: Target, roles: Roles, nodes: Sequence[NodeInfo]) -> int:
    """Return the node that a target means now; one with a say where nobody has the role."""
    if isinstance(target, int):
        return target
    named = (target.name, *_SAME_ROLE.get(target.name, ()))
    found = next((roles[name] for name in named if roles.get(name)), None)
    candidates = tuple(node.node_id for node in deciding(nodes)) if found is None else found
    return candidates[target.choice % len(candidates)]


def deciding(nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
    """Return the nodes that have a say: the controllers, where a system has such nodes."""
    return [node for node in nodes if node.has("controller")] or list(nodes)


def draw_target(random: Random, nodes: Sequence[NodeInfo]) -> Target:
    """Draw the leading node four times in ten, else any node."""
    if random.random() < 0.4:
        return leading(nodes)
    return random.choice([node.node_id for node in nodes])


def leading(nodes: Sequence[NodeInfo]) -> Role:
    """Return the role of the node that leads, by the name that it has in such a system."""
    has_controllers = any(node.has("controller") for node in nodes)
    return Role(name=ACTIVE_CONTROLLER if has_controllers else LEADER)


class FaultContext:
    """The cluster as faults reach it; links that several cuts hold heal with the last of them."""

    __slots__ = ("_held", "cluster")

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._held: Counter[Link] = Counter()

    async def down(self, node_id: int) -> bool:
        """Whether the node has no process."""
        return await self.cluster.process_id(node_id) is None

    async def start_if_down(self, node_id: int) -> None:
        """Start the node unless another fault's heal has done so."""
        if await self.down(node_id):
            await self.cluster.start_node(node_id)

    async def cut(self, links: Sequence[Link]) -> None:
        """Cut links, and remember that one more fault holds them."""
        self._held.update(links)
        await self.cluster.cut(frozenset(links))

    async def heal(self, links: Sequence[Link]) -> None:
        """Let go of links, and heal those that no other fault holds."""
        self._held.subtract(links)
        free = frozenset(link for link in links if self._held[link] <= 0)
        if free:
            await self.cluster.heal(free)


Baseline = Mapping[int, int | None]
"""What a fault saw of its nodes before it was applied, to tell a difference by."""


class Fault(Protocol):
    """One fault. Its fields are its whole description.

    A fault whose calls may take longer than two minutes each has an attribute `call_limit_ns`.
    """

    kind: ClassVar[str]
    requires: ClassVar[Capability]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The nodes that it touches, some by role until it is resolved."""
        ...

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "Fault":
        """Return the same fault with node ids in place of roles."""
        ...

    def describe(self) -> str:
        """Say in a few words what it does."""
        ...

    def describe_heal(self) -> str:
        """Say in a few words what undoes it; written down before it is applied."""
        ...

    async def skipped(self, context: FaultContext) -> str | None:
        """Say why it can't bite now, if it can't."""
        ...

    async def baseline(self, context: FaultContext) -> Baseline:
        """Look at the nodes before it is applied."""
        ...

    async def apply(self, context: FaultContext) -> None:
        """Do it."""
        ...

    async def observed_effect(self, context: FaultContext, before: Baseline) -> str | None:
        """Return the evidence that it has bitten, or None while there is none."""
        ...

    async def heal(self, context: FaultContext) -> None:
        """Undo it; undoing twice is no error."""
        ...


class Planner(Protocol):
    """Draws one fault of a kind; a pure function of its arguments.

    It is annotated with the class that it returns, which schedule files are read back by.
    """

    def __call__(self, random: Random, nodes: Sequence[NodeInfo], /) -> Fault:
        """Return a fault for these nodes."""
        ...


async def process_ids(context: FaultContext, node_ids: Sequence[int]) -> dict[int, int | None]:
    """Return the process ids of nodes; None for one that is down."""
    return {node_id: await context.cluster.process_id(node_id) for node_id in node_ids}


async def skipped_if_down(context: FaultContext, node_id: int) -> str | None:
    """Say that the target is down, if so."""
    return f"node {node_id} is down already" if await context.down(node_id) else None


def as_node(target: Target) -> int:
    """Return the node id of a resolved target."""
    assert isinstance(target, int), "resolve the fault first"
    return target
