"""The requests of a client of partitions, in versions that Kafka 3.3 to 4.3 have."""

from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.systems.kafka.client import OPERATION_TIMEOUT_MS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    delete_topics_request,
    fetch_request,
    init_producer_id_request,
    list_offsets_request,
    metadata_request,
    produce_request,
)
from kraftproof.node.wire.schema import Message

CREATE_VERSION: Final = 7
DELETE_VERSION: Final = 6
FETCH_VERSION: Final = 12
IDENTITY_VERSION: Final = 4
LIST_OFFSETS_VERSION: Final = 7
METADATA_VERSION: Final = 12
PRODUCE_VERSION: Final = 9

EARLIEST: Final = -2
LATEST: Final = -1
PRODUCE_TIMEOUT_MS: Final = OPERATION_TIMEOUT_MS * 3 // 4
FETCH_WAIT_MS: Final = 200
MOST_FETCHED_BYTES: Final = 256 * 1024
MIN_INSYNC: Final = 2
MIN_INSYNC_SETTING: Final = "min.insync.replicas"
_OUT_OF_ORDER_SEQUENCE: Final = 45
_INVALID_PRODUCER_EPOCH: Final = 47
_UNKNOWN_PRODUCER_ID: Final = 59

STALE_LEADER: Final = frozenset(
    {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
)
"""Errors of a node that does not lead the partition, or leads the partition no longer.

With acks=all, a leader also answers so after the append, if the leadership or the topic ends before
the acknowledgements.
"""
ENDS_PRODUCER: Final = frozenset(
    {_OUT_OF_ORDER_SEQUENCE, _INVALID_PRODUCER_EPOCH, _UNKNOWN_PRODUCER_ID}
)
"""Refusals after which a producer needs a new identity."""
SEND_REFUSALS: Final[frozenset[int]] = ENDS_PRODUCER | {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.INVALID_REQUIRED_ACKS,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.UNSUPPORTED_VERSION,
    ErrorCode.INVALID_REQUEST,
}
"""The errors of Produce that prove, with any acks, that the broker appended no record."""
SEND_TO_LEADER: Final = "send-to-leader"
"""The name of a `send` with acks=1 in the tables of errors."""
READS: Final = frozenset({"assign", "poll", "final", "state"})


def split(key: str) -> tuple[str, int]:
    """Return topic and number of a partition such as log-3f2a1-0."""
    topic, _, partition = key.rpartition("-")
    return topic, int(partition)


SEGMENT: Final = "segment.bytes"
"""The setting for the size of segments; since Kafka 4.1 not below 1 MiB (KIP-1030)."""
INTERNAL_SEGMENT: Final = "internal.segment.bytes"
"""The setting for smaller segments since Kafka 4.1."""


def create(topic: str, partitions: int, factor: int, more: Mapping[str, str]) -> Message:
    """Return the request for a topic whose records are kept for ever, with more settings."""
    kept = {MIN_INSYNC_SETTING: str(min(MIN_INSYNC, factor)), "retention.ms": "-1"}
    return creation(topic, partitions, factor, {**kept, **more}, timeout_ms=OPERATION_TIMEOUT_MS)


def creation(
    topic: str, partitions: int, factor: int, settings: Mapping[str, str], *, timeout_ms: int
) -> create_topics_request.CreateTopicsRequest:
    """Return the request for a topic with settings."""
    configs = tuple(
        create_topics_request.CreatableTopicConfig(name=name, value=value)
        for name, value in settings.items()
    )
    created = create_topics_request.CreatableTopic(
        name=topic, num_partitions=partitions, replication_factor=factor, configs=configs
    )
    return create_topics_request.CreateTopicsRequest(topics=(created,), timeout_ms=timeout_ms)


def delete(topic: str) -> Message:
    """Return the request that deletes a topic."""
    return delete_topics_request.DeleteTopicsRequest(
        topics=(delete_topics_request.DeleteTopicState(name=topic),),
        timeout_ms=OPERATION_TIMEOUT_MS,
    )


def metadata(topic: str) -> Message:
    """Return the request for the leaders of a topic."""
    return metadata_request.MetadataRequest(
        topics=(metadata_request.MetadataRequestTopic(name=topic),),
        allow_auto_topic_creation=False,
    )


def identity() -> Message:
    """Return the request for the identity of an idempotent producer."""
    return init_producer_id_request.InitProducerIdRequest(transaction_timeout_ms=60_000)


def produce(key: str, batch: bytes, acks: int) -> Message:
    """Return the request that appends a batch."""
    topic, partition = split(key)
    part = produce_request.PartitionProduceData(index=partition, records=batch)
    return produce_request.ProduceRequest(
        acks=acks,
        timeout_ms=PRODUCE_TIMEOUT_MS,
        topic_data=(produce_request.TopicProduceData(name=topic, partition_data=(part,)),),
    )


def fetch(key: str, position: int) -> Message:
    """Return the request of a consumer for records from a position on."""
    topic, partition = split(key)
    part = fetch_request.FetchPartition(
        partition=partition, fetch_offset=position, partition_max_bytes=MOST_FETCHED_BYTES
    )
    return fetch_request.FetchRequest(
        max_wait_ms=FETCH_WAIT_MS,
        min_bytes=1,
        max_bytes=MOST_FETCHED_BYTES,
        topics=(fetch_request.FetchTopic(topic=topic, partitions=(part,)),),
    )


def list_offsets(key: str, which: int) -> Message:
    """Return the request for the first or the last offset of a partition."""
    topic, partition = split(key)
    part = list_offsets_request.ListOffsetsPartition(partition_index=partition, timestamp=which)
    return list_offsets_request.ListOffsetsRequest(
        replica_id=-1,
        topics=(list_offsets_request.ListOffsetsTopic(name=topic, partitions=(part,)),),
    )
