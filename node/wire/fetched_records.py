"""Decode the batches of the metadata log in a Fetch answer; other topics keep their bytes."""

from typing import Final

from msgspec.structs import replace

from kraftproof.node.wire.messages.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kraftproof.node.wire.records.batches import decode_batches
from kraftproof.node.wire.types import Uuid

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_TOPIC_ID: Final = Uuid((1).to_bytes(16, "big"))


def with_metadata_batches(message: FetchResponse) -> FetchResponse:
    """Return the answer with decoded batches of the metadata log.

    Raises:
        WireError: the bytes about the metadata log are no supported batches.
    """
    if not any(map(_is_metadata, message.responses)):
        return message
    topics = tuple(
        replace(topic, partitions=tuple(map(_decoded, topic.partitions)))
        if _is_metadata(topic)
        else topic
        for topic in message.responses
    )
    return replace(message, responses=topics)


def _is_metadata(topic: FetchableTopicResponse) -> bool:
    return topic.topic == METADATA_TOPIC or topic.topic_id == METADATA_TOPIC_ID


def _decoded(partition: PartitionData) -> PartitionData:
    data = partition.records
    if not isinstance(data, bytes):
        return partition
    return replace(partition, records=decode_batches(data, allow_partial=True))
