"""Keep one request for each partition, where a request names a partition more than once.

Kafka puts the parts of a request into a map by topic and partition. Thus the last part counts, at
the place of the first, and a topic without partitions has no answer.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from msgspec.structs import replace

from kraftproof.node.wire.messages import (
    delete_records_request,
    fetch_request,
    produce_request,
)

KeyT = TypeVar("KeyT", bound=Hashable)
PartT = TypeVar("PartT")


def last_of_each(parts: Iterable[tuple[KeyT, int, PartT]]) -> list[tuple[KeyT, tuple[PartT, ...]]]:
    """Return the last part of each partition; neighbours of one topic come together.

    A part comes with its topic and the index of its partition.
    """
    kept: dict[tuple[KeyT, int], PartT] = {}
    for topic, index, part in parts:
        kept[topic, index] = part
    return [
        (topic, tuple([part for _, part in group]))
        for topic, group in groupby(kept.items(), key=lambda item: item[0][0])
    ]


def _is_plain(topics: Sequence[tuple[Hashable, Sequence[int]]]) -> bool:
    """Return whether each topic stands once, with partitions that stand once.

    Nearly every request is plain, and is not built again.
    """
    return len({topic for topic, _ in topics}) == len(topics) and all(
        0 < len(indexes) == len(set(indexes)) for _, indexes in topics
    )


def produced_once(request: produce_request.ProduceRequest) -> produce_request.ProduceRequest:
    """Return a request with the last batch for each partition."""
    if _is_plain(
        [
            ((topic.name, topic.topic_id), [data.index for data in topic.partition_data])
            for topic in request.topic_data
        ]
    ):
        return request
    parts = last_of_each(
        ((topic.name, topic.topic_id), data.index, data)
        for topic in request.topic_data
        for data in topic.partition_data
    )
    return produce_request.ProduceRequest(
        transactional_id=request.transactional_id,
        acks=request.acks,
        timeout_ms=request.timeout_ms,
        topic_data=tuple(
            produce_request.TopicProduceData(name=name, topic_id=topic_id, partition_data=data)
            for (name, topic_id), data in parts
        ),
    )


def fetched_once(request: fetch_request.FetchRequest) -> fetch_request.FetchRequest:
    """Return a request with the last part for each partition."""
    if _is_plain(
        [
            ((topic.topic, topic.topic_id), [part.partition for part in topic.partitions])
            for topic in request.topics
        ]
    ):
        return request
    parts = last_of_each(
        ((topic.topic, topic.topic_id), part.partition, part)
        for topic in request.topics
        for part in topic.partitions
    )
    topics = tuple(
        fetch_request.FetchTopic(topic=name, topic_id=topic_id, partitions=partitions)
        for (name, topic_id), partitions in parts
    )
    return replace(request, topics=topics)


def deleted_once(
    request: delete_records_request.DeleteRecordsRequest,
) -> delete_records_request.DeleteRecordsRequest:
    """Return a request with the last offset for each partition."""
    parts = last_of_each(
        (topic.name, asked.partition_index, asked)
        for topic in request.topics
        for asked in topic.partitions
    )
    topics = tuple(
        delete_records_request.DeleteRecordsTopic(name=name, partitions=partitions)
        for name, partitions in parts
    )
    return delete_records_request.DeleteRecordsRequest(topics=topics, timeout_ms=request.timeout_ms)
