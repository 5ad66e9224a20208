"""The seven roles of a node in the quorum (KIP-595 "Key Concepts"; 595-12).

Frozen types: a role is replaced by the named transitions of state.py and never changed in
place. What survives a crash is not here but in quorum_state.py.
Not: what a role does (elections.py, serving.py, fetching.py, progress.py).

    from         may become
    unattached   unattached, voted, follower, candidate, resigned
    voted        unattached, voted, follower, candidate, resigned
    follower     unattached, voted, follower, candidate, resigned
    candidate    unattached, voted, follower, leader, resigned
    leader       unattached, voted, follower, resigned
    resigned     unattached, voted, follower, candidate, resigned
    observer     observer
"""

from msgspec import Struct

from kraftproof.node.core.base.types import Epoch, Monotonic, NodeId, Offset
from kraftproof.node.core.raft.peer_retries import PeerRetries
from kraftproof.node.core.raft.replicas import Replicas


class Unattached(Struct, frozen=True, kw_only=True):
    """A voter that follows nobody: it has started, or heard of a newer epoch only."""

    epoch: Epoch
    election_deadline: Monotonic
    name: str = "unattached"


class Voted(Struct, frozen=True, kw_only=True):
    """A voter whose vote is given, maybe to itself, and which waits for a leader."""

    epoch: Epoch
    candidate: NodeId
    election_deadline: Monotonic
    name: str = "voted"


class Follower(Struct, frozen=True, kw_only=True):
    """A voter that fetches from the epoch's leader."""

    epoch: Epoch
    leader: NodeId
    election_deadline: Monotonic
    """When it stands, unless a Fetch succeeds before."""
    fetch_timeout_ns: int
    """What a successful Fetch grants: the fetch time-out and this node's jitter."""
    leader_has_ended: bool = False
    """EndQuorumEpoch has set the deadline: no Fetch puts it off any more (595-39)."""
    name: str = "follower"


class Candidate(Struct, frozen=True, kw_only=True):
    """A voter that asks for votes; the tally is in memory only (595-24)."""

    epoch: Epoch
    election_deadline: Monotonic
    granted: tuple[NodeId, ...]
    refused: tuple[NodeId, ...]
    campaign: PeerRetries
    name: str = "candidate"


class Leader(Struct, frozen=True, kw_only=True):
    """The one voter that appends in this epoch."""

    epoch: Epoch
    start_offset: Offset
    """Where its LeaderChange record stands."""
    replicas: Replicas
    announcement: PeerRetries
    name: str = "leader"


class Resigned(Struct, frozen=True, kw_only=True):
    """A voter that has led this epoch and never will again, nor votes in it."""

    epoch: Epoch
    election_deadline: Monotonic
    name: str = "resigned"


class Observer(Struct, frozen=True, kw_only=True):
    """No voter: it replicates, but never votes, stands or leads (595-02)."""

    epoch: Epoch
    name: str = "observer"


Role = Unattached | Voted | Follower | Candidate | Leader | Resigned | Observer
Waiting = Unattached | Voted | Follower | Resigned
"""The roles that stand for election when their deadline comes."""

_SUCCESSORS: dict[type[Role], tuple[type[Role], ...]] = {
    Unattached: (Unattached, Voted, Follower, Candidate, Resigned),
    Voted: (Unattached, Voted, Follower, Candidate, Resigned),
    Follower: (Unattached, Voted, Follower, Candidate, Resigned),
    Candidate: (Unattached, Voted, Follower, Leader, Resigned),
    Leader: (Unattached, Voted, Follower, Resigned),
    Resigned: (Unattached, Voted, Follower, Candidate, Resigned),
    Observer: (Observer,),
}


def assert_transition(old: Role, new: Role) -> None:
    """Refuse a change of role that the table above lacks: it would be our own mistake."""
    assert isinstance(new, _SUCCESSORS[type(old)]), f"no way from {old.name} to {new.name}"
    assert new.epoch >= old.epoch, f"from epoch {old.epoch} back to {new.epoch}"
