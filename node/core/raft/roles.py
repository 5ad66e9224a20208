"""Define the seven roles of the quorum and their transitions (KIP-595 "Key Concepts"; 595-12).

Roles are frozen values, replaced by the transitions of state.py. See quorum_state.py for the state
that survives a crash.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE, Epoch, Monotonic, NodeId, Offset
from kraftproof.node.core.raft.peer_retries import PeerRetries
from kraftproof.node.core.raft.replicas import Replicas


class Unattached(Struct, frozen=True, kw_only=True):
    """A voter without a known leader, after a start or after news of a newer epoch."""

    epoch: Epoch
    election_deadline: Monotonic
    name: str = "unattached"


class Voted(Struct, frozen=True, kw_only=True):
    """A voter that has voted, for itself or another candidate, and waits for a leader."""

    epoch: Epoch
    candidate: NodeId
    election_deadline: Monotonic
    name: str = "voted"


class Follower(Struct, frozen=True, kw_only=True):
    """A voter that fetches from the leader of the epoch."""

    epoch: Epoch
    leader: NodeId
    election_deadline: Monotonic
    """The time of its candidacy; each successful Fetch moves the deadline."""
    fetch_timeout_ns: int
    """The time that a successful Fetch grants: controller.quorum.fetch.timeout.ms and a random
    part."""
    leader_has_ended: bool = False
    """EndQuorumEpoch has set the deadline, which Fetches no longer move (595-39)."""
    name: str = "follower"


class Candidate(Struct, frozen=True, kw_only=True):
    """A voter that asks for votes; the counted votes are in memory only (595-24)."""

    epoch: Epoch
    election_deadline: Monotonic
    granted: tuple[NodeId, ...]
    refused: tuple[NodeId, ...]
    retries: PeerRetries
    name: str = "candidate"


class Leader(Struct, frozen=True, kw_only=True):
    """The only voter that appends records in the epoch."""

    epoch: Epoch
    start_offset: Offset
    """The offset of its LeaderChange record."""
    replicas: Replicas
    announcement: PeerRetries
    name: str = "leader"


class Resigned(Struct, frozen=True, kw_only=True):
    """A former leader of the epoch, which neither leads nor votes in the epoch again."""

    epoch: Epoch
    election_deadline: Monotonic
    name: str = "resigned"


class Observer(Struct, frozen=True, kw_only=True):
    """A replica that is no voter: it never votes, stands for election or leads (595-02)."""

    epoch: Epoch
    name: str = "observer"


Role = Unattached | Voted | Follower | Candidate | Leader | Resigned | Observer
Waiting = Unattached | Voted | Follower | Resigned
"""The roles that become candidate at their deadline."""


def role_at_start(
    durable: QuorumState, node_id: NodeId, deadline: Monotonic, *, is_voter: bool
) -> Role:
    """Return the role of a node that starts with this quorum state."""
    epoch = durable.epoch
    if not is_voter:
        return Observer(epoch=epoch)
    if durable.leader == node_id:
        return Resigned(epoch=epoch, election_deadline=deadline)
    if durable.voted_for != NO_NODE:
        return Voted(epoch=epoch, candidate=durable.voted_for, election_deadline=deadline)
    return Unattached(epoch=epoch, election_deadline=deadline)


class RoleEvent(Enum):
    """The events that change the role."""

    NEWER_EPOCH = "newer epoch, leader unknown"
    LEADER_FOUND = "leader of the epoch known"
    VOTE_GIVEN = "vote given"
    TIME_OUT = "deadline, or first successor"
    ELECTION_WON = "majority of votes"
    ELECTION_LOST = "votes refused, or time-out"
    RESIGNATION = "no majority fetches, or stop"
    OBSERVATION = "newer epoch, or leader known"
    FORMER_LEADER = "named as the epoch's leader"


_VOTERS: Final = (Unattached, Voted, Follower, Candidate, Leader, Resigned)
_WITHOUT_LEADERSHIP: Final = (Unattached, Voted, Follower, Resigned)

TRANSITIONS: Final[Mapping[tuple[RoleEvent, type[Role]], tuple[type[Role], ...]]] = {
    (RoleEvent.NEWER_EPOCH, Unattached): _VOTERS,
    (RoleEvent.LEADER_FOUND, Follower): _VOTERS,
    (RoleEvent.VOTE_GIVEN, Voted): _VOTERS,
    (RoleEvent.FORMER_LEADER, Resigned): _VOTERS,
    (RoleEvent.TIME_OUT, Candidate): _WITHOUT_LEADERSHIP,
    (RoleEvent.ELECTION_WON, Leader): (Candidate,),
    (RoleEvent.ELECTION_LOST, Voted): (Candidate,),
    (RoleEvent.RESIGNATION, Resigned): (Leader,),
    (RoleEvent.OBSERVATION, Observer): (Observer,),
}
"""The previous roles from which an event leads to a role; see the package for the table."""


def assert_transition(old: Role, event: RoleEvent, new: Role) -> None:
    """Assert that TRANSITIONS has the change of role; a failure is an error of this program."""
    sources = TRANSITIONS.get((event, type(new)), ())
    assert type(old) in sources, f"no way from {old.name} to {new.name} at {event.name}"
    assert new.epoch >= old.epoch, f"from epoch {old.epoch} back to {new.epoch}"


def transition_table() -> str:
    """Return the table of transitions as aligned text: from, event, to."""
    rows = [
        (_source(sources), event.value, _name(target))
        for (event, target), sources in TRANSITIONS.items()
    ]
    rows.insert(0, ("from", "event", "to"))
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"{old:<{first}}  {event:<{second}}  {new}" for old, event, new in rows)


def _source(sources: tuple[type[Role], ...]) -> str:
    if sources == _VOTERS:
        return "any voter"
    if sources == _WITHOUT_LEADERSHIP:
        return "any voter but leader, candidate"
    return ", ".join(map(_name, sources))


def _name(role: type[Role]) -> str:
    return role.__name__.lower()
