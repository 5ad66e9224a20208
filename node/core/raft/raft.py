"""One node's part in the quorum that keeps the metadata log (KIP-595).

It composes the parts: elections, announcements, replication of both sides, progress. The caller
hands events in, then calls `settle` once the step's other parts have had their turn, and takes
the effects from the outbox they share.

Simplifications: the voters are static (no KIP-853), and there is no PreVote (KIP-996).
Not: what the records say, nor when a client is answered (node/core/controller).
"""

from collections.abc import Sequence
from random import Random

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    Epoch,
    Instant,
    Monotonic,
    NodeId,
    Offset,
    earliest,
)
from kraftproof.node.core.events import Flushed, Received, SnapshotChecked
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft import describe
from kraftproof.node.core.raft.announcements import Announcements
from kraftproof.node.core.raft.elections import Elections
from kraftproof.node.core.raft.fetching import Fetcher
from kraftproof.node.core.raft.progress import (
    advance_high_watermark,
    resign_without_majority,
    resignation_deadline,
)
from kraftproof.node.core.raft.roles import Leader, Role
from kraftproof.node.core.raft.serving import FetchServer
from kraftproof.node.core.raft.snapshot_keeping import keep
from kraftproof.node.core.raft.snapshot_serving import SnapshotServer
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    describe_quorum_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)
from kraftproof.node.wire.messages.batch import Batch, Record


