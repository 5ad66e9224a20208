"""What the parts of the quorum share: the durable state, the role, the log, the watermarks.

The only place where the role and the quorum state change, each by a named transition that
persists before anything else can be emitted (595-07). Not: when a transition is due.
"""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import NO_NODE, Epoch, Instant, Monotonic, NodeId, Offset
from kraftproof.node.core.effects import Append, Flush, PersistQuorumState, Truncate
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.peer_retries import LARGEST_DOUBLING, PeerRetries
from kraftproof.node.core.raft.replicas import Replicas
from kraftproof.node.core.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Observer,
    Resigned,
    Role,
    Unattached,
    Voted,
    assert_transition,
)
from kraftproof.node.wire.messages.batch import Batch

FIRST_BACKOFF_FRACTION = 4
"""The first retry's bound is this part of election.backoff.max.ms; it doubles each retry."""
TIMEOUT_SPREAD_FRACTION = 2
"""Followers lose their leader at the same moment, so they stand at random within this part of
election.backoff.max.ms. A split vote costs an election time-out and more, and needs two that
stand within one Vote's round trip and fsync of each other: a wider spread makes that rare, and
is itself waited for, by the first of them."""


class RaftState:
    """One node's quorum state; the transitions are its methods."""

    def __init__(
        self,
        config: NodeConfig,
        durable: QuorumState,
        log: Log,
        outbox: Outbox,
        random: Random,
        now: Instant,
        snapshots: Sequence[StoredSnapshot] = (),
    ) -> None:
        self.config = config
        self.node_id = config.node_id
        self.timeouts = config.timeouts
        self.voters = config.voter_ids
        self.peers = tuple(voter for voter in self.voters if voter != self.node_id)
        self.is_voter = self.node_id in self.voters
        self.outbox = outbox
        self.random = random
        self.durable = durable
        self.log = log
        self.snapshots: tuple[StoredSnapshot, ...] = ()
        """On disk and complete, oldest first; the log reaches from the first one's end, or 0."""
        self.snapshot_end = Offset(0)
        """Where our newest snapshot ends; 0 if there is none."""
        self.set_snapshots(snapshots)
        self.high_watermark = self.snapshot_end
        """Learned anew after each start: what a snapshot holds had committed."""
        self.flushed = log.start_offset
        """What fsync has vouched for since the start: recovery's log is flushed again first."""
        self.flush_requested = log.start_offset
        """Where the log ended at the last Flush."""
        self.elections_lost = 0
        """Candidacies in a row that have made nobody leader."""
        self.is_stopping = False
        """It leaves: it stands for no election any more."""
        self.role = self._role_at_start(now)
        self.transition_count = 0
        """How many transitions there have been."""
        self._refresh_derived()

    def _role_at_start(self, now: Instant) -> Role:
        durable = self.durable
        deadline = self._election_deadline(now)
        if not self.is_voter:
            return Observer(epoch=durable.epoch)
        if durable.leader == self.node_id:
            return Resigned(epoch=durable.epoch, election_deadline=deadline)
        if durable.voted_for != NO_NODE:
            return Voted(
                epoch=durable.epoch, candidate=durable.voted_for, election_deadline=deadline
            )
        return Unattached(epoch=durable.epoch, election_deadline=deadline)

    def _refresh_derived(self) -> None:
        """Say what follows from the durable state and the role; it is asked for in each step."""
        self.is_leader = isinstance(self.role, Leader)
        was_ours = self.durable.leader == self.node_id and not self.is_leader
        self.epoch: Epoch = self.durable.epoch
        """The newest epoch known."""
        self.leader: NodeId = NO_NODE if was_ours else self.durable.leader
        """This epoch's leader if known; a node that led it and no longer does is none."""
        self.followed: NodeId = NO_NODE
        """From whom the role is to fetch."""
        if isinstance(self.role, Follower):
            self.followed = self.role.leader
        elif isinstance(self.role, Observer):
            self.followed = self.durable.leader
        self.may_fetch = not isinstance(self.role, Leader | Candidate)
        """Whether the role lets it ask anybody for records."""

    def set_snapshots(self, snapshots: Sequence[StoredSnapshot]) -> None:
        """These are on disk and complete, oldest first, and no others."""
        self.snapshots = tuple(snapshots)
        self.snapshot_end = self.snapshots[-1].snapshot.end_offset if snapshots else Offset(0)

    # Transitions

    def learn(self, epoch: Epoch, leader: NodeId, now: Instant) -> bool:
        """Act on an epoch and leader that an answer names (595-55); true if it was news."""
        if leader != NO_NODE and leader not in self.voters:
            return False
        if epoch > self.epoch:
            self.enter_epoch(epoch, leader, now)
            return True
        is_news = epoch == self.epoch and leader not in (NO_NODE, self.node_id)
        if not is_news or self.durable.leader not in (NO_NODE, leader) or self.is_following(leader):
            return False
        self.enter_epoch(epoch, leader, now)
        return True

    def is_following(self, leader: NodeId) -> bool:
        """Whether the role already is to fetch from this leader."""
        return leader == self.followed != NO_NODE

    def adopt(self, epoch: Epoch, leader: NodeId, now: Instant) -> None:
        """Enter an epoch, or learn the leader of the one known."""
        if not self.is_voter:
            self._transition(QuorumState(epoch=epoch, leader=leader), Observer(epoch=epoch))
        elif leader == NO_NODE:
            self._become_unattached(epoch, now)
        elif leader == self.node_id:
            self._become_resigned(epoch, now)
        else:
            self._become_follower(epoch, leader, now)

    def enter_epoch_to_campaign(self, epoch: Epoch, now: Instant) -> None:
        """Enter an epoch that nobody may win, and stand soon oneself (595-21)."""
        deadline = Monotonic(now.monotonic + self.election_backoff_ns())
        self._transition(
            QuorumState(epoch=epoch), Unattached(epoch=epoch, election_deadline=deadline)
        )

    def _become_unattached(self, epoch: Epoch, now: Instant) -> None:
        deadline = self._election_deadline(now)
        if not isinstance(self.role, Leader | Observer):
            # A laggard that raises the epoch again and again must not put off the others.
            deadline = min(deadline, self.role.election_deadline)
        self._transition(
            QuorumState(epoch=epoch), Unattached(epoch=epoch, election_deadline=deadline)
        )

    def _become_follower(self, epoch: Epoch, leader: NodeId, now: Instant) -> None:
        voted_for = self.durable.voted_for if epoch == self.epoch else NO_NODE
        self.elections_lost = 0
        spread_ns = self.timeouts.election_backoff_max_ns // TIMEOUT_SPREAD_FRACTION
        fetch_timeout_ns = self.timeouts.fetch_ns + self.random.randint(0, spread_ns)
        self._transition(
            QuorumState(epoch=epoch, voted_for=voted_for, leader=leader),
            Follower(
                epoch=epoch,
                leader=leader,
                election_deadline=Monotonic(now.monotonic + fetch_timeout_ns),
                fetch_timeout_ns=fetch_timeout_ns,
            ),
        )

    def _become_resigned(self, epoch: Epoch, now: Instant) -> None:
        """Others know this node as a leader it doesn't remember to be: it never votes there."""
        self._transition(
            QuorumState(epoch=epoch, voted_for=self.node_id, leader=self.node_id),
            Resigned(epoch=epoch, election_deadline=self._election_deadline(now)),
        )

    def vote_for(self, candidate: NodeId, epoch: Epoch, now: Instant) -> None:
        """Give this epoch's vote, durably before it is told to anyone (595-22)."""
        self._transition(
            QuorumState(epoch=epoch, voted_for=candidate),
            Voted(
                epoch=epoch,
                candidate=candidate,
                election_deadline=self._election_deadline(now),
            ),
        )

    def stand(self, now: Instant) -> Candidate:
        """Open the next epoch and vote for oneself in it, durably (595-15)."""
        assert self.is_voter, "an observer never stands"
        self.elections_lost += 1  # until a leader is known, it or another
        epoch = Epoch(self.epoch + 1)
        candidate = Candidate(
            epoch=epoch,
            election_deadline=self._election_deadline(now),
            granted=(self.node_id,),
            refused=(),
            retries=PeerRetries(self.peers, now.monotonic),
        )
        self._transition(QuorumState(epoch=epoch, voted_for=self.node_id), candidate)
        return candidate

    def tally(self, candidate: Candidate) -> None:
        """Replace a candidate by itself with one more vote counted."""
        assert isinstance(self.role, Candidate), "only a candidate counts votes"
        self.role = candidate

    def step_down(self, now: Instant) -> None:
        """End a candidacy that can't or didn't win, and back off at random (595-14, 595-16)."""
        assert isinstance(self.role, Candidate), "only a candidate steps down"
        deadline = Monotonic(now.monotonic + self.election_backoff_ns())
        self._transition(
            self.durable,
            Voted(epoch=self.epoch, candidate=self.node_id, election_deadline=deadline),
        )

    def lead(self, now: Instant) -> Leader:
        """Lead the epoch just won, durably (595-24)."""
        majority_until = Monotonic(now.monotonic + self.timeouts.fetch_ns)
        leader = Leader(
            epoch=self.epoch,
            start_offset=self.log.end_offset,
            replicas=Replicas(self.peers, now.monotonic, majority_until),
            announcement=PeerRetries(self.peers, now.monotonic),
        )
        self.elections_lost = 0
        self._transition(replace(self.durable, leader=self.node_id), leader)
        return leader

    def resign(self, now: Instant) -> None:
        """Stop leading; the epoch stays this node's last as leader, and it stands again soon."""
        assert isinstance(self.role, Leader), "only a leader resigns"
        deadline = Monotonic(now.monotonic + self.election_backoff_ns())
        self._transition(self.durable, Resigned(epoch=self.epoch, election_deadline=deadline))

    def on_leader_ended(self, deadline: Monotonic) -> None:
        """The leader has ended its epoch: stand at the deadline, whatever a Fetch says."""
        assert isinstance(self.role, Follower), "only a follower waits for its leader's end"
        self.role = replace(self.role, election_deadline=deadline, leader_has_ended=True)

    def renew_fetch_timeout(self, now: Instant) -> None:
        """A Fetch has succeeded: the leader is alive (595-51)."""
        role = self.role
        if isinstance(role, Follower) and not role.leader_has_ended:
            deadline = Monotonic(now.monotonic + role.fetch_timeout_ns)
            self.role = replace(role, election_deadline=deadline)

    def _move(self, durable: QuorumState, role: Role) -> None:
        assert_transition(self.role, role)
        assert role.epoch == durable.epoch, "the role is of the durable epoch"
        if durable != self.durable:
            self.durable = durable
            self.outbox.emit(PersistQuorumState(durable))
        self.role = role
        self.transition_count += 1
        self._refresh_derived()

    # The log

    def append(self, batch: Batch) -> None:
        """Append one batch; it counts for nothing before it is flushed."""
        self.log.append(batch)
        self.outbox.emit(Append(batch))

    def flush(self) -> None:
        """Ask for everything appended to be made durable."""
        self.flush_requested = self.log.end_offset
        self.outbox.emit(Flush(generation=self.log.generation, end_offset=self.log.end_offset))

    def truncate(self, end_offset: Offset) -> None:
        """Cut the log; what is left and was never flushed is flushed again, as another log."""
        kept = self.log.truncate(end_offset)
        self.flushed = min(self.flushed, kept)
        self.flush_requested = min(self.flush_requested, kept)
        self.outbox.emit(Truncate(kept))
        if self.flushed < kept:
            self.flush()

    # Chance

    def election_backoff_ns(self) -> int:
        """A random wait before the next election, its bound doubling with each retry (595-14)."""
        longest_ns = self.timeouts.election_backoff_max_ns
        first_ns = longest_ns // FIRST_BACKOFF_FRACTION
        doublings = min(max(0, self.elections_lost - 1), LARGEST_DOUBLING)
        bound_ns = min(longest_ns, first_ns << doublings)
        return self.random.randint(0, bound_ns)

    def _election_deadline(self, now: Instant) -> Monotonic:
        election_ns = self.timeouts.election_ns
        return Monotonic(now.monotonic + election_ns + self.random.randint(0, election_ns))
