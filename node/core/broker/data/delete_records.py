"""Serve DeleteRecords: raise the start of a partition's log (KIP-107).

The answer waits until every live replica has raised its start, or until the time-out.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, Offset
from kraftproof.node.core.broker.data.access import LedPartition, find_leader
from kraftproof.node.core.broker.data.repeated import deleted_once
from kraftproof.node.core.broker.data.rights import denied_topics
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import delete_records_request, delete_records_response

HIGH_WATERMARK: Final = -1
"""The offset that stands for the high watermark."""
_LONGEST_WAIT_MS: Final = 300_000
_NO_OFFSET: Final = Offset(-1)


class _Deletion(Struct, kw_only=True):
    """The deletion in one partition."""

    topic: int
    index: int
    log: LogId | None
    error: ErrorCode = ErrorCode.NONE
    offset: Offset = _NO_OFFSET
    low_watermark: Offset = _NO_OFFSET
    is_open: bool = False


class DeleteRecordsService:
    """The DeleteRecords requests of a broker."""

    __slots__ = ("_authorizer", "_committed", "_outbox", "_purgatory", "_replicas")

    def __init__(
        self,
        replicas: Replicas,
        purgatory: Purgatory,
        committed: CommittedImage,
        outbox: Outbox,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._replicas = replicas
        self._purgatory = purgatory
        self._committed = committed
        self._outbox = outbox

    def receive(
        self, event: Received, request: delete_records_request.DeleteRecordsRequest, now: Instant
    ) -> None:
        """Raise the starts, and answer now or after the followers."""
        request = deleted_once(request)
        names = [topic.name for topic in request.topics]
        denied = denied_topics(self._authorizer, event, names)
        deletions = [
            _Deletion(
                topic=place,
                index=asked.partition_index,
                log=None,
                error=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            )
            if topic.name in denied
            else self._delete(place, topic.name, asked)
            for place, topic in enumerate(request.topics)
            for asked in topic.partitions
        ]
        waiting = DelayedDeletion(self, event, request, deletions)
        if not waiting.try_complete(now):
            wait_ms = min(max(request.timeout_ms, 0), _LONGEST_WAIT_MS)
            deadline = Monotonic(now.monotonic + wait_ms * NANOSECONDS_PER_MS)
            logs = [each.log for each in deletions if each.is_open and each.log is not None]
            self._purgatory.add(waiting, logs, deadline)

    def settle_deletion(self, deletion: _Deletion) -> None:
        """Close a deletion if every live replica has followed, or if the leadership is lost."""
        assert deletion.log is not None, "only a begun deletion waits"
        found = find_leader(self._committed.image, self._replicas, deletion.log)
        if not isinstance(found, LedPartition):
            deletion.error = found
            deletion.is_open = False
            return
        deletion.low_watermark = found.leader.low_watermark()
        deletion.is_open = deletion.low_watermark < deletion.offset

    def answer(
        self,
        event: Received,
        request: delete_records_request.DeleteRecordsRequest,
        deletions: list[_Deletion],
    ) -> None:
        """Answer with the low watermarks."""
        by_topic: list[list[delete_records_response.DeleteRecordsPartitionResult]] = [
            [] for _ in request.topics
        ]
        for deletion in deletions:
            is_done = deletion.error is ErrorCode.NONE
            by_topic[deletion.topic].append(
                delete_records_response.DeleteRecordsPartitionResult(
                    partition_index=deletion.index,
                    low_watermark=deletion.low_watermark if is_done else _NO_OFFSET,
                    error_code=deletion.error,
                )
            )
        topics = tuple(
            delete_records_response.DeleteRecordsTopicResult(
                name=topic.name, partitions=tuple(partitions)
            )
            for topic, partitions in zip(request.topics, by_topic, strict=True)
        )
        self._outbox.reply(event, delete_records_response.DeleteRecordsResponse(topics=topics))

    def _delete(
        self, place: int, topic: str, asked: delete_records_request.DeleteRecordsPartition
    ) -> _Deletion:
        image = self._committed.image
        topic_id = image.topic_ids.get(topic)
        log = None if topic_id is None else LogId(topic_id, asked.partition_index)
        deletion = _Deletion(topic=place, index=asked.partition_index, log=log)
        if log is None:
            deletion.error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return deletion
        found = find_leader(image, self._replicas, log)
        if not isinstance(found, LedPartition):
            deletion.error = found
            return deletion
        if not found.replica.settings.is_deleted:
            deletion.error = ErrorCode.POLICY_VIOLATION
            return deletion
        committed = found.replica.index.high_watermark
        offset = committed if asked.offset == HIGH_WATERMARK else asked.offset
        if not 0 <= offset <= committed:
            deletion.error = ErrorCode.OFFSET_OUT_OF_RANGE
            return deletion
        deletion.offset = Offset(offset)
        found.replica.raise_start(deletion.offset)
        self._replicas.note_change(log)
        deletion.is_open = True
        return deletion


class DelayedDeletion:
    """A request that waits for the followers."""

    __slots__ = ("_deletions", "_event", "_request", "_service")

    def __init__(
        self,
        service: DeleteRecordsService,
        event: Received,
        request: delete_records_request.DeleteRecordsRequest,
        deletions: list[_Deletion],
    ) -> None:
        self._service = service
        self._event = event
        self._request = request
        self._deletions = deletions

    def try_complete(self, now: Instant, changed: Sequence[LogId] = ()) -> bool:
        """Answer if every partition is finished."""
        del now, changed
        for deletion in self._deletions:
            if deletion.is_open:
                self._service.settle_deletion(deletion)
        if any(deletion.is_open for deletion in self._deletions):
            return False
        self._service.answer(self._event, self._request, self._deletions)
        return True

    def expire(self, now: Instant) -> None:
        """Answer with a time-out for each partition that still waits."""
        del now
        for deletion in self._deletions:
            if deletion.is_open:
                deletion.error = ErrorCode.REQUEST_TIMED_OUT
        self._service.answer(self._event, self._request, self._deletions)
