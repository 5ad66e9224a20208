"""Advance the leader's high watermark, and end a leadership without a majority.

KIP-595 "Fetch" step 4, "Extra condition on commitment", "Leader Progress Timeout" (595-27, 28, 43).
See fetching.py for the high watermark of followers.
"""

from kraftproof.node.core.base.types import Instant, Monotonic
from kraftproof.node.core.raft.quorum import majority_contact, majority_offset
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState


def advance_high_watermark(state: RaftState) -> None:
    """Commit the offset flushed by a majority, if a record of the own epoch is included."""
    role = state.role
    assert isinstance(role, Leader), "only a leader commits"
    acknowledged = [replica.acknowledged for replica in role.replicas.voters.values()]
    reached = majority_offset([state.flushed, *acknowledged])
    # The LeaderChange record is at start_offset. Until a majority has flushed the record, no record
    # of an older epoch commits, even if every voter has it (figure 8 of the Raft paper).
    if reached > role.start_offset and reached > state.high_watermark:
        state.high_watermark = reached


def resignation_deadline(state: RaftState) -> Monotonic | None:
    """Return the time of the next majority check; None for a sole voter."""
    role = state.role
    return role.replicas.majority_until if isinstance(role, Leader) and state.peers else None


def _majority_until(state: RaftState, role: Leader) -> Monotonic:
    """Return the end of the leadership if no further Fetch arrives."""
    contacts = [replica.contact for replica in role.replicas.voters.values()]
    ourselves = max(contacts)
    since = majority_contact([ourselves, *contacts])
    return Monotonic(since + state.timeouts.fetch_ns)


def resign_without_majority(state: RaftState, now: Instant) -> None:
    """Resign if no majority has fetched within the fetch time-out (check quorum)."""
    role = state.role
    if not isinstance(role, Leader) or not state.peers:
        return
    if now.monotonic < role.replicas.majority_until:
        return
    role.replicas.majority_until = _majority_until(state, role)
    if now.monotonic >= role.replicas.majority_until:
        state.resign(now)
