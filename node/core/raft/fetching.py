"""Fetch the metadata log from the leader, and discover the leader.

KIP-595 "Fetch response", "Current Leader Discovery" (595-49 to 52, 55 to 58, 62). A Fetch of a
voter acknowledges every record below its offset, and waits until the log is flushed.

Without a leader, the node asks random voters: after no answer the next voter at once, while the
silent voter is left out for a growing time (595-57); after an answer, following a short wait.
"""

from functools import partial

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    NO_NODE,
    Epoch,
    Instant,
    Monotonic,
    NodeId,
    Offset,
)
from kraftproof.node.core.effects import Exit
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.core.log.log import EpochEnd
from kraftproof.node.core.raft import fetch_rpc
from kraftproof.node.core.raft.fetch_rpc import FetchResult
from kraftproof.node.core.raft.peer_retries import PeerBackoff, retry_backoff_ns
from kraftproof.node.core.raft.snapshots.download import SnapshotFetcher
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_response
from kraftproof.node.wire.records.batch import Batch

REDISCOVERY_FRACTION = 10
"""Divisor of retry.backoff.max.ms: the longest wait before voters that answer are asked again."""
KEEPALIVE_FRACTION = 4
"""Number of Fetches in a fetch time-out while the node checks a downloaded snapshot."""


