"""The high watermark that a node states to others (KIP-595 "Fetch", "DescribeQuorum").

Not: the one that it goes by itself (progress.py, fetching.py).
"""

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.raft.replicas import UNKNOWN_OFFSET
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState


def stated_high_watermark(state: RaftState) -> Offset:
    """Return the high watermark; unknown while a leader has committed nothing of its own.

    Until its LeaderChange has committed, a leader may know less than a follower that an earlier
    leader told: it states none, as Kafka does, and nobody's knowledge falls.
    """
    role = state.role
    if isinstance(role, Leader) and state.high_watermark <= role.start_offset:
        return UNKNOWN_OFFSET
    return state.high_watermark
