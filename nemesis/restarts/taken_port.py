"""Restart one node while its port is taken: the node has to say so and end, or to try again."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kraftproof.cluster.capabilities import StartFaultCapable
from kraftproof.cluster.protocol import Capability, NodeInfo
from kraftproof.nemesis.fault import Baseline, FaultContext, draw_target
from kraftproof.nemesis.one_node import OneNode

PATIENCE_NS = 5_000_000_000
"""Time after which a node that still runs is taken to try again, in nanoseconds."""
POLL_NS = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenPort(OneNode):
    """kill -9 of one node, and a start while another program has its port; the heal frees it."""

    kind: ClassVar[str] = "taken-port"
    requires: ClassVar[Capability] = Capability.TAKEN_PORT

    def describe(self) -> str:
        """Name the node."""
        return f"restart of node {self.target} while its port is taken"

    def describe_heal(self) -> str:
        """Name the start."""
        return f"free the port of node {self.target} and start the node"

    async def apply(self, context: FaultContext) -> None:
        """Kill the node, take its port, and start the node."""
        await context.cluster.kill(self.node_id)
        port = await starts_of(context).take_port(self.node_id)
        context.note(self, port)
        await start_and_watch(context, self.node_id)

    async def observed_effect(self, context: FaultContext, baseline: Baseline) -> str | None:
        """Return the reaction of the node, which has ended or still runs without its port."""
        del baseline
        ports = ", ".join(context.notes(self))
        return await reaction(context, self.node_id, f"port {ports} was taken")

    async def heal(self, context: FaultContext) -> None:
        """Free the port, and start the node if the node has ended."""
        await starts_of(context).free_port(self.node_id)
        await context.start_if_down(self.node_id)


async def start_and_watch(context: FaultContext, node_id: int) -> None:
    """Start a node, and wait until the node has ended, for some seconds at most."""
    scope = context.cluster.scope
    await context.cluster.start_node(node_id)
    until_ns = scope.now() + PATIENCE_NS
    while scope.now() < until_ns and not await context.down(node_id):
        await scope.sleep(POLL_NS)


async def reaction(context: FaultContext, node_id: int, trouble: str) -> str:
    """Return what a node did about a trouble of its start."""
    said = await starts_of(context).last_words(node_id)
    does = "ended" if await context.down(node_id) else "keeps running"
    return f"{trouble}: node {node_id} {does}: {said}"


def starts_of(context: FaultContext) -> StartFaultCapable:
    """Return the cluster as one whose starts can be disturbed."""
    assert isinstance(context.cluster, StartFaultCapable), "its capabilities say that it is"
    return context.cluster


def plan_taken_port(random: Random, nodes: Sequence[NodeInfo], /) -> TakenPort:
    """Draw a node whose port is taken."""
    return TakenPort(target=draw_target(random, nodes))
