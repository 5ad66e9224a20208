"""What all faults of a single node share: their target. Not: what they do to it."""

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
    """A fault of one node, which has to be up for it."""

    target: Target

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one node."""
        return (self.target,)

    @property
    def node_id(self) -> int:
        """The node, once the fault is resolved."""
        return as_node(self.target)

    def resolved(self, roles: Roles, nodes: Sequence[NodeInfo]) -> Self:
        """Return it with a node id."""
        return replace(self, target=resolve(self.target, roles, nodes))

    async def skipped(self, context: FaultContext) -> str | None:
        """A node that is down can't be hurt."""
        return await skipped_if_down(context, self.node_id)

    async def baseline(self, context: FaultContext) -> Baseline:
        """Nothing needs noting; most faults can be asked for themselves."""
        del context
        return {}
