"""Serve Produce: validate, append, and answer after the acknowledgements (KIP-98, KIP-951).

With acks=all the answer waits until the high watermark passes the batch. The records stay in the
log after a time-out, so their outcome is then unknown to the client. A retry of an idempotent
producer is answered with the offset of its first attempt, and waits like the first attempt.
"""

from collections.abc import Callable, Sequence
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    Instant,
    Monotonic,
    Offset,
)
from kraftproof.node.core.broker.data.access import (
    LedPartition,
    find_leader,
    partition_of,
    topic_id_of,
    unknown_topic,
)
from kraftproof.node.core.broker.data.produce_answer import (
    TOPIC_IDS_FROM,
    Appended,
    produce_answer,
)
from kraftproof.node.core.broker.data.repeated import produced_once
from kraftproof.node.core.broker.data.rights import denied_writes, has_transaction
from kraftproof.node.core.effects import EndRequest
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.names import INTERNAL_TOPICS
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.producers import Duplicate, ProducerRefusal
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.partition.validation import (
    Refusal,
    check_content,
    parse_produced,
)
from kraftproof.node.core.quotas.client_rates import ClientRates
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import produce_request
from kraftproof.node.wire.records.raw_batch import RawBatch

NO_ACKS: Final = 0
ACKS_LEADER: Final = 1
ACKS_ALL: Final = -1
LONGEST_WAIT_MS: Final = 300_000


