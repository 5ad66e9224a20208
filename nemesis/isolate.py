"""Isolate the node that leads: the partition that splits a system with two leaders.

The shapes of `partition` cut the leader off only now and then; a system that loses writes of a
leader without followers needs this cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.fault import leading
from kraftproof.nemesis.partition import Cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolate(Cut):
    """Both ways between the leading node and all other nodes are cut; clients reach every node."""

    kind: ClassVar[str] = "isolate"


def plan_isolate(random: Random, nodes: Sequence[NodeInfo], /) -> Isolate:
    """Return a cut around the node that leads when the fault starts."""
    del random
    role = leading(nodes)
    return Isolate(shape=f"isolate-{role}", around=role)
