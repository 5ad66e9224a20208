"""Serve Fetch of topics for consumers and followers (KIP-74, KIP-227, KIP-320, KIP-903).

A Fetch is answered at once with an error, a divergence or enough bytes, and else waits. A consumer
reads below the high watermark, a follower up to the log end. The core names the ranges, and the
shell reads the batches. Fetch sessions are declined: each answer has session 0, so clients go on
with whole requests.
"""

from collections.abc import Callable
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    Epoch,
    Instant,
    Monotonic,
    NodeId,
    Offset,
)
from kraftproof.node.core.broker.data.access import (
    NO_EPOCH,
    LedPartition,
    find_leader,
    topic_id_of,
    unknown_topic,
)
from kraftproof.node.core.broker.data.fetch_answer import (
    TOPIC_IDS_FROM,
    AskedTopic,
    FetchPart,
    PartRead,
    fetch_answer,
)
from kraftproof.node.core.broker.data.rights import denied_reads
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import LogRead, ReplyWithBatches
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.epoch_cache import UNDEFINED_END
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_response

REPLICA_STATE_FROM: Final = 15
"""The first version of Fetch with the replica's broker epoch (KIP-903)."""
NO_REPLICA: Final = -1
LONGEST_WAIT_MS: Final = 30_000
"""The longest wait; an earlier answer is legal, and a lost client costs memory no longer."""
LARGEST_BYTES: Final = 55 * 1024 * 1024
"""The value of fetch.max.bytes."""


