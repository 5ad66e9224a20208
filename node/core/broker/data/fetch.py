"""Serve Fetch of topics for consumers and followers (KIP-74, KIP-227, KIP-320, KIP-903).

A Fetch is answered at once with an error, a divergence or enough bytes, and else waits. A consumer
reads below the high watermark, a follower up to the log end. The core names the ranges, and the
shell reads the batches. Fetch sessions are declined: each answer has session 0, so clients go on
with whole requests.
"""

from collections.abc import Callable, Sequence
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    Instant,
    Monotonic,
    NodeId,
    Offset,
)
from kraftproof.node.core.broker.data.access import (
    NO_EPOCH,
    LedPartition,
    find_leader,
)
from kraftproof.node.core.broker.data.fetch_answer import (
    AskedTopic,
    FetchPart,
    PartRead,
    fetch_answer,
)
from kraftproof.node.core.broker.data.fetch_ranges import parts_of, readable, replica_of
from kraftproof.node.core.broker.data.repeated import fetched_once
from kraftproof.node.core.broker.data.rights import denied_reads
from kraftproof.node.core.events import BatchesRead, Received
from kraftproof.node.core.log_effects import LogRead, ReplyWithBatches
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.quotas.client_rates import ClientRates
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_response

NO_REPLICA: Final = -1
LONGEST_WAIT_MS: Final = 30_000
"""The longest wait; an earlier answer is legal, and a lost client costs memory no longer."""
LARGEST_BYTES: Final = 55 * 1024 * 1024
"""The value of fetch.max.bytes."""


