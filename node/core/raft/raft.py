"""Compose one node's part in the quorum that replicates the metadata log (KIP-595).

The parts are elections, announcements, both sides of replication, and progress. For each event the
caller calls a method of Raft, runs the controller and the broker, calls `settle`, and takes the
effects from the shared outbox.

Simplifications: the voters are static (no KIP-853), and there is no PreVote (KIP-996). See
node/core/controller for the content of records and for answers to clients.
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
from kraftproof.node.core.raft.snapshots.keeping import keep
from kraftproof.node.core.raft.snapshots.serving import SnapshotServer
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
from kraftproof.node.wire.records.batch import Batch, Record, WriteLevel


class Raft:
    """The interface of the quorum to the rest of the node."""

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

    # State

    @property
    def role(self) -> Role:
        """Return the role, with its `name`."""
        return self._state.role

    @property
    def epoch(self) -> Epoch:
        """Return the newest epoch known."""
        return self._state.epoch

    @property
    def leader(self) -> NodeId:
        """Return the leader of the current epoch, or NO_NODE."""
        return self._state.leader

    @property
    def is_leader(self) -> bool:
        """Return whether the node is the leader."""
        return self._state.is_leader

    @property
    def epoch_start_offset(self) -> Offset:
        """Return the offset of the leader's LeaderChange record."""
        role = self._state.role
        assert isinstance(role, Leader), "only a leader has opened its epoch"
        return role.start_offset

    @property
    def high_watermark(self) -> Offset:
        """Return the high watermark known to the node: every record below is committed."""
        return self._state.high_watermark

    @property
    def flushed(self) -> Offset:
        """Return the flushed offset: every record below is on the node's disk."""
        return self._state.flushed

    @property
    def log(self) -> Log:
        """Return the metadata log."""
        return self._state.log

    @property
    def snapshot_end(self) -> Offset:
        """Return the end offset of the newest snapshot; 0 without a snapshot."""
        return self._state.snapshot_end

    @property
    def durable(self) -> QuorumState:
        """Return the state that survives a crash."""
        return self._state.durable

    def status(
        self, image_offset: Offset, image_digest: int, broker_state: int | None
    ) -> NodeStatus:
        """Return the node's status from the quorum's state and the caller's values."""
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

    # Events

    def remember_committed(self, offset: Offset) -> None:
        """Restore the high watermark from disk: committed records are never truncated (595-11)."""
        state = self._state
        assert offset <= state.log.end_offset, "recovery has compared it with the log"
        state.high_watermark = max(state.high_watermark, offset)

    def start(self, now: Instant) -> None:
        """Flush the recovered log, which may be unflushed; a sole voter becomes a candidate."""
        state = self._state
        if state.flushed < state.log.end_offset:
            state.flush()
        if state.is_voter and not state.peers:
            self._elections.become_candidate(now)

    def receive(self, event: Received, now: Instant) -> None:
        """Serve a request between members of the quorum."""
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

    @property
    def is_only_voter(self) -> bool:
        """Return whether this node is the only voter, so that nobody can replace it as leader."""
        return self._state.is_voter and not self._state.peers

    def propose(
        self, records: Sequence[Record], now: Instant, level: WriteLevel | None = None
    ) -> Offset:
        """Append a batch as the leader; return its last offset, for use with the high watermark.

        The level of metadata.version decides the versions of the records.
        """
        state = self._state
        assert self.is_leader, "only a leader appends"
        batch = Batch(
            base_offset=state.log.end_offset,
            epoch=state.epoch,
            timestamp_ms=now.wall // NANOSECONDS_PER_MS,
            records=tuple(records),
            level=level,
        )
        state.append(batch)
        state.flush()
        return Offset(batch.last_offset)

    def make_durable(self, end_offset: Offset) -> None:
        """Flush the log below an offset, unless a flush of that part is under way."""
        if self._state.flush_requested < end_offset:
            self._state.flush()

    def flushed_event(self, event: Flushed) -> None:
        """Advance the flushed offset, unless the log was truncated since (docs/architecture.md)."""
        state = self._state
        if event.generation != state.log.generation:
            return
        state.flushed = max(state.flushed, event.end_offset)
        if self.is_leader:
            advance_high_watermark(state)

    def snapshot_written(self, stored: StoredSnapshot, now: Instant) -> None:
        """Record a snapshot written by this node, and clean the log below."""
        keep(self._state, stored, now)

    def snapshot_checked(self, event: SnapshotChecked, now: Instant) -> bool:
        """Replace the log by the leader's snapshot if still needed; return whether it was."""
        return self._fetcher.snapshot_checked(event, now)

    def check_leadership(self, now: Instant) -> None:
        """Resign without a majority, before other events, so that a paused leader never acts."""
        if self._state.is_leader:
            resign_without_majority(self._state, now)

    def tick(self, now: Instant) -> None:
        """Act on the election deadline."""
        self._elections.tick(now)

    def settle(self, now: Instant) -> None:
        """Send the requests and the answers that result from the step."""
        if self._state.is_leader:
            self._announcements.settle(now)
        else:
            self._elections.settle(now)
        self._server.settle(now)
        self._fetcher.settle(now)

    def deadline(self) -> Monotonic | None:
        """Return the latest time of the next tick."""
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

    # Shutdown

    def stop(self, now: Instant) -> None:
        """End the epoch as a leader, and take part in no further election (595-38)."""
        state = self._state
        if state.is_stopping:
            return
        state.is_stopping = True
        if self.is_leader and state.peers:
            self._announcements.end_epoch(now)
        wait_ns = min(state.timeouts.request_ns, state.timeouts.election_ns)
        self._stop_deadline = Monotonic(now.monotonic + wait_ns)

    def has_stopped(self, now: Instant) -> bool:
        """Return whether each voter has answered the EndQuorumEpoch or its time is up (595-42)."""
        if self._stop_deadline is None:
            return False
        return self._announcements.is_quiet or now.monotonic >= self._stop_deadline
