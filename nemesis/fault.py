"""Define the protocol of a fault: a frozen value that applies, observes and heals one disturbance.

Each file of this folder has a kind of fault: the value, and a planner that draws a fault from a
seed. Only injector.py calls `apply` and `heal`. See schedule.py for the times of faults.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final, Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.cluster.protocol import CLOCKS as WALL_CLOCKS
from kraftproof.cluster.protocol import Capability, Cluster, Link, NodeInfo

CLOCKS: Final = WALL_CLOCKS | {Capability.DRIFT}
"""Faults that make a time-out of a node wrong."""
SPARING: Final = frozenset(
    {
        Capability.PAUSE,
        Capability.PARTITION,
        *CLOCKS,
        Capability.CPU,
        Capability.LOSS,
        Capability.RESET,
        Capability.STALL,
        Capability.LATENCY,
        Capability.BANDWIDTH,
        Capability.SLOW_CLOSE,
        Capability.LIMIT_DATA,
    }
)
"""Requirements of the sparing faults: a sparing fault ends no process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A target named by its role when the fault starts; `choice` selects among several nodes."""

    name: str
    choice: int = 0

    @override
    def __str__(self) -> str:
        return self.name


Target = int | Role
Roles = Mapping[str, tuple[int, ...]]
"""The node ids of each role, as the system reports; an unknown role means all controllers."""
ACTIVE_CONTROLLER = "active-controller"
STANDBY_CONTROLLER = "standby-controller"
LEADER = "leader"
_SAME_ROLE: Mapping[str, tuple[str, ...]] = {
    ACTIVE_CONTROLLER: (LEADER, "primary"),
    STANDBY_CONTROLLER: ("follower", "backup"),
    LEADER: (ACTIVE_CONTROLLER, "primary"),
}
"""Names of the same role in other systems."""


def resolve(target: Target, roles: Roles, nodes: Sequence[NodeInfo]) -> int:
    """Return the node id of a target under the current roles."""
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
    """Draw the active controller with probability 0.4, otherwise any node."""
    if random.random() < 0.4:
        return leading(nodes)
    return random.choice([node.node_id for node in nodes])


def leading(nodes: Sequence[NodeInfo]) -> Role:
    """Return the role of the node that leads, by the name that it has in such a system."""
    has_controllers = any(node.has("controller") for node in nodes)
    return Role(name=ACTIVE_CONTROLLER if has_controllers else LEADER)


class FaultContext:
    """Access of faults to the cluster; a link cut by several faults heals with the last fault."""

    __slots__ = ("_held", "_notes", "cluster")

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._held: Counter[Link] = Counter()
        self._notes: dict[int, tuple[object, list[str]]] = {}

    def note(self, fault: object, measured: str) -> None:
        """Keep a measurement of `apply` for the evidence; the fault itself is frozen."""
        self._notes.setdefault(id(fault), (fault, []))[1].append(measured)

    def notes(self, fault: object) -> tuple[str, ...]:
        """Return the measurements of this fault, in order."""
        return tuple(self._notes.get(id(fault), (fault, []))[1])

    async def down(self, node_id: int) -> bool:
        """Return whether the node has no process."""
        return await self.cluster.process_id(node_id) is None

    async def start_if_down(self, node_id: int) -> None:
        """Start the node unless the heal of another fault has started the node."""
        if await self.down(node_id):
            await self.cluster.start_node(node_id)

    async def cut(self, links: Sequence[Link]) -> None:
        """Cut links, and count the fault for each link."""
        self._held.update(links)
        await self.cluster.cut(frozenset(links))

    async def heal(self, links: Sequence[Link]) -> None:
        """Uncount the fault for each link, and heal the links that no other fault cuts."""
        self._held.subtract(links)
        free = frozenset(link for link in links if self._held[link] <= 0)
        if free:
            await self.cluster.heal(free)


Baseline = Mapping[int, int | None]
"""Measurements of the nodes just before a fault starts; `observed_effect` compares with them."""


class Fault(Protocol):
    """One fault; the fields describe the fault completely.

    A fault may set `call_limit_ns` if a single call may take longer than two minutes.
    """

    kind: ClassVar[str]
    requires: ClassVar[Capability]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The affected nodes; roles until the fault is resolved, then node ids."""
        ...

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> "Fault":
        """Return the same fault with node ids in place of roles."""
        ...

    def describe(self) -> str:
        """Describe the fault in a few words."""
        ...

    def describe_heal(self) -> str:
        """Describe the heal in a few words; the injector records the text before `apply`."""
        ...

    async def skipped(self, context: FaultContext) -> str | None:
        """Return the reason why the fault can't have an effect now, or None."""
        ...

    async def baseline(self, context: FaultContext) -> Baseline:
        """Measure the nodes before `apply`."""
        ...

    async def apply(self, context: FaultContext) -> None:
        """Start the disturbance."""
        ...

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the evidence of an effect, or None while there is no evidence."""
        ...

    async def heal(self, context: FaultContext) -> None:
        """End the disturbance; a second call has no effect."""
        ...


@runtime_checkable
class EndsLate(Protocol):
    """A fault whose node may end some time after the heal, because of the fault.

    The injector starts such a node by a second call of `heal`. A node that ends for another reason
    is left alone: its end is a finding.
    """

    def may_end_late(self, context: FaultContext) -> bool:
        """Return whether a node may end late; called after the heal."""
        ...

    async def ended_late(self, context: FaultContext) -> str | None:
        """Wait for a late end; return how the node ended because of the fault, otherwise None."""
        ...


class Planner(Protocol):
    """Draw a fault of one kind as a pure function of the arguments.

    The return annotation names the fault class, which the reader of schedule files needs.
    """

    def __call__(self, random: Random, nodes: Sequence[NodeInfo], /) -> Fault:
        """Return a fault for these nodes."""
        ...


async def process_ids(context: FaultContext, node_ids: Sequence[int]) -> dict[int, int | None]:
    """Return the process id of each node; None for a node that is down."""
    return {node_id: await context.cluster.process_id(node_id) for node_id in node_ids}


async def skipped_if_down(context: FaultContext, node_id: int) -> str | None:
    """Return a reason if the node is down, otherwise None."""
    return f"node {node_id} is down already" if await context.down(node_id) else None


def strange_nodes(fault: Fault, nodes: Sequence[NodeInfo]) -> list[int]:
    """Return the node ids that a fault names and the cluster lacks, in order."""
    resolved = fault.resolved({}, nodes)
    links: tuple[Link, ...] = getattr(resolved, "links", ())
    named = {as_node(target) for target in resolved.targets} | {
        end for link in links for end in link
    }
    return sorted(named - {node.node_id for node in nodes})


def as_node(target: Target) -> int:
    """Return the node id of a resolved target."""
    assert isinstance(target, int), "resolve the fault first"
    return target