class FetchService:
    """The Fetch requests of a broker."""

    __slots__ = ("_authorizer", "_committed", "_listener", "_outbox", "_purgatory", "_replicas")

    def __init__(
        self,
        replicas: Replicas,
        purgatory: Purgatory,
        committed: CommittedImage,
        outbox: Outbox,
        listener: Callable[[str], str],
        authorizer: Authorizer | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._replicas = replicas
        self._purgatory = purgatory
        self._outbox = outbox
        self._listener = listener
        self._committed = committed

    def receive(
        self,
        event: Received,
        request: fetch_request.FetchRequest,
        now: Instant,
    ) -> None:
        """Answer a Fetch now, or hold the request until there is news."""
        if request.session_id != 0:
            refusal = fetch_response.FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
            self._outbox.reply(event, refusal)
            return
        parts = self._parts(event, request)
        replica_id, broker_epoch = _replica(event, request)
        if replica_id >= 0:
            self._record_progress(parts, replica_id, broker_epoch, now)
        waiting = DelayedFetch(self, event, request, parts, replica_id)
        wait_ms = min(request.max_wait_ms, LONGEST_WAIT_MS)
        if wait_ms <= 0 or not parts:
            waiting.expire(now)
        elif not waiting.try_complete(now):
            deadline = Monotonic(now.monotonic + wait_ms * NANOSECONDS_PER_MS)
            self._purgatory.add(waiting, [part.log for part in parts if part.log], deadline)

    def read(self, part: FetchPart, replica_id: int) -> PartRead:
        """Return the readable range of a partition, or the error."""
        if part.log is None or part.error is not ErrorCode.NONE:
            return PartRead(part, error=part.error)
        found = find_leader(
            self._committed.image, self._replicas, part.log, part.asked.current_leader_epoch
        )
        if not isinstance(found, LedPartition):
            return PartRead(part, error=found)
        if replica_id >= 0 and replica_id not in found.leader.followers:
            # With an epoch, the image of this broker may be the older one.
            has_epoch = part.asked.current_leader_epoch != NO_EPOCH
            unknown, moved = ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER
            return PartRead(part, error=unknown if has_epoch else moved)
        return _readable(part, found.replica, is_follower=replica_id >= 0)

    def answer(
        self, event: Received, topics: list[AskedTopic], reads: list[PartRead], max_bytes: int
    ) -> None:
        """Answer with the errors, and with as many batches as fit."""
        ranges: list[LogRead] = []
        room = min(max(max_bytes, 0), LARGEST_BYTES)
        for read in reads:
            if read.size == 0 or read.part.log is None:
                continue
            is_first = not ranges
            limit = min(max(read.part.asked.partition_max_bytes, 0), room)
            if limit == 0 and not is_first:
                continue
            ranges.append(
                LogRead(
                    topic_index=read.part.topic_index,
                    partition_index=read.part.partition_index,
                    log=read.part.log,
                    offset=Offset(read.part.asked.fetch_offset),
                    end_offset=read.end_offset,
                    max_bytes=limit,
                    may_exceed=is_first,
                )
            )
            room = max(room - min(read.size, limit), 0)
        message = fetch_answer(
            self._committed.image, self._listener(event.listener), event.version, topics, reads
        )
        if ranges:
            effect = ReplyWithBatches(request=event.request, message=message, reads=tuple(ranges))
            self._outbox.emit(effect)
        else:
            self._outbox.reply(event, message)

    def _parts(self, event: Received, request: fetch_request.FetchRequest) -> list[FetchPart]:
        has_id = event.version >= TOPIC_IDS_FROM
        parts: list[FetchPart] = []
        denied = denied_reads(
            self._authorizer,
            event,
            request,
            self._committed.image,
            is_follower=_replica(event, request)[0] >= 0,
        )
        for topic_index, topic in enumerate(request.topics):
            topic_id = topic_id_of(
                self._committed.image, topic.topic, topic.topic_id, has_id=has_id
            )
            is_known = topic_id is not None
            error = ErrorCode.NONE if is_known else unknown_topic(has_id=has_id)
            if topic_index in denied:
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            for partition_index, asked in enumerate(topic.partitions):
                parts.append(
                    FetchPart(
                        topic_index=topic_index,
                        partition_index=partition_index,
                        asked=asked,
                        log=None if topic_id is None else LogId(topic_id, asked.partition),
                        error=error,
                    )
                )
        return parts

    def _record_progress(
        self, parts: list[FetchPart], replica_id: NodeId, broker_epoch: int, now: Instant
    ) -> None:
        """Take a follower's position in each partition without an error (497-10).

        A Fetch of an older broker epoch comes from an earlier process of the follower, which may
        have lost its records since: the Fetch does not count (KIP-903).
        """
        registration = self._committed.image.brokers.get(replica_id)
        registered = NO_EPOCH if registration is None else registration.epoch
        is_stale = broker_epoch != NO_EPOCH and broker_epoch < registered
        for part in parts:
            if part.error is not ErrorCode.NONE:
                continue
            if is_stale:
                part.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
                continue
            read = self.read(part, replica_id)
            replica = None if part.log is None else self._replicas.by_log.get(part.log)
            if read.error is not ErrorCode.NONE or read.diverging is not None or replica is None:
                continue
            assert replica.leader is not None, "only the leader's range is readable"
            replica.leader.record_fetch(
                replica_id,
                Offset(part.asked.fetch_offset),
                Offset(part.asked.log_start_offset),
                broker_epoch,
                now.monotonic,
            )
            replica.advance_high_watermark(now)
            self._replicas.note_change(replica.log)


class DelayedFetch:
    """A Fetch that waits for news."""

    __slots__ = (
        "_event",
        "_max_bytes",
        "_min_bytes",
        "_parts",
        "_replica_id",
        "_service",
        "_topics",
    )

    def __init__(
        self,
        service: FetchService,
        event: Received,
        request: fetch_request.FetchRequest,
        parts: list[FetchPart],
        replica_id: int,
    ) -> None:
        self._service = service
        self._event = event
        self._parts = parts
        self._replica_id = replica_id
        self._topics = [(topic.topic, topic.topic_id) for topic in request.topics]
        self._min_bytes = request.min_bytes
        self._max_bytes = request.max_bytes

    def try_complete(self, now: Instant) -> bool:
        """Answer if there are enough bytes, or an error or a divergence."""
        del now
        reads = self._reads()
        is_urgent = any(
            read.error is not ErrorCode.NONE or read.diverging is not None for read in reads
        )
        if not is_urgent and sum(read.size for read in reads) < self._min_bytes:
            return False
        self._service.answer(self._event, self._topics, reads, self._max_bytes)
        return True

    def expire(self, now: Instant) -> None:
        """Answer with the present state."""
        del now
        self._service.answer(self._event, self._topics, self._reads(), self._max_bytes)

    def _reads(self) -> list[PartRead]:
        return [self._service.read(part, self._replica_id) for part in self._parts]


def _replica(event: Received, request: fetch_request.FetchRequest) -> tuple[NodeId, int]:
    """Return the id and the broker epoch of the fetching replica; -1 for a consumer."""
    if event.version >= REPLICA_STATE_FROM:
        state = request.replica_state
        return (NodeId(state.replica_id), state.replica_epoch)
    return (NodeId(request.replica_id), NO_EPOCH)


def _readable(part: FetchPart, replica: Replica, *, is_follower: bool) -> PartRead:
    """Return the range below the log end, or the high watermark for consumers."""
    index, asked = replica.index, part.asked
    offset = Offset(asked.fetch_offset)
    end = index.end_offset if is_follower else index.high_watermark
    read = PartRead(
        part,
        high_watermark=index.high_watermark,
        start_offset=index.start_offset,
        end_offset=end,
    )
    if asked.last_fetched_epoch >= 0:
        known = index.epochs.end_of(Epoch(asked.last_fetched_epoch), index.end_offset)
        if known == UNDEFINED_END:
            read.error = ErrorCode.OFFSET_OUT_OF_RANGE
            return read
        if known.epoch < asked.last_fetched_epoch or known.end_offset < offset:
            read.diverging = known
            return read
    if not index.start_offset <= offset <= index.end_offset:
        read.error = ErrorCode.OFFSET_OUT_OF_RANGE
        return read
    read.size = index.bytes_between(offset, end)
    return read
