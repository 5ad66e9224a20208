"""Hold the shared state of the quorum's parts: durable state, role, log and watermarks.

Only the transitions here change the role and the quorum state, and each transition persists the
quorum state before any later effect (595-07).
"""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import NO_NODE, Epoch, Instant, Monotonic, NodeId, Offset
from kraftproof.node.core.effects import Append, Flush, PersistQuorumState, Truncate
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.election_timing import (
    election_backoff_ns,
    election_timeout_ns,
    fetch_timeout_ns,
)
from kraftproof.node.core.raft.peer_retries import PeerRetries
from kraftproof.node.core.raft.replicas import Replicas
from kraftproof.node.core.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Observer,
    Resigned,
    Role,
    RoleEvent,
    Unattached,
    Voted,
    assert_transition,
    role_at_start,
)
from kraftproof.node.core.raft.served_download import ServedDownload
from kraftproof.node.wire.records.batch import Batch


class RaftState:
    """One node's quorum state; the methods are the transitions."""

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
        """Complete snapshots on the disk, oldest first; the log starts at the end of the oldest, or
        at 0."""
        self.snapshot_end = Offset(0)
        """The end offset of the newest snapshot; 0 without a snapshot."""
        self.set_snapshots(snapshots)
        self.served_download: ServedDownload | None = None
        """The download that the node served last, as leader."""
        self.high_watermark = self.snapshot_end
        """Learned again after each start; the content of a snapshot is committed."""
        self.flushed = log.start_offset
        """The offset below which fsync has succeeded since the start; the recovered log is flushed
        again."""
        self.flush_requested = log.start_offset
        """The end of the log at the last Flush."""
        self.elections_lost = 0
        """Consecutive candidacies after which no leader became known."""
        self.is_stopping = False
        """The node shuts down and stands for no further election."""
        deadline = self._election_deadline(now)
        self.role = role_at_start(durable, self.node_id, deadline, is_voter=self.is_voter)
        self.transition_count = 0
        """The number of transitions since the start."""
        self._refresh_derived()

    def _refresh_derived(self) -> None:
        """Update the attributes derived from durable state and role, for use in each step."""
        self.is_leader = isinstance(self.role, Leader)
        was_ours = self.durable.leader == self.node_id and not self.is_leader
        self.epoch: Epoch = self.durable.epoch
        """The newest epoch known."""
        self.leader: NodeId = NO_NODE if was_ours else self.durable.leader
        """The known leader of the epoch; NO_NODE if the node itself has led the epoch and
        resigned."""
        self.followed: NodeId = NO_NODE
        """The node from which the role fetches."""
        if isinstance(self.role, Follower):
            self.followed = self.role.leader
        elif isinstance(self.role, Observer):
            self.followed = self.durable.leader
        self.may_fetch = not isinstance(self.role, Leader | Candidate)
        """Whether the role allows Fetches."""

    def set_snapshots(self, snapshots: Sequence[StoredSnapshot]) -> None:
        """Record the complete snapshots on the disk, oldest first."""
        self.snapshots = tuple(snapshots)
        self.snapshot_end = self.snapshots[-1].snapshot.end_offset if snapshots else Offset(0)

    # Transitions

    def on_epoch_info(self, epoch: Epoch, leader: NodeId, now: Instant) -> bool:
        """Act on an epoch and a leader from an answer (595-55); return whether either was new."""
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
        """Return whether the role already fetches from this leader."""
        return leader == self.followed != NO_NODE

    def enter_epoch(self, epoch: Epoch, leader: NodeId, now: Instant) -> None:
        """Enter an epoch, or record the leader of the current epoch."""
        if not self.is_voter:
            durable = QuorumState(epoch=epoch, leader=leader)
            self._transition(RoleEvent.OBSERVATION, durable, Observer(epoch=epoch))
        elif leader == NO_NODE:
            self._become_unattached(epoch, now)
        elif leader == self.node_id:
            self._become_resigned(epoch, now)
        else:
            self._become_follower(epoch, leader, now)

    def enter_epoch_to_campaign(self, epoch: Epoch, now: Instant) -> None:
        """Enter an epoch in which no voter can win, and become a candidate soon (595-21)."""
        role = Unattached(epoch=epoch, election_deadline=self._backoff_deadline(now))
        self._transition(RoleEvent.NEWER_EPOCH, QuorumState(epoch=epoch), role)

    def _become_unattached(self, epoch: Epoch, now: Instant) -> None:
        deadline = self._election_deadline(now)
        if not isinstance(self.role, Leader | Observer):
            # A lagging voter that raises the epoch repeatedly must not delay other elections.
            deadline = min(deadline, self.role.election_deadline)
        role = Unattached(epoch=epoch, election_deadline=deadline)
        self._transition(RoleEvent.NEWER_EPOCH, QuorumState(epoch=epoch), role)

    def _become_follower(self, epoch: Epoch, leader: NodeId, now: Instant) -> None:
        voted_for = self.durable.voted_for if epoch == self.epoch else NO_NODE
        self.elections_lost = 0
        timeout_ns = fetch_timeout_ns(self.timeouts, self.random)
        self._transition(
            RoleEvent.LEADER_FOUND,
            QuorumState(epoch=epoch, voted_for=voted_for, leader=leader),
            Follower(
                epoch=epoch,
                leader=leader,
                election_deadline=Monotonic(now.monotonic + timeout_ns),
                fetch_timeout_ns=timeout_ns,
            ),
        )

    def _become_resigned(self, epoch: Epoch, now: Instant) -> None:
        """Resign an epoch that the node has led, according to others, before its disk was lost."""
        self._transition(
            RoleEvent.FORMER_LEADER,
            QuorumState(epoch=epoch, voted_for=self.node_id, leader=self.node_id),
            Resigned(epoch=epoch, election_deadline=self._election_deadline(now)),
        )

    def vote_for(self, candidate: NodeId, epoch: Epoch, now: Instant) -> None:
        """Vote for a candidate; the vote is durable before any answer (595-22)."""
        self._transition(
            RoleEvent.VOTE_GIVEN,
            QuorumState(epoch=epoch, voted_for=candidate),
            Voted(
                epoch=epoch,
                candidate=candidate,
                election_deadline=self._election_deadline(now),
            ),
        )

    def become_candidate(self, now: Instant) -> Candidate:
        """Enter the next epoch and vote for itself, durably (595-15)."""
        assert self.is_voter, "an observer never stands"
        self.elections_lost += 1  # reset when a leader becomes known
        epoch = Epoch(self.epoch + 1)
        candidate = Candidate(
            epoch=epoch,
            election_deadline=self._election_deadline(now),
            granted=(self.node_id,),
            refused=(),
            retries=PeerRetries(self.peers, now.monotonic),
        )
        durable = QuorumState(epoch=epoch, voted_for=self.node_id)
        self._transition(RoleEvent.TIME_OUT, durable, candidate)
        return candidate

    def record_vote(self, candidate: Candidate) -> None:
        """Replace the candidate's role by a role with one further vote counted."""
        assert isinstance(self.role, Candidate), "only a candidate counts votes"
        self.role = candidate

    def step_down(self, now: Instant) -> None:
        """End a lost or expired candidacy, and back off for a random time (595-14, 595-16)."""
        assert isinstance(self.role, Candidate), "only a candidate steps down"
        deadline = self._backoff_deadline(now)
        self._transition(
            RoleEvent.ELECTION_LOST,
            self.durable,
            Voted(epoch=self.epoch, candidate=self.node_id, election_deadline=deadline),
        )

    def become_leader(self, now: Instant) -> Leader:
        """Lead the epoch of the won election, durably (595-24)."""
        majority_until = Monotonic(now.monotonic + self.timeouts.fetch_ns)
        leader = Leader(
            epoch=self.epoch,
            start_offset=self.log.end_offset,
            replicas=Replicas(self.peers, now.monotonic, majority_until),
            announcement=PeerRetries(self.peers, now.monotonic),
        )
        self.elections_lost = 0
        self._transition(RoleEvent.ELECTION_WON, replace(self.durable, leader=self.node_id), leader)
        return leader

    def resign(self, now: Instant) -> None:
        """Resign from this epoch for good, and become a candidate again after a backoff."""
        assert isinstance(self.role, Leader), "only a leader resigns"
        deadline = self._backoff_deadline(now)
        self._transition(
            RoleEvent.RESIGNATION,
            self.durable,
            Resigned(epoch=self.epoch, election_deadline=deadline),
        )

    def on_leader_ended(self, deadline: Monotonic) -> None:
        """Become a candidate at the deadline after EndQuorumEpoch, despite Fetches."""
        assert isinstance(self.role, Follower), "only a follower waits for its leader's end"
        self.role = replace(self.role, election_deadline=deadline, leader_has_ended=True)

    def renew_fetch_timeout(self, now: Instant) -> None:
        """Move the election deadline, since a successful Fetch shows a live leader (595-51)."""
        role = self.role
        if isinstance(role, Follower) and not role.leader_has_ended:
            deadline = Monotonic(now.monotonic + role.fetch_timeout_ns)
            self.role = replace(role, election_deadline=deadline)

    def _transition(self, event: RoleEvent, durable: QuorumState, role: Role) -> None:
        assert_transition(self.role, event, role)
        assert role.epoch == durable.epoch, "the role is of the durable epoch"
        if durable != self.durable:
            self.durable = durable
            self.outbox.emit(PersistQuorumState(durable))
        self.role = role
        self.transition_count += 1
        self._refresh_derived()

    # The log

    def append(self, batch: Batch) -> None:
        """Append a batch; an unflushed batch counts for no majority."""
        self.log.append(batch)
        self.outbox.emit(Append(METADATA_LOG, batch))

    def flush(self) -> None:
        """Request a flush of all appended records."""
        end = self.flush_requested = self.log.end_offset
        generation = self.log.generation
        self.outbox.emit(Flush(log=METADATA_LOG, generation=generation, end_offset=end))

    def truncate(self, end_offset: Offset) -> None:
        """Truncate the log, and flush the unflushed rest again as a new generation of the log."""
        kept = self.log.truncate(end_offset)
        self.flushed = min(self.flushed, kept)
        self.flush_requested = min(self.flush_requested, kept)
        self.outbox.emit(Truncate(METADATA_LOG, kept))
        if self.flushed < kept:
            self.flush()

    # Random times

    def _backoff_deadline(self, now: Instant) -> Monotonic:
        backoff_ns = election_backoff_ns(self.timeouts, self.random, self.elections_lost)
        return Monotonic(now.monotonic + backoff_ns)

    def _election_deadline(self, now: Instant) -> Monotonic:
        return Monotonic(now.monotonic + election_timeout_ns(self.timeouts, self.random))