class Raft:
    """The quorum as the rest of the node sees it."""

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
        self._state = RaftState(config, durable, log, outbox, random, now, snapshots)
        self._elections = Elections(self._state)
        self._announcements = Announcements(self._state, self._elections)
        self._server = FetchServer(self._state)
        self._snapshot_server = SnapshotServer(self._state)
        self._fetcher = Fetcher(self._state, now)
        self._stop_deadline: Monotonic | None = None

    # What it shows

    @property
    def role(self) -> Role:
        """The role, with its `name`."""
        return self._state.role

    @property
    def epoch(self) -> Epoch:
        """The newest epoch known."""
        return self._state.epoch

    @property
    def leader(self) -> NodeId:
        """The leader of this epoch, or NO_NODE."""
        return self._state.leader

    @property
    def is_leader(self) -> bool:
        """Whether this node leads."""
        return self._state.is_leader

    @property
    def epoch_start_offset(self) -> Offset:
        """Where this leader's LeaderChange record stands."""
        role = self._state.role
        assert isinstance(role, Leader), "only a leader has opened its epoch"
        return role.start_offset

    @property
    def high_watermark(self) -> Offset:
        """Everything below is committed, as far as this node knows."""
        return self._state.high_watermark

    @property
    def flushed(self) -> Offset:
        """Everything below is on this node's disk."""
        return self._state.flushed

    @property
    def log(self) -> Log:
        """The metadata log."""
        return self._state.log

    @property
    def snapshot_end(self) -> Offset:
        """Where this node's newest snapshot ends; 0 if there is none."""
        return self._state.snapshot_end

    @property
    def durable(self) -> QuorumState:
        """What would survive a crash."""
        return self._state.durable

    def status(
        self, image_offset: Offset, image_digest: int, broker_state: int | None
    ) -> NodeStatus:
        """What the node shows of itself after a step: the quorum, and what the caller adds."""
        state, log = self._state, self._state.log
        return NodeStatus(
            role=state.role.name,
            epoch=state.epoch,
            leader=state.leader,
            high_watermark=state.high_watermark,
            flushed=state.flushed,
            log_end=log.end_offset,
            image_offset=image_offset,
            image_digest=image_digest,
            voted_for=state.durable.voted_for,
            last_epoch=log.last_epoch,
            snapshot_end=state.snapshot_end,
            broker_state=broker_state,
        )

    # What happens to it

    def remember_committed(self, offset: Offset) -> None:
        """Before the start: everything below had committed, so it is never cut (595-11)."""
        state = self._state
        assert offset <= state.log.end_offset, "recovery has compared it with the log"
        state.high_watermark = max(state.high_watermark, offset)

    def start(self, now: Instant) -> None:
        """Flush what recovery has read, since nobody knows if it was; a sole voter stands."""
        state = self._state
        if state.flushed < state.log.end_offset:
            state.flush()
        if state.is_voter and not state.peers:
            self._elections.become_candidate(now)

    def receive(self, event: Received, now: Instant) -> None:
        """Serve one of the quorum's own requests."""
        message = event.message
        match message:
            case fetch_request.FetchRequest():
                self._server.receive(event, message, now)
            case fetch_snapshot_request.FetchSnapshotRequest():
                self._snapshot_server.receive(event, message, now)
            case vote_request.VoteRequest():
                self._elections.receive(event, message, now)
            case begin_quorum_epoch_request.BeginQuorumEpochRequest():
                self._announcements.receive_begin(event, message, now)
            case end_quorum_epoch_request.EndQuorumEpochRequest():
                self._announcements.receive_end(event, message, now)
            case describe_quorum_request.DescribeQuorumRequest():
                describe.receive(self._state, event, message, now)
            case _:
                raise AssertionError(f"no request of the quorum: {type(message).__name__}")

    def propose(self, records: Sequence[Record], now: Instant) -> Offset:
        """Append one batch as the leader; the last offset, past which it has committed."""
        state = self._state
        assert self.is_leader, "only a leader appends"
        batch = Batch(
            base_offset=state.log.end_offset,
            epoch=state.epoch,
            timestamp_ms=now.wall // NANOSECONDS_PER_MS,
            records=tuple(records),
        )
        state.append(batch)
        state.flush()
        return Offset(batch.last_offset)

    def make_durable(self, end_offset: Offset) -> None:
        """Ask for the log below an offset to be flushed, unless that is under way already."""
        if self._state.flush_requested < end_offset:
            self._state.flush()

    def flushed_event(self, event: Flushed) -> None:
        """Count what is on disk, unless the log has been cut since (docs/architecture.md)."""
        state = self._state
        if event.generation != state.log.generation:
            return
        state.flushed = max(state.flushed, event.end_offset)
        if self.is_leader:
            advance_high_watermark(state)

    def snapshot_written(self, stored: StoredSnapshot) -> None:
        """Keep a snapshot of our own, and what log it leaves to be kept."""
        keep(self._state, stored)

    def snapshot_checked(self, event: SnapshotChecked, now: Instant) -> bool:
        """Take the leader's snapshot for our log, if it is whole and still wanted; or not."""
        return self._fetcher.snapshot_checked(event, now)

    def check_leadership(self, now: Instant) -> None:
        """Resign if overdue: before any other event, so that a paused leader wakes as none."""
        if self._state.is_leader:
            resign_without_majority(self._state, now)

    def tick(self, now: Instant) -> None:
        """Do what is due."""
        self._elections.tick(now)

    def settle(self, now: Instant) -> None:
        """Send and answer what follows from the step so far."""
        if self._state.is_leader:
            self._announcements.settle(now)
        else:
            self._elections.settle(now)
        self._server.settle(now)
        self._fetcher.settle(now)

    def deadline(self) -> Monotonic | None:
        """When it wants a tick, at the latest."""
        if self._state.is_leader:
            return earliest(
                self._announcements.deadline(),
                resignation_deadline(self._state),
                self._server.deadline(),
                self._stop_deadline,
            )
        return earliest(
            self._elections.deadline(),
            self._fetcher.deadline(),
            self._server.deadline(),
            self._stop_deadline,
        )

    # Leaving

    def stop(self, now: Instant) -> None:
        """End the epoch if leading, and take part in no election any more (595-38)."""
        state = self._state
        if state.is_stopping:
            return
        state.is_stopping = True
        if self.is_leader and state.peers:
            self._announcements.end_epoch(now)
        wait_ns = min(state.timeouts.request_ns, state.timeouts.election_ns)
        self._stop_deadline = Monotonic(now.monotonic + wait_ns)

    def has_stopped(self, now: Instant) -> bool:
        """Whether all that had to be told has heard, or has had its time (595-42)."""
        if self._stop_deadline is None:
            return False
        return self._announcements.is_quiet or now.monotonic >= self._stop_deadline