class Fetcher:
    """The pulling side of replication: followers, observers, and voters without a leader."""

    __slots__ = (
        "_backoffs",
        "_failed_discoveries",
        "_has_leader_answered",
        "_is_in_flight",
        "_is_leader_lost",
        "_last_target",
        "_leadership",
        "_not_before",
        "_sent_at",
        "_serial",
        "_state",
        "_transition_count",
        "snapshots",
    )

    def __init__(self, state: RaftState, now: Instant) -> None:
        self._state = state
        self.snapshots = SnapshotFetcher(state, on_abandoned=self._rediscover_leader)
        self._serial = 0
        self._is_in_flight = False
        self._is_leader_lost = False
        """The leader itself has answered that its leadership is over."""
        self._last_target = NO_NODE
        self._sent_at = now.monotonic
        self._backoffs: dict[NodeId, PeerBackoff] = {}
        self._has_leader_answered = False
        self._failed_discoveries = 0
        """Consecutive answers with neither records nor a newer leader."""
        self._not_before = now.monotonic
        self._transition_count = state.transition_count
        self._leadership = self._current_leadership()

    def deadline(self) -> Monotonic | None:
        """Return the time of the next Fetch or slice; None if the node waits for an event."""
        if self._is_in_flight:
            return None
        if self.snapshots.is_downloading:
            return self.snapshots.deadline()
        return self._due() if self._may_fetch() else None

    def _due(self) -> Monotonic:
        if not self._backoffs or len(self._backoffs) < len(self._state.peers):
            return self._not_before  # at least one voter is not backed off
        return max(self._not_before, min([backoff.until for backoff in self._backoffs.values()]))

    def settle(self, now: Instant) -> None:
        """Send the next Fetch if the time has come."""
        state = self._state
        if self._transition_count != state.transition_count:
            self._transition_count = state.transition_count
            if self._leadership != self._current_leadership():
                self._on_new_leadership(now)
        is_downloading = self.snapshots.settle(now)
        if self._is_in_flight or is_downloading or not self._may_fetch():
            return
        if now.monotonic < self._due():
            return
        target = self._target(now)
        self._last_target = target
        self._sent_at = now.monotonic
        self._serial += 1
        self._is_in_flight = True
        state.outbox.send(
            target,
            fetch_rpc.request(state, self._max_wait_ms()),
            fetch_rpc.FETCH_VERSION,
            self._request_timeout_ns(target),
            partial(self._answered, self._serial, target),
        )

    def _current_leadership(self) -> tuple[Epoch, NodeId, bool]:
        leader = self._state.leader
        return (self._state.epoch, leader, self._state.is_following(leader))

    def _on_new_leadership(self, now: Instant) -> None:
        """Make the Fetch in flight stale after a change of epoch or leader."""
        self._leadership = self._current_leadership()
        self._serial += 1
        self._is_in_flight = False
        self._is_leader_lost = False
        self._has_leader_answered = False
        self._failed_discoveries = 0
        self._not_before = now.monotonic
        self._backoffs.pop(self._state.leader, None)
        if self._state.leader == NO_NODE:
            # Usually an election is under way, and the winner will soon announce itself.
            self._schedule_rediscovery(now)

    def _may_fetch(self) -> bool:
        state = self._state
        if state.is_stopping or not state.peers:
            return False
        if not state.is_voter:
            return (
                True  # an observer acknowledges no record, so flushes matter for its snapshots only
            )
        if not state.may_fetch:
            return False
        return state.flushed == state.log.end_offset

    def _end_of_backoff(self, peer: NodeId) -> Monotonic:
        backoff = self._backoffs.get(peer)
        return self._not_before if backoff is None else backoff.until

    def _target(self, now: Instant) -> NodeId:
        """Return the leader; without answers from the leader, a random voter."""
        state = self._state
        has_leader = state.is_following(state.leader) and not self._is_leader_lost
        if has_leader and self._end_of_backoff(state.leader) <= now.monotonic:
            return state.leader
        willing = [peer for peer in state.peers if self._end_of_backoff(peer) <= now.monotonic]
        others = [peer for peer in willing if peer != self._last_target]
        return state.random.choice(others or willing)

    def _max_wait_ms(self) -> int:
        """Return the long poll's time; 0 for an epoch's first Fetch, for the high watermark."""
        if not self._has_leader_answered:
            return 0
        fetch_ms = self._state.timeouts.fetch_ns // NANOSECONDS_PER_MS
        return min(fetch_rpc.LONGEST_WAIT_MS, fetch_ms // 2)

    def _request_timeout_ns(self, target: NodeId) -> int:
        """Return the time-out of a Fetch, no longer than the node waits for the peer."""
        timeouts = self._state.timeouts
        own_ns = timeouts.fetch_ns if target == self._state.leader else timeouts.election_ns
        return min(timeouts.request_ns, own_ns)

    def _back_off(self, peer: NodeId, now: Instant) -> None:
        """Leave a voter without an answer alone for a while, longer after each failure."""
        backoff = self._backoffs.get(peer)
        times = 1 if backoff is None else backoff.times + 1
        wait_ns = retry_backoff_ns(self._state.timeouts, times)
        longest_ns = self._request_timeout_ns(peer)
        if now.monotonic - self._sent_at >= longest_ns:
            # A paused or unreachable peer would cost the same time again. Whatever the failure
            # took beyond the time-out was a pause of this node, which has to catch up.
            wait_ns = max(wait_ns, longest_ns)
        self._backoffs[peer] = PeerBackoff(Monotonic(now.monotonic + wait_ns), times)
        self._has_leader_answered = False

    def _rediscover_leader(self, now: Instant) -> None:
        """Ask other voters for the leader, since the leader's snapshot has not arrived."""
        self._is_leader_lost = True
        self._schedule_rediscovery(now)

    def _schedule_rediscovery(self, now: Instant) -> None:
        """Ask again soon, after an answer with neither records nor a newer leader."""
        timeouts = self._state.timeouts
        self._has_leader_answered = False
        self._failed_discoveries += 1
        longest_ns = timeouts.retry_backoff_max_ns // REDISCOVERY_FRACTION
        wait_ns = min(longest_ns, retry_backoff_ns(timeouts, self._failed_discoveries))
        self._not_before = Monotonic(now.monotonic + wait_ns)

    def _answered(self, serial: int, target: NodeId, message: Message | None, now: Instant) -> None:
        state = self._state
        is_current = serial == self._serial
        if is_current:
            self._is_in_flight = False
        if message is None:
            if is_current:
                self._back_off(target, now)
            return
        assert isinstance(message, fetch_response.FetchResponse), "an answer of its request"
        fetched = fetch_rpc.read_answer(message)
        if fetched.top_level_error != ErrorCode.NONE:
            self._on_top_level_error(target, fetched, now)
            return
        self._backoffs.pop(target, None)
        if state.on_epoch_info(fetched.epoch, fetched.leader, now) or not is_current:
            # Records of an epoch that the node enters only now are fetched again in that epoch.
            return
        if fetched.error != ErrorCode.NONE or not self._is_from_leader(target, fetched):
            self._schedule_rediscovery(now)
            self._is_leader_lost = target == state.leader or fetched.leader != state.leader
        else:
            self._on_fetched(fetched, now)

    def _is_from_leader(self, target: NodeId, fetched: FetchResult) -> bool:
        return self._state.is_following(target) and fetched.epoch == self._state.epoch

    def _on_top_level_error(self, target: NodeId, fetched: FetchResult, now: Instant) -> None:
        """Exit if the leader belongs to another cluster; back off from other voters (595-62)."""
        is_other_cluster = fetched.top_level_error == ErrorCode.INCONSISTENT_CLUSTER_ID
        if is_other_cluster and fetched.leader == target:
            reason = (
                f"the leader, node {target}, is of another cluster than"
                f" {self._state.config.cluster_id}"
            )
            self._state.outbox.emit(Exit(status=1, reason=reason))
            return
        self._back_off(target, now)

    def _on_fetched(self, fetched: FetchResult, now: Instant) -> None:
        state = self._state
        self._failed_discoveries = 0
        self._is_leader_lost = False
        self._has_leader_answered = True
        self._not_before = now.monotonic
        state.renew_fetch_timeout(now)
        if fetched.diverging is not None:
            self._truncate(fetched.diverging, now)
        elif fetched.snapshot is not None:
            self._refer_to_snapshot(fetched.snapshot, now)
        elif self._append(fetched.batches):
            reached = min(fetched.high_watermark, state.log.end_offset)
            state.high_watermark = max(state.high_watermark, reached)
        else:
            self._schedule_rediscovery(now)

    def _refer_to_snapshot(self, snapshot: SnapshotId, now: Instant) -> None:
        """Download the named snapshot; while a download is checked, fetch as a keep-alive."""
        if self.snapshots.is_being_checked:
            pause_ns = self._state.timeouts.fetch_ns // KEEPALIVE_FRACTION
            self._not_before = Monotonic(now.monotonic + pause_ns)
        else:
            self.snapshots.begin(snapshot, now)

    def snapshot_checked(self, event: SnapshotChecked, now: Instant) -> bool:
        """Replace the log by a checked snapshot if still needed; return whether it was."""
        is_installed = self.snapshots.checked(event, now)
        if is_installed:
            self._serial += 1  # a Fetch in flight continues the replaced log
            self._is_in_flight = False
            self._not_before = now.monotonic
        return is_installed

    def _append(self, batches: tuple[Batch, ...]) -> bool:
        """Append the batches that continue the log; return False at a batch that does not."""
        state = self._state
        for batch in batches:
            is_next = batch.base_offset == state.log.end_offset
            if not is_next or not state.log.last_epoch <= batch.epoch <= state.epoch:
                return False
            state.append(batch)
        if batches and state.is_voter:
            state.flush()
        return True

    def _truncate(self, diverging: EpochEnd, now: Instant) -> None:
        """Truncate to the common prefix; exit if committed records would be cut (595-49)."""
        state = self._state
        ours = state.log.end_offset_for_epoch(diverging.epoch)
        end_offset = Offset(min(diverging.end_offset, ours.end_offset))
        if end_offset < state.high_watermark:
            reason = (
                f"the leader's log ends epoch {diverging.epoch} at offset {diverging.end_offset},"
                f" below the high watermark {state.high_watermark} of this one"
            )
            state.outbox.emit(Exit(status=1, reason=reason))
            return
        if end_offset < state.log.end_offset:
            state.truncate(end_offset)
        else:
            self._schedule_rediscovery(now)
