"""Correct the effects of a step that were decided before a log directory failed in the same step.

The node decides a step as if each effect succeeds. If a write to a partition's log then fails, a
later effect of the step must not claim the write: an acknowledgement of a producer becomes
KAFKA_STORAGE_ERROR, and a Fetch of a follower leaves the partition out. The next event of the node
is the DirectoryFailed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Effect, Reply, Send
from kraftproof.node.core.log_effects import ReplyWithBatches
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.delete_records_response import DeleteRecordsResponse
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse, PartitionData
from kraftproof.node.wire.messages.generated.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
)
from kraftproof.node.wire.types import Uuid

_STORAGE_ERROR: Final = ErrorCode.KAFKA_STORAGE_ERROR


class FailedLogs:
    """The logs that have failed during the effects of one step."""

    def __init__(self) -> None:
        self._by_id: set[LogId] = set()
        self._by_name: set[tuple[str, int]] = set()

    def add(self, logs: Iterable[tuple[LogId, str]]) -> None:
        """Add failed logs with the names of their topics."""
        for log, topic in logs:
            self._by_id.add(log)
            self._by_name.add((topic, log.partition))

    def has(self, topic_id: Uuid, topic: str, partition: int) -> bool:
        """Return whether a partition, named by topic id or by topic name, has failed."""
        return LogId(topic_id, partition) in self._by_id or (topic, partition) in self._by_name

    def correct(self, effect: Effect) -> Effect:
        """Return the effect without a claim about a failed log."""
        match effect:
            case Reply():
                return replace(effect, message=self._corrected(effect.message))
            case Send(is_to_broker=True):
                return replace(effect, message=self._corrected(effect.message))
            case ReplyWithBatches(message=message):
                failed = {
                    (place, index)
                    for place, topic in enumerate(message.responses)
                    for index, part in enumerate(topic.partitions)
                    if self.has(topic.topic_id, topic.topic, part.partition_index)
                }
                reads = tuple(
                    read
                    for read in effect.reads
                    if (read.topic_index, read.partition_index) not in failed
                )
                return replace(effect, message=self._fetched(message), reads=reads)
            case _:
                return effect

    def _corrected(self, message: Message) -> Message:
        correction = self._corrections().get(type(message))
        return message if correction is None else correction(message)

    def _corrections(self) -> Mapping[type[Message], Callable[[Any], Message]]:
        return {
            ProduceResponse: self._produced,
            DeleteRecordsResponse: self._deleted,
            FetchResponse: self._fetched,
            FetchRequest: self._fetches,
        }

    def _produced(self, message: ProduceResponse) -> ProduceResponse:
        topics = tuple(
            replace(
                topic,
                partition_responses=tuple(
                    PartitionProduceResponse(
                        index=part.index, error_code=_STORAGE_ERROR, base_offset=-1
                    )
                    if part.error_code == ErrorCode.NONE
                    and self.has(topic.topic_id, topic.name, part.index)
                    else part
                    for part in topic.partition_responses
                ),
            )
            for topic in message.responses
        )
        return replace(message, responses=topics)

    def _deleted(self, message: DeleteRecordsResponse) -> DeleteRecordsResponse:
        topics = tuple(
            replace(
                topic,
                partitions=tuple(
                    replace(part, low_watermark=-1, error_code=_STORAGE_ERROR)
                    if (topic.name, part.partition_index) in self._by_name
                    else part
                    for part in topic.partitions
                ),
            )
            for topic in message.topics
        )
        return replace(message, topics=topics)

    def _fetched(self, message: FetchResponse) -> FetchResponse:
        topics = tuple(
            replace(
                topic,
                partitions=tuple(
                    failed_part(part.partition_index)
                    if self.has(topic.topic_id, topic.topic, part.partition_index)
                    else part
                    for part in topic.partitions
                ),
            )
            for topic in message.responses
        )
        return replace(message, responses=topics)

    def _fetches(self, message: FetchRequest) -> FetchRequest:
        """Return a follower's Fetch without the failed partitions, which it would acknowledge."""
        topics = tuple(
            replace(
                topic,
                partitions=tuple(
                    part
                    for part in topic.partitions
                    if not self.has(topic.topic_id, topic.topic, part.partition)
                ),
            )
            for topic in message.topics
        )
        return replace(message, topics=tuple(topic for topic in topics if topic.partitions))


def failed_part(partition: int) -> PartitionData:
    """Return the answer to a Fetch about a partition whose file can't be read."""
    return PartitionData(
        partition_index=partition, error_code=_STORAGE_ERROR, high_watermark=-1, records=b""
    )
