"""Write a follower's requests, and the answers of its leaders."""

from typing import Final

from kraftproof.cluster.simulated.differential.copies.fetch_model import Key, Part, Wanted
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
)
from kraftproof.node.wire.types import Uuid

FOLLOWER: Final = 1
IN_STATE: Final = 15
"""The version of Fetch from which the replica and its broker epoch are a tagged field."""


def topic_id(number: int) -> Uuid:
    """Return the id of a topic."""
    return Uuid(bytes([number]) * 16)


def topic_name(number: int) -> str:
    """Return the name of a topic."""
    return f"topic-{number}"


def fetch_of(
    wanted: Wanted,
    ends: dict[Key, tuple[int, int, int, int]],
    policy: ReplicationPolicy,
    version: int,
    broker_epoch: int,
) -> Message:
    """Return a Fetch of partitions with leader epoch, end, last epoch and start."""
    topics: dict[int, list[fetch_request.FetchPartition]] = {}
    for key in wanted.keys:
        leader_epoch, end, last_epoch, start = ends[key]
        partition = fetch_request.FetchPartition(
            partition=key[1],
            current_leader_epoch=leader_epoch,
            fetch_offset=end,
            last_fetched_epoch=last_epoch,
            log_start_offset=start,
            partition_max_bytes=policy.fetch_partition_bytes,
        )
        topics.setdefault(key[0], []).append(partition)
    state = fetch_request.ReplicaState(replica_id=FOLLOWER, replica_epoch=broker_epoch)
    has_state = version >= IN_STATE
    return fetch_request.FetchRequest(
        replica_id=-1 if has_state else FOLLOWER,
        replica_state=state if has_state else fetch_request.ReplicaState(),
        max_wait_ms=policy.fetch_wait_ms,
        min_bytes=1,
        max_bytes=policy.fetch_response_bytes,
        session_epoch=-1,
        topics=tuple(
            fetch_request.FetchTopic(topic_id=topic_id(number), partitions=tuple(partitions))
            for number, partitions in topics.items()
        ),
    )


def list_offsets_of(wanted: Wanted, leader_epoch: int) -> Message:
    """Return a ListOffsets of one partition."""
    ((topic, index),) = wanted.keys
    partition = list_offsets_request.ListOffsetsPartition(
        partition_index=index,
        current_leader_epoch=leader_epoch,
        timestamp=-1 if wanted.timestamp is None else wanted.timestamp,
    )
    of_topic = list_offsets_request.ListOffsetsTopic(
        name=topic_name(topic), partitions=(partition,)
    )
    return list_offsets_request.ListOffsetsRequest(replica_id=FOLLOWER, topics=(of_topic,))


def fetched(parts: tuple[Part, ...], error: int = 0) -> Message:
    """Return an answer to a Fetch, with a topic for each of its parts."""
    topics = tuple(
        fetch_response.FetchableTopicResponse(
            topic_id=topic_id(part.key[0]), partitions=(_partition(part),)
        )
        for part in parts
    )
    return fetch_response.FetchResponse(error_code=error, responses=topics)


def _partition(part: Part) -> fetch_response.PartitionData:
    data = b"".join(batch.data for batch in part.batches)
    if part.is_damaged:
        data = data[:-1] + bytes([data[-1] ^ 1])
    epoch, end = part.diverging
    return fetch_response.PartitionData(
        partition_index=part.key[1],
        error_code=part.error,
        high_watermark=part.watermark,
        log_start_offset=0,
        diverging_epoch=fetch_response.EpochEndOffset(epoch=epoch, end_offset=end),
        records=data,
    )


def listed(key: Key, offset: int | None, error: int) -> Message:
    """Return an answer to a ListOffsets."""
    partition = list_offsets_response.ListOffsetsPartitionResponse(
        partition_index=key[1], error_code=error, offset=-1 if offset is None else offset
    )
    topic = list_offsets_response.ListOffsetsTopicResponse(
        name=topic_name(key[0]), partitions=(partition,)
    )
    return list_offsets_response.ListOffsetsResponse(topics=(topic,))
