"""The leader's progress: the high watermark, and when leading must end.

KIP-595 "Fetch" step 4, "Extra condition on commitment", "Leader Progress Timeout"
(595-27, 28, 43). Not: the followers' own view of the high watermark (fetching.py).
"""

from kraftproof.node.core.base.types import Instant, Monotonic
from kraftproof.node.core.raft.quorum import majority_contact, majority_offset
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState


def advance_high_watermark(state: RaftState) -> None:
    """Commit what a majority has flushed, once that includes a record of this leader's epoch."""
    role = state.role
    assert isinstance(role, Leader), "only a leader commits"
    acknowledged = [replica.acknowledged for replica in role.replicas.voters.values()]
    reached = majority_offset([state.flushed, *acknowledged])
    # At start_offset itself stands the LeaderChange: until it is on a majority, nothing of an
    # older epoch commits, however many hold it (Raft's S1-S5 case).
    if reached > role.start_offset and reached > state.high_watermark:
        state.high_watermark = reached


def resignation_deadline(state: RaftState) -> Monotonic | None:
    """When to look whether a majority has been heard of; a sole voter never has to."""
    role = state.role
    return role.replicas.majority_until if isinstance(role, Leader) and state.peers else None


def _majority_until(state: RaftState, role: Leader) -> Monotonic:
    """When a leader stops leading, if it hears of nobody any more."""
    contacts = [replica.contact for replica in role.replicas.voters.values()]
    ourselves = max(contacts)
    since = majority_contact([ourselves, *contacts])
    return Monotonic(since + state.timeouts.fetch_ns)


def resign_without_majority(state: RaftState, now: Instant) -> None:
    """Stop leading if no majority has fetched for the fetch time-out."""
    role = state.role
    if not isinstance(role, Leader) or not state.peers:
        return
    if now.monotonic < role.replicas.majority_until:
        return
    role.replicas.majority_until = _majority_until(state, role)
    if now.monotonic >= role.replicas.majority_until:
        state.resign(now)
