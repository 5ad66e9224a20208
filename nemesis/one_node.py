"""Base class of the faults of a single node."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.fault import (
    Baseline,
    FaultContext,
    Roles,
    Target,
    as_node,
    resolve,
    skipped_if_down,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNode:
    """A fault of one running node."""

    target: Target

    @property
    def targets(self) -> tuple[Target, ...]:
        """The target as a tuple."""
        return (self.target,)

    @property
    def node_id(self) -> int:
        """The node id of a resolved fault."""
        return as_node(self.target)

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> Self:
        """Return the fault with a node id as its target."""
        return replace(self, target=resolve(self.target, roles, nodes))

    async def skipped(self, context: FaultContext) -> str | None:
        """Return a reason if the node is down."""
        return await skipped_if_down(context, self.node_id)

    async def baseline(self, context: FaultContext) -> Baseline:
        """Return no measurements; most faults observe their effect directly."""
        del context
        return {}
