"""What a voter must remember across a crash (595-05 to 08). Not: how it is written."""

from msgspec import Struct

from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId


class QuorumState(Struct, frozen=True, kw_only=True):
    """The durable state apart from the roles: one value, replaced as a whole."""

    epoch: Epoch = Epoch(0)
    voted_for: NodeId = NO_NODE
    leader: NodeId = NO_NODE
