"""Define the durable state of a voter (595-05 to 08)."""

from msgspec import Struct

from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId


class QuorumState(Struct, frozen=True, kw_only=True):
    """The state that survives a crash, always replaced as a whole."""

    epoch: Epoch = Epoch(0)
    voted_for: NodeId = NO_NODE
    leader: NodeId = NO_NODE
