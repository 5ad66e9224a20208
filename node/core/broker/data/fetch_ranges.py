"""Find the replica that fetches, its partitions, and the ranges that the replica may read."""

from collections.abc import Container
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.broker.data.access import NO_EPOCH, topic_id_of, unknown_topic
from kraftproof.node.core.broker.data.fetch_answer import TOPIC_IDS_FROM, FetchPart, PartRead
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.partition.epoch_cache import UNDEFINED_END
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request

REPLICA_STATE_FROM: Final = 15
"""The first version of Fetch with the replica's broker epoch (KIP-903)."""


def replica_of(event: Received, request: fetch_request.FetchRequest) -> tuple[NodeId, int]:
    """Return the id and the broker epoch of the fetching replica; -1 for a consumer."""
    if event.version >= REPLICA_STATE_FROM:
        state = request.replica_state
        return (NodeId(state.replica_id), state.replica_epoch)
    return (NodeId(request.replica_id), NO_EPOCH)


def parts_of(
    image: MetadataImage,
    event: Received,
    request: fetch_request.FetchRequest,
    denied: Container[int],
) -> list[FetchPart]:
    """Return the partitions of a Fetch, with the errors of unknown and of denied topics."""
    has_id = event.version >= TOPIC_IDS_FROM
    parts: list[FetchPart] = []
    for topic_index, topic in enumerate(request.topics):
        topic_id = topic_id_of(image, topic.topic, topic.topic_id, has_id=has_id)
        error = ErrorCode.NONE if topic_id is not None else unknown_topic(has_id=has_id)
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


def readable(part: FetchPart, replica: Replica, *, is_follower: bool) -> PartRead:
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
        if known == UNDEFINED_END or offset < index.start_offset:
            # A replica that lacks deleted records must begin again, whether or not it diverges.
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
