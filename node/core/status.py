"""Define the status of a node after a step, for the trace, metrics and invariants."""

from msgspec import Struct

from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId, Offset


class NodeStatus(Struct, frozen=True, kw_only=True):
    """The status in a line of the trace."""

    role: str
    """The role: unattached, voted, follower, candidate, leader, resigned or observer."""
    epoch: Epoch
    leader: NodeId
    high_watermark: Offset
    flushed: Offset
    log_end: Offset
    image_offset: Offset
    image_digest: int
    voted_for: NodeId = NO_NODE
    """The candidate that got this epoch's vote (595-70)."""
    last_epoch: Epoch = Epoch(0)
    """The epoch of the log's last record."""
    snapshot_end: Offset = Offset(0)
    """The end of the newest snapshot; 0 without a snapshot."""
    broker_state: int | None = None
    """631-55 to 58: 0 NOT_RUNNING, 1 STARTING, 2 RECOVERY, 3 RUNNING, 6, 7; None without a
    broker."""
