"""State the high watermark to other nodes (KIP-595 "Fetch", "DescribeQuorum").

See progress.py and fetching.py for the node's own high watermark.
"""

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.raft.replicas import UNKNOWN_OFFSET
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState


def stated_high_watermark(state: RaftState) -> Offset:
    """Return the high watermark; unknown until a new leader has committed a record.

    Before its LeaderChange has committed, a leader may know a lower high watermark than its
    followers. As in Kafka, the leader then states none, so that the high watermark known to a node
    never falls.
    """
    role = state.role
    if type(role) is Leader and state.high_watermark <= role.start_offset:
        return UNKNOWN_OFFSET
    return state.high_watermark
