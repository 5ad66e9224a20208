"""Translate Fetch of the metadata log between wire messages and the values that the roles use.

KIP-595 "Fetch" schema: version 12 names the topic, later versions use the topic id. Version 15
moved the replica id into ReplicaState. Version 18 adds the high watermark known to the replica
(KIP-1166).
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import LARGEST_OFFSET, NO_NODE, Epoch, NodeId, Offset
from kraftproof.node.core.log.log import EpochEnd
from kraftproof.node.core.raft.rpc import PARTITION, TOPIC
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.core.raft.stated import stated_high_watermark
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_response
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.field import metadata_batches
from kraftproof.node.wire.types import Uuid

TOPIC_ID: Final = Uuid((1).to_bytes(16, "big"))
FETCH_VERSION: Final = 18
FIRST_WITH_TAGS: Final = 12
FIRST_WITH_TOPIC_ID: Final = 13
FIRST_WITH_REPLICA_STATE: Final = 15
NO_HIGH_WATERMARK_UPDATES: Final = (1 << 63) - 1
"""The high watermark in the Fetch of a replica that waits for records only (KIP-1166)."""
MAX_BYTES: Final = 8 * 1024 * 1024
_NO_SNAPSHOT: Final = fetch_response.SnapshotId()
_NOT_DIVERGING: Final = fetch_response.EpochEndOffset()
LONGEST_WAIT_MS: Final = 500
"""The longest time, in milliseconds, for which a Fetch waits for news."""


class FetchParams(Struct, frozen=True, kw_only=True):
    """The parameters of a Fetch."""

    replica_id: NodeId
    epoch: Epoch
    offset: Offset
    last_fetched_epoch: Epoch
    log_start: Offset
    """The start of the replica's log; above 0, the replica has a snapshot that ends here
    (631-37)."""
    high_watermark: Offset
    """The high watermark known to the replica, or NO_HIGH_WATERMARK_UPDATES."""
    max_bytes: int
    max_wait_ms: int


class FetchResult(Struct, frozen=True, kw_only=True):
    """The content of a FetchResponse."""

    top_level_error: int
    error: int
    leader: NodeId
    epoch: Epoch
    high_watermark: Offset
    diverging: EpochEnd | None
    snapshot: SnapshotId | None
    batches: tuple[Batch, ...]


def request(state: RaftState, max_wait_ms: int) -> fetch_request.FetchRequest:
    """Return a Fetch from the end of the log, which also acknowledges the records below.

    A broker serves committed records and asks for each new high watermark at once. A standby
    controller learns a new high watermark with the next records or when its Fetch has waited long
    enough.
    """
    known = state.high_watermark if state.config.is_broker else NO_HIGH_WATERMARK_UPDATES
    partition = fetch_request.FetchPartition(
        partition=PARTITION,
        current_leader_epoch=state.epoch,
        fetch_offset=state.log.end_offset,
        last_fetched_epoch=state.log.last_epoch,
        log_start_offset=state.log.start_offset,
        partition_max_bytes=MAX_BYTES,
        high_watermark=known,
    )
    return fetch_request.FetchRequest(
        cluster_id=state.config.cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=state.node_id),
        max_wait_ms=max_wait_ms,
        max_bytes=MAX_BYTES,
        topics=(fetch_request.FetchTopic(topic_id=TOPIC_ID, partitions=(partition,)),),
    )


def read_request(message: fetch_request.FetchRequest, version: int) -> FetchParams | None:
    """Return the parameters for __cluster_metadata-0; None if the Fetch names another partition."""
    match message.topics:
        case (topic,) if topic.topic_id == TOPIC_ID or topic.topic == TOPIC:
            partitions = topic.partitions
        case _:
            return None
    if len(partitions) != 1 or partitions[0].partition != PARTITION:
        return None
    partition = partitions[0]
    in_state = version >= FIRST_WITH_REPLICA_STATE
    replica_id = message.replica_state.replica_id if in_state else message.replica_id
    return FetchParams(
        replica_id=NodeId(replica_id),
        epoch=Epoch(partition.current_leader_epoch),
        offset=Offset(partition.fetch_offset),
        last_fetched_epoch=Epoch(partition.last_fetched_epoch),
        log_start=Offset(partition.log_start_offset),
        high_watermark=Offset(partition.high_watermark),
        max_bytes=min(message.max_bytes, partition.partition_max_bytes),
        max_wait_ms=message.max_wait_ms,
    )


def answer(
    state: RaftState,
    version: int,
    error: ErrorCode = ErrorCode.NONE,
    *,
    batches: tuple[Batch, ...] = (),
    diverging: EpochEnd | None = None,
    snapshot: SnapshotId | None = None,
    top_level_error: ErrorCode = ErrorCode.NONE,
) -> fetch_response.FetchResponse:
    """Return a FetchResponse, always with the known leader and epoch (595-55)."""
    has_tags = version >= FIRST_WITH_TAGS
    partition = fetch_response.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        high_watermark=stated_high_watermark(state),
        log_start_offset=state.log.start_offset,
        diverging_epoch=_epoch_end(diverging),
        current_leader=fetch_response.LeaderIdAndEpoch(
            leader_id=state.leader if has_tags else -1,
            leader_epoch=state.epoch if has_tags else -1,
        ),
        snapshot_id=_snapshot_id(snapshot),
        records=batches,
    )
    has_id = version >= FIRST_WITH_TOPIC_ID
    topic = (
        fetch_response.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=(partition,))
        if has_id
        else fetch_response.FetchableTopicResponse(topic=TOPIC, partitions=(partition,))
    )
    return fetch_response.FetchResponse(error_code=top_level_error, responses=(topic,))


def read_answer(message: fetch_response.FetchResponse) -> FetchResult:
    """Return the part of a FetchResponse about __cluster_metadata-0."""
    match message.responses:
        case (topic,) if topic.partitions:
            partition = topic.partitions[0]
        case _:
            partition = fetch_response.PartitionData(error_code=ErrorCode.INVALID_REQUEST)
    diverging, snapshot = partition.diverging_epoch, partition.snapshot_id
    return FetchResult(
        top_level_error=message.error_code,
        error=partition.error_code,
        leader=NodeId(partition.current_leader.leader_id),
        epoch=Epoch(partition.current_leader.leader_epoch),
        high_watermark=Offset(partition.high_watermark),
        diverging=(
            EpochEnd(Epoch(diverging.epoch), Offset(diverging.end_offset))
            if diverging.epoch >= 0 and diverging.end_offset >= 0
            else None
        ),
        snapshot=(
            SnapshotId(Offset(snapshot.end_offset), Epoch(snapshot.epoch))
            if _is_possible(snapshot, partition.current_leader.leader_epoch)
            else None
        ),
        batches=metadata_batches(partition.records),
    )


def _is_possible(snapshot: fetch_response.SnapshotId, epoch: int) -> bool:
    """Return whether a leader of this epoch can have such a snapshot; no snapshot ends at 0."""
    return 0 <= snapshot.epoch <= epoch and 0 < snapshot.end_offset < LARGEST_OFFSET


def is_consumer(fetch: FetchParams) -> bool:
    """Return whether the Fetch comes from a debugging consumer, not from a replica (595-54)."""
    return fetch.replica_id == NO_NODE


def _snapshot_id(snapshot: SnapshotId | None) -> fetch_response.SnapshotId:
    if snapshot is None:
        return _NO_SNAPSHOT
    return fetch_response.SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.epoch)


def _epoch_end(end: EpochEnd | None) -> fetch_response.EpochEndOffset:
    if end is None:
        return _NOT_DIVERGING
    return fetch_response.EpochEndOffset(epoch=end.epoch, end_offset=end.end_offset)
