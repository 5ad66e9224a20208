"""What a node shows of itself after a step: for the trace, metrics and the invariants."""

from msgspec import Struct

from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId, Offset


class NodeStatus(Struct, frozen=True, kw_only=True):
    """One line of the trace."""

    role: str
    """unattached, voted, follower, candidate, leader, resigned or observer."""
    epoch: Epoch
    leader: NodeId
    high_watermark: Offset
    flushed: Offset
    log_end: Offset
    image_offset: Offset
    image_digest: int
    voted_for: NodeId = NO_NODE
    """Whom this epoch's vote went to (595-70)."""
    last_epoch: Epoch = Epoch(0)
    """The epoch of the log's last record."""
    snapshot_end: Offset = Offset(0)
    """Where the newest snapshot ends; 0 if there is none."""
    broker_state: int | None = None
    """631-55 to 58: 0 NOT_RUNNING, 1 STARTING, 2 RECOVERY, 3 RUNNING, 6, 7; None: no broker."""