class ProduceService:
    """The Produce requests of a broker."""

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
        request: produce_request.ProduceRequest,
        now: Instant,
    ) -> None:
        """Append the batches of a request, and answer now or after the acknowledgements."""
        size = _size(request) if self._rates.is_used else 0
        is_transactional = has_transaction(request)
        request, image = produced_once(request), self._committed.image
        denials = denied_writes(
            self._authorizer, event, request, image, is_transactional=is_transactional
        )
        results = [
            _fail(Appended(topic=place, index=data.index, log=None), denials[place])
            if place in denials
            else self._append(event, request, place, data, now)
            for place, topic in enumerate(request.topic_data)
            for data in topic.partition_data
        ]
        waiting = DelayedProduce(self, event, request, results, size)
        if waiting.try_complete(now):
            return
        wait_ms = min(max(request.timeout_ms, 0), LONGEST_WAIT_MS)
        deadline = Monotonic(now.monotonic + wait_ms * NANOSECONDS_PER_MS)
        logs = [result.log for result in results if result.is_open and result.log is not None]
        self._purgatory.add(waiting, logs, deadline)

    def settle_result(self, result: Appended, acks: int) -> None:
        """Close a waiting result if its batch is acknowledged or can no longer be."""
        assert result.log is not None, "only an appended batch waits"
        replica = self._replicas.by_log.get(result.log)
        if result.log in self._replicas.offline:
            result.error = ErrorCode.KAFKA_STORAGE_ERROR
        elif replica is None or replica.leader is None:
            result.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif acks == ACKS_LEADER:
            if replica.own_end < result.required_offset:
                return
        elif replica.index.high_watermark < result.required_offset:
            return
        elif len(replica.leader.isr.maximal) < replica.leader.effective_min_isr:
            result.error = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        result.is_open = False

    def answer(
        self,
        event: Received,
        request: produce_request.ProduceRequest,
        results: list[Appended],
        size: int,
        now: Instant,
    ) -> None:
        """Answer a request of a size in bytes; without acknowledgements there is no answer."""
        throttle_ms = self._rates.record(event, size, now.monotonic)
        if request.acks == NO_ACKS:
            failed = any(result.error is not ErrorCode.NONE for result in results)
            end = EndRequest(
                request=event.request, closes_connection=failed, throttle_ms=throttle_ms
            )
            self._outbox.emit(end)
            return
        self._outbox.reply(
            event,
            produce_answer(
                self._committed.image,
                self._listener(event.listener),
                request,
                results,
                event.version,
                throttle_ms,
            ),
        )

    def _append(
        self,
        event: Received,
        request: produce_request.ProduceRequest,
        place: int,
        data: produce_request.PartitionProduceData,
        now: Instant,
    ) -> Appended:
        """Check and append the batch of one partition, in Kafka's order of checks."""
        has_id = event.version >= TOPIC_IDS_FROM
        topic, image = request.topic_data[place], self._committed.image
        topic_id = topic_id_of(image, topic.name, topic.topic_id, has_id=has_id)
        log = None if topic_id is None else LogId(topic_id, data.index)
        result = Appended(topic=place, index=data.index, log=log)
        if log is None:
            return _fail(result, unknown_topic(has_id=has_id))
        if partition_of(image, log) is None:
            return _fail(result, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        batch = parse_produced(data.records, event.version)
        if isinstance(batch, Refusal):
            return _refuse(result, batch)
        if request.acks not in {NO_ACKS, ACKS_LEADER, ACKS_ALL}:
            return _fail(result, ErrorCode.INVALID_REQUIRED_ACKS)
        if image.topics[log.topic_id].name in INTERNAL_TOPICS:
            return _fail(result, ErrorCode.INVALID_TOPIC_EXCEPTION)
        found = find_leader(image, self._replicas, log)
        if not isinstance(found, LedPartition):
            return _fail(result, found)
        result.log_start = found.replica.index.start_offset
        if request.acks == ACKS_ALL and found.leader.is_under_min_isr:
            return _fail(result, ErrorCode.NOT_ENOUGH_REPLICAS)
        checked = check_content(batch, found.replica.settings, now.wall)
        if isinstance(checked, Refusal):
            return _refuse(result, checked)
        self._append_once(found.replica, checked, result, now)
        result.is_open = request.acks != NO_ACKS and result.error is ErrorCode.NONE
        return result

    def _append_once(
        self, replica: Replica, batch: RawBatch, result: Appended, now: Instant
    ) -> None:
        """Append a batch, or find the offset of its first attempt."""
        known = replica.producers.check(batch)
        if isinstance(known, ProducerRefusal):
            _refuse(result, Refusal(known.error, known.message))
        elif isinstance(known, Duplicate):
            result.base_offset = known.base_offset
            result.append_time_ms = known.timestamp_ms
            result.required_offset = Offset(known.last_offset + 1)
        else:
            placed = replica.append_produced(batch, now)
            result.base_offset = Offset(placed.base_offset)
            result.required_offset = Offset(placed.next_offset)
            if replica.settings.uses_append_time:
                result.append_time_ms = placed.max_timestamp_ms
            replica.advance_high_watermark(now)
            self._replicas.note_change(replica.log)


class DelayedProduce:
    """A request that waits for acknowledgements."""

    __slots__ = ("_event", "_request", "_results", "_service", "_size")

    def __init__(
        self,
        service: ProduceService,
        event: Received,
        request: produce_request.ProduceRequest,
        results: list[Appended],
        size: int,
    ) -> None:
        self._service = service
        self._size = size
        """The bytes of the records, for the quota of the client."""
        self._event = event
        # Without the records, whose bytes would stay in memory during the wait.
        self._request = _without_records(request)
        self._results = results

    def try_complete(self, now: Instant, changed: Sequence[LogId] = ()) -> bool:
        """Answer if every partition is acknowledged or has an error."""
        del changed
        for result in self._results:
            if result.is_open:
                self._service.settle_result(result, self._request.acks)
        if any(result.is_open for result in self._results):
            return False
        self._service.answer(self._event, self._request, self._results, self._size, now)
        return True

    def expire(self, now: Instant) -> None:
        """Answer with a time-out for each partition that still waits."""
        for result in self._results:
            if result.is_open:
                result.is_open = False
                result.error = ErrorCode.REQUEST_TIMED_OUT
        self._service.answer(self._event, self._request, self._results, self._size, now)


def _fail(result: Appended, error: ErrorCode) -> Appended:
    result.error = error
    return result


def _refuse(result: Appended, refusal: Refusal) -> Appended:
    result.error = refusal.error
    result.refusal = refusal
    return result


def _size(request: produce_request.ProduceRequest) -> int:
    """Return the bytes of the records of a request."""
    return sum(
        len(data.records or b"") for topic in request.topic_data for data in topic.partition_data
    )


def _without_records(
    request: produce_request.ProduceRequest,
) -> produce_request.ProduceRequest:
    return produce_request.ProduceRequest(
        acks=request.acks,
        topic_data=tuple(
            produce_request.TopicProduceData(name=topic.name, topic_id=topic.topic_id)
            for topic in request.topic_data
        ),
    )
