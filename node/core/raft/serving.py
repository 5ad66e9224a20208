"""Answer Fetches of the metadata log (KIP-595 "Fetch request"; 595-45 to 48, 51, 53, 54).

The checks of a Fetch against the epoch and the log, and the long poll. A replica that needs records
below the start of the log is referred to the newest snapshot (KIP-630 "Fetch"). A leader may serve
records before its own flush, since a restarted leader never leads the same epoch again.
"""

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.raft import fetch_rpc, rpc
from kraftproof.node.core.raft.fetch_rpc import FetchParams
from kraftproof.node.core.raft.progress import advance_high_watermark
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.core.raft.stated import stated_high_watermark
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request


class WaitingFetch(Struct, frozen=True, kw_only=True):
    """A Fetch that is answered at news, or at its deadline."""

    event: Received
    fetch: FetchParams
    deadline: Monotonic


class FetchServer:
    """The leader's side of replication; in other roles, the refusals."""

    __slots__ = ("_state", "_waiting")

    def __init__(self, state: RaftState) -> None:
        self._state = state
        self._waiting: dict[NodeId, WaitingFetch] = {}
        """At most one Fetch for each replica, since a replica has at most one in flight."""

    def receive(self, event: Received, request: fetch_request.FetchRequest, now: Instant) -> None:
        """Refuse the Fetch, answer at once, or keep the Fetch until there is news."""
        state = self._state
        fetch = fetch_rpc.read_request(request, event.version)
        if rpc.is_inconsistent_cluster(state.config, request.cluster_id):
            self._answer_top_level_error(event, ErrorCode.INCONSISTENT_CLUSTER_ID)
            return
        if fetch is None:
            self._answer_top_level_error(event, ErrorCode.INVALID_REQUEST)
            return
        error = self._refusal(fetch)
        if error is not ErrorCode.NONE:
            state.outbox.reply(event, fetch_rpc.answer(state, event.version, error))
        elif fetch_rpc.is_consumer(fetch):
            self._answer_consumer(event, fetch)
        else:
            self._replicate(event, fetch, now)

    def _answer_top_level_error(self, event: Received, error: ErrorCode) -> None:
        state = self._state
        answer = fetch_rpc.answer(state, event.version, error, top_level_error=error)
        state.outbox.reply(event, answer)

    def _refusal(self, fetch: FetchParams) -> ErrorCode:
        """Check the epoch of the Fetch (595-47); a consumer may leave the epoch out."""
        is_replica = not fetch_rpc.is_consumer(fetch)
        if is_replica and min(fetch.epoch, fetch.offset, fetch.last_fetched_epoch) < 0:
            return ErrorCode.INVALID_REQUEST
        names_epoch = is_replica or fetch.epoch >= 0
        if names_epoch and fetch.epoch < self._state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if names_epoch and fetch.epoch > self._state.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not self._state.is_leader:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def _answer_consumer(self, event: Received, fetch: FetchParams) -> None:
        """Answer a debugging consumer with committed batches; no replica advances."""
        state = self._state
        if not state.log.start_offset <= fetch.offset <= state.log.end_offset:
            error = ErrorCode.OFFSET_OUT_OF_RANGE
            state.outbox.reply(event, fetch_rpc.answer(state, event.version, error))
            return
        read = state.log.read(fetch.offset, fetch.max_bytes)
        batches = tuple(batch for batch in read if batch.next_offset <= state.high_watermark)
        state.outbox.reply(event, fetch_rpc.answer(state, event.version, batches=batches))

    def _replicate(self, event: Received, fetch: FetchParams, now: Instant) -> None:
        state, role = self._state, self._state.role
        assert isinstance(role, Leader), "refused elsewhere"
        replica = role.replicas.replica(fetch.replica_id, now.monotonic)
        replica.on_fetch(now)
        role.announcement.done(fetch.replica_id)
        replica.snapshot_end = fetch.log_start
        self._answer_superseded(fetch.replica_id)
        if _needs_snapshot(state.log, fetch):
            self._refer_to_snapshot(event)
            return
        # The leader's log holds the replica's last record only if the replica's last epoch ends at
        # or after the fetch offset here, too.
        found = state.log.end_offset_for_epoch(fetch.last_fetched_epoch)
        if found.epoch != fetch.last_fetched_epoch or fetch.offset > found.end_offset:
            answer = fetch_rpc.answer(state, event.version, diverging=found)
            state.outbox.reply(event, answer)
            return
        replica.on_valid_fetch(fetch.offset, state.log.end_offset, now)
        if fetch.replica_id in state.voters:
            advance_high_watermark(state)
        wait_ns = milliseconds(max(0, min(fetch.max_wait_ms, fetch_rpc.LONGEST_WAIT_MS)))
        self._waiting[fetch.replica_id] = WaitingFetch(
            event=event,
            fetch=fetch,
            deadline=Monotonic(now.monotonic + wait_ns),
        )

    def _refer_to_snapshot(self, event: Received) -> None:
        state = self._state
        newest = state.snapshots[-1].snapshot
        state.outbox.reply(event, fetch_rpc.answer(state, event.version, snapshot=newest))

    def _answer_superseded(self, replica_id: NodeId) -> None:
        """Answer the replica's previous Fetch, which the replica has given up."""
        waiting = self._waiting.pop(replica_id, None)
        if waiting is not None:
            self._answer(waiting)

    def settle(self, now: Instant) -> None:
        """Answer the waiting Fetches with news or at their deadline; after a resignation, all."""
        if not self._waiting:
            return
        is_leader, now_ns = self._state.is_leader, now.monotonic
        stated = stated_high_watermark(self._state)
        due = [
            waiting
            for waiting in self._waiting.values()
            if not is_leader or waiting.deadline <= now_ns or self._has_news(waiting, stated)
        ]
        for waiting in due:
            del self._waiting[waiting.fetch.replica_id]
            self._answer(waiting)

    def _has_news(self, waiting: WaitingFetch, stated: Offset) -> bool:
        """Return whether the Fetch can be answered; an observer needs committed records only."""
        state, fetch = self._state, waiting.fetch
        is_voter = fetch.replica_id in state.voters
        ready = state.log.end_offset if is_voter else state.high_watermark
        return fetch.offset < ready or fetch.high_watermark < stated

    def _answer(self, waiting: WaitingFetch) -> None:
        """Answer with the present records; without the leadership, with an error."""
        state, fetch, version = self._state, waiting.fetch, waiting.event.version
        error = self._refusal(fetch)
        if error is not ErrorCode.NONE:
            error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            state.outbox.reply(waiting.event, fetch_rpc.answer(state, version, error))
            return
        if _needs_snapshot(
            state.log, fetch
        ):  # the log may have been cleaned since the Fetch arrived
            self._refer_to_snapshot(waiting.event)
            return
        batches = state.log.read(fetch.offset, fetch.max_bytes)
        state.outbox.reply(waiting.event, fetch_rpc.answer(state, version, batches=batches))

    def deadline(self) -> Monotonic | None:
        """Return the earliest deadline of the waiting Fetches."""
        if not self._waiting:
            return None
        return min([waiting.deadline for waiting in self._waiting.values()])


def _needs_snapshot(log: Log, fetch: FetchParams) -> bool:
    """Return whether the log starts above every offset that it can share with the replica's log."""
    start = log.start
    if start == LOG_BEGIN:
        return False
    is_at_start = fetch.offset == start.end_offset
    return (
        fetch.offset < start.end_offset
        or fetch.last_fetched_epoch < start.epoch
        or (is_at_start and fetch.last_fetched_epoch != start.epoch)
    )