class FetchService:
    """The Fetch requests of a broker."""

    __slots__ = (
        "_authorizer",
        "_committed",
        "_listener",
        "_outbox",
        "_purgatory",
        "_rates",
        "_replicas",
    )

    def __init__(
        self,
        replicas: Replicas,
        purgatory: Purgatory,
        committed: CommittedImage,
        outbox: Outbox,
        listener: Callable[[str], str],
        rates: ClientRates,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._rates = rates
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
        request = fetched_once(request)
        replica_id, broker_epoch = replica_of(event, request)
        image = self._committed.image
        denied = denied_reads(self._authorizer, event, request, image, is_follower=replica_id >= 0)
        parts = parts_of(image, event, request, denied)
        if replica_id >= 0:
            reads = self._record_progress(parts, replica_id, broker_epoch, now)
        else:
            reads = [self.read(part, replica_id) for part in parts]
        most_bytes = self._most_bytes(event, request.max_bytes, replica_id)
        waiting = DelayedFetch(self, event, request, parts, reads, replica_id, most_bytes)
        wait_ms = min(request.max_wait_ms, LONGEST_WAIT_MS)
        if wait_ms <= 0 or not parts:
            self.answer(waiting, reads, now)
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
        return readable(part, found.replica, is_follower=replica_id >= 0)

    def _most_bytes(self, event: Received, max_bytes: int, replica_id: int) -> int:
        """Return the bytes that a reader gets at most; a larger answer would never pass a quota."""
        most = self._rates.most_at_once(event) if replica_id < 0 else None
        return max_bytes if most is None else min(max_bytes, int(most))

    def _throttles(self, event: Received, size: int, now: Instant) -> bool:
        """Answer without records if the quota of a consumer forbids a number of bytes (KIP-13)."""
        throttle_ms = self._rates.record(event, size, now.monotonic)
        if throttle_ms == 0:
            return False
        self._rates.take_back(event, size, now.monotonic)
        self._outbox.reply(event, fetch_response.FetchResponse(throttle_time_ms=throttle_ms))
        return True

    def batches_read(self, event: BatchesRead, now: Instant) -> None:
        """Count the bytes of an answer above the estimate, as of a large first batch."""
        self._rates.record(event.received, event.excess_bytes, now.monotonic)

    def answer(self, fetch: "DelayedFetch", reads: list[PartRead], now: Instant) -> None:
        """Answer with the errors, and with as many batches as fit."""
        event = fetch.event
        ranges: list[LogRead] = []
        most = min(max(fetch.max_bytes, 0), LARGEST_BYTES)
        room = most
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
        if fetch.is_of_consumer and self._throttles(event, most - room, now):
            return
        message = fetch_answer(
            self._committed.image,
            self._listener(event.listener),
            event.version,
            fetch.topics,
            reads,
        )
        has_quota = fetch.is_of_consumer and self._rates.applies_to(event)
        if ranges:
            effect = ReplyWithBatches(
                request=event.request,
                message=message,
                reads=tuple(ranges),
                max_bytes=most,
                counted_for=event if has_quota else None,
                counted_bytes=most - room,
            )
            self._outbox.emit(effect)
        else:
            self._outbox.reply(event, message)

    def _record_progress(
        self, parts: list[FetchPart], replica_id: NodeId, broker_epoch: int, now: Instant
    ) -> list[PartRead]:
        """Take a follower's position in each partition without an error (497-10).

        Return the readable ranges. A Fetch of an older broker epoch comes from an earlier process
        of the follower, which may have lost its records since: the Fetch does not count (KIP-903).
        """
        registration = self._committed.image.brokers.get(replica_id)
        registered = NO_EPOCH if registration is None else registration.epoch
        is_stale = broker_epoch != NO_EPOCH and broker_epoch < registered
        reads: list[PartRead] = []
        for part in parts:
            if is_stale and part.error is ErrorCode.NONE:
                part.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
            read = self.read(part, replica_id)
            reads.append(read)
            replica = None if part.log is None else self._replicas.by_log.get(part.log)
            if read.error is not ErrorCode.NONE or read.diverging is not None or replica is None:
                continue
            assert replica.leader is not None, "only the leader's range is readable"
            has_moved = replica.leader.record_fetch(
                replica_id,
                Offset(part.asked.fetch_offset),
                Offset(part.asked.log_start_offset),
                broker_epoch,
                now.monotonic,
            )
            if replica.advance_high_watermark(now):
                read.high_watermark = replica.index.high_watermark
                has_moved = True
            if has_moved:
                self._replicas.note_change(replica.log)
        return reads


class DelayedFetch:
    """A Fetch that waits for news."""

    __slots__ = (
        "_min_bytes",
        "_parts",
        "_places",
        "_reads",
        "_service",
        "event",
        "max_bytes",
        "replica_id",
        "topics",
    )

    def __init__(
        self,
        service: FetchService,
        event: Received,
        request: fetch_request.FetchRequest,
        parts: list[FetchPart],
        reads: list[PartRead],
        replica_id: int,
        max_bytes: int,
    ) -> None:
        self._service = service
        self._parts = parts
        self._places = {part.log: place for place, part in enumerate(parts)}
        """The places of the logs in the request."""
        self._reads = reads
        """What is readable of each part, since the last change of its log."""
        self._min_bytes = min(request.min_bytes, max_bytes)
        self.event = event
        self.topics: list[AskedTopic] = [(topic.topic, topic.topic_id) for topic in request.topics]
        self.replica_id = replica_id
        """-1 for a consumer."""
        self.max_bytes = max_bytes

    @property
    def is_of_consumer(self) -> bool:
        """Return whether a consumer asks; a follower has no quota."""
        return self.replica_id < 0

    def try_complete(self, now: Instant, changed: Sequence[LogId] = ()) -> bool:
        """Answer if there are enough bytes, or an error or a divergence."""
        for log in changed:
            place = self._places[log]
            self._reads[place] = self._service.read(self._parts[place], self.replica_id)
        size = 0
        for read in self._reads:
            if read.error is not ErrorCode.NONE or read.diverging is not None:
                break  # is told at once
            size += read.size
        else:
            if size < self._min_bytes:
                return False
        self._service.answer(self, self._reads, now)
        return True

    def expire(self, now: Instant) -> None:
        """Answer with the present state."""
        reads = [self._service.read(part, self.replica_id) for part in self._parts]
        self._service.answer(self, reads, now)
