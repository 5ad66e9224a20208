"""Serve ListOffsets and OffsetForLeaderEpoch (KIP-79, KIP-207, KIP-320, KIP-734).

The ends of a log are known at once. A timestamp needs a search in the files, so the answer to such
a request waits for the last search of the request.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.broker.data.access import LedPartition, find_leader
from kraftproof.node.core.broker.data.repeated import last_of_each
from kraftproof.node.core.broker.data.rights import denied_topics
from kraftproof.node.core.events import Received, TimestampFound
from kraftproof.node.core.log_effects import FindTimestamp
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    list_offsets_request,
    list_offsets_response,
    offset_for_leader_epoch_request,
    offset_for_leader_epoch_response,
)

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
_LATEST_TIERED: Final = -5
_EARLIEST_PENDING_UPLOAD: Final = -6
_NO_OFFSET: Final = -1
_NOT_AVAILABLE_FROM: Final = 5
"""The first version of ListOffsets with OFFSET_NOT_AVAILABLE."""
_EPOCHS_FROM: Final = 4
"""The first version of ListOffsets with leader epochs in the answers."""
_FIRST_VERSIONS: Final[Mapping[int, int]] = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    _LATEST_TIERED: 9,
    _EARLIEST_PENDING_UPLOAD: 11,
}
"""The first version of each special timestamp."""

PartitionAnswer = list_offsets_response.ListOffsetsPartitionResponse


class _Open(Struct, kw_only=True):
    """A request with a search under way."""

    event: Received
    topics: list[tuple[str, list[PartitionAnswer]]]
    searches: int = 0


class _Search(Struct, frozen=True):
    """The place of the result of a search."""

    request: _Open
    topic: int
    partition: int
    is_early: bool
    """Whether the leader is new, so that later records may still become readable (KIP-207)."""


class ListOffsetsService:
    """The ListOffsets and OffsetForLeaderEpoch requests of a broker."""

    __slots__ = ("_authorizer", "_committed", "_outbox", "_replicas", "_searches", "_token")

    def __init__(
        self,
        replicas: Replicas,
        committed: CommittedImage,
        outbox: Outbox,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._replicas = replicas
        self._committed = committed
        self._outbox = outbox
        self._searches: dict[int, _Search] = {}
        """The searches under way, by token."""
        self._token = 0

    def receive(self, event: Received, request: list_offsets_request.ListOffsetsRequest) -> None:
        """Answer at once, or after the searches of timestamps."""
        opened = _Open(event=event, topics=[])
        parts = [
            (topic.name, asked.partition_index, asked)
            for topic in request.topics
            for asked in topic.partitions
        ]
        times = Counter((name, index) for name, index, _ in parts)
        denied = denied_topics(self._authorizer, event, [name for name, _, _ in parts])
        for name, partitions in last_of_each(parts):
            answers: list[PartitionAnswer] = []
            opened.topics.append((name, answers))
            for asked in partitions:
                index = asked.partition_index
                if name in denied or times[name, index] > 1:
                    is_denied, wrong = name in denied, ErrorCode.INVALID_REQUEST
                    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED if is_denied else wrong
                    answers.append(_partition(event.version, index, error=error))
                    continue
                is_replica = request.replica_id >= 0
                answers.append(self._answer(opened, name, asked, is_replica=is_replica))
        if opened.searches == 0:
            self._reply(opened)

    def found(self, event: TimestampFound) -> None:
        """Take the result of a search; the last result of a request answers the request."""
        search = self._searches.pop(event.token, None)
        if search is None:
            return
        opened = search.request
        answers = opened.topics[search.topic][1]
        version, error = opened.event.version, ErrorCode.NONE
        if event.has_failed:
            error = ErrorCode.KAFKA_STORAGE_ERROR
        elif event.offset == _NO_OFFSET and search.is_early:
            error = _not_available(version)
        answers[search.partition] = _partition(
            version,
            answers[search.partition].partition_index,
            error=error,
            offset=event.offset,
            timestamp=event.timestamp_ms,
            epoch=event.epoch,
        )
        opened.searches -= 1
        if opened.searches == 0:
            self._reply(opened)

    def epoch_ends(
        self,
        event: Received,
        request: offset_for_leader_epoch_request.OffsetForLeaderEpochRequest,
    ) -> offset_for_leader_epoch_response.OffsetForLeaderEpochResponse:
        """Return the end of the largest epoch up to each asked epoch (KIP-320)."""
        names = [topic.topic for topic in request.topics]
        denied = denied_topics(self._authorizer, event, names)
        return offset_for_leader_epoch_response.OffsetForLeaderEpochResponse(
            topics=tuple(
                offset_for_leader_epoch_response.OffsetForLeaderTopicResult(
                    topic=topic.topic,
                    partitions=tuple(
                        _denied_epoch_end(asked)
                        if topic.topic in denied
                        else self._epoch_end(topic.topic, asked)
                        for asked in topic.partitions
                    ),
                )
                for topic in request.topics
            )
        )

    def _answer(
        self,
        opened: _Open,
        topic: str,
        asked: list_offsets_request.ListOffsetsPartition,
        *,
        is_replica: bool,
    ) -> PartitionAnswer:
        version = opened.event.version
        if not _knows(version, asked.timestamp):
            return _partition(version, asked.partition_index, error=ErrorCode.UNSUPPORTED_VERSION)
        found = self._find(topic, asked.partition_index, asked.current_leader_epoch)
        if not isinstance(found, LedPartition):
            return _partition(version, asked.partition_index, error=found)
        index = found.replica.index
        end = index.end_offset if is_replica else index.high_watermark
        is_early = end < found.leader.epoch_start
        match asked.timestamp:
            case -1 if is_early:
                error = _not_available(version)
                return _partition(version, asked.partition_index, error=error)
            case -1:
                return _at(found.replica, version, end)
            case -2 | -4:
                return _at(found.replica, version, index.start_offset)
            case -5 | -6:
                return _partition(version, asked.partition_index)  # nothing is tiered
            case timestamp:
                place = len(opened.topics) - 1, len(opened.topics[-1][1])
                self._search(_Search(opened, *place, is_early), found.replica, timestamp, end)
                return _partition(version, asked.partition_index)

    def _search(self, search: _Search, replica: Replica, timestamp: int, end: Offset) -> None:
        self._token += 1
        self._searches[self._token] = search
        search.request.searches += 1
        self._outbox.emit(
            FindTimestamp(
                token=self._token,
                log=replica.log,
                timestamp_ms=timestamp,
                start_offset=replica.index.start_offset,
                end_offset=end,
            )
        )

    def _reply(self, opened: _Open) -> None:
        response = list_offsets_response.ListOffsetsResponse(
            topics=tuple(
                list_offsets_response.ListOffsetsTopicResponse(
                    name=name, partitions=tuple(partitions)
                )
                for name, partitions in opened.topics
            )
        )
        self._outbox.reply(opened.event, response)

    def _epoch_end(
        self, topic: str, asked: offset_for_leader_epoch_request.OffsetForLeaderPartition
    ) -> offset_for_leader_epoch_response.EpochEndOffset:
        found = self._find(topic, asked.partition, asked.current_leader_epoch)
        if not isinstance(found, LedPartition):
            return offset_for_leader_epoch_response.EpochEndOffset(
                partition=asked.partition, error_code=found
            )
        index = found.replica.index
        end = index.epochs.end_of(Epoch(asked.leader_epoch), index.end_offset)
        return offset_for_leader_epoch_response.EpochEndOffset(
            partition=asked.partition, leader_epoch=end.epoch, end_offset=end.end_offset
        )

    def _find(self, topic: str, partition: int, known_epoch: int) -> LedPartition | ErrorCode:
        image = self._committed.image
        topic_id = image.topic_ids.get(topic)
        if topic_id is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return find_leader(image, self._replicas, LogId(topic_id, partition), known_epoch)


def _knows(version: int, timestamp: int) -> bool:
    """Return whether a version has a timestamp: each time, and some negative numbers."""
    return timestamp >= 0 or version >= _FIRST_VERSIONS.get(timestamp, version + 1)


def _not_available(version: int) -> ErrorCode:
    """Return the error of a new leader, whose high watermark may still be too low (KIP-207)."""
    is_known = version >= _NOT_AVAILABLE_FROM
    return ErrorCode.OFFSET_NOT_AVAILABLE if is_known else ErrorCode.LEADER_NOT_AVAILABLE


def _at(replica: Replica, version: int, offset: Offset) -> PartitionAnswer:
    """Return an answer with an end of a log, and with the epoch of the record before."""
    return _partition(
        version, replica.log.partition, offset=offset, epoch=replica.index.epochs.epoch_at(offset)
    )


def _partition(
    version: int,
    index: int,
    *,
    error: ErrorCode = ErrorCode.NONE,
    offset: int = _NO_OFFSET,
    timestamp: int = -1,
    epoch: int = -1,
) -> PartitionAnswer:
    return PartitionAnswer(
        partition_index=index,
        error_code=error,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch if version >= _EPOCHS_FROM else -1,
    )


def _denied_epoch_end(
    asked: offset_for_leader_epoch_request.OffsetForLeaderPartition,
) -> offset_for_leader_epoch_response.EpochEndOffset:
    return offset_for_leader_epoch_response.EpochEndOffset(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, partition=asked.partition
    )
