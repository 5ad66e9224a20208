"""Translate FetchSnapshot between wire messages and values (KIP-630).

The shell reads the bytes of a slice and adds them by `with_slice`.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.raft.rpc import PARTITION, TOPIC
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_snapshot_request, fetch_snapshot_response

FETCH_SNAPSHOT_VERSION: Final = 1


class SliceParams(Struct, frozen=True, kw_only=True):
    """The parameters of a FetchSnapshot."""

    replica_id: NodeId
    epoch: Epoch
    snapshot: SnapshotId
    position: int
    max_bytes: int


class SliceResult(Struct, frozen=True, kw_only=True):
    """The content of a FetchSnapshotResponse."""

    error: int
    leader: NodeId
    epoch: Epoch
    snapshot: SnapshotId
    size: int
    position: int
    data: bytes


def request(
    state: RaftState, snapshot: SnapshotId, position: int
) -> fetch_snapshot_request.FetchSnapshotRequest:
    """Return a request for the slice of the leader's snapshot at `position`."""
    partition = fetch_snapshot_request.PartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=state.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=snapshot.end_offset, epoch=snapshot.epoch
        ),
        position=position,
    )
    return fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=state.config.cluster_id,
        replica_id=state.node_id,
        max_bytes=state.config.snapshots.slice_bytes,
        topics=(fetch_snapshot_request.TopicSnapshot(name=TOPIC, partitions=(partition,)),),
    )


def read_request(message: fetch_snapshot_request.FetchSnapshotRequest) -> SliceParams | None:
    """Return the parameters for __cluster_metadata-0; None if another partition is named."""
    match message.topics:
        case (topic,) if topic.name == TOPIC and len(topic.partitions) == 1:
            partition = topic.partitions[0]
        case _:
            return None
    if partition.partition != PARTITION:
        return None
    named = partition.snapshot_id
    return SliceParams(
        replica_id=NodeId(message.replica_id),
        epoch=Epoch(partition.current_leader_epoch),
        snapshot=SnapshotId(Offset(named.end_offset), Epoch(named.epoch)),
        position=partition.position,
        max_bytes=message.max_bytes,
    )


def answer(
    state: RaftState,
    error: ErrorCode = ErrorCode.NONE,
    *,
    slice_of: SliceParams | None = None,
    size: int = 0,
    top_level_error: ErrorCode = ErrorCode.NONE,
) -> fetch_snapshot_response.FetchSnapshotResponse:
    """Return an answer with the known leader and epoch; the bytes of the slice are added later."""
    named = None if slice_of is None else slice_of.snapshot
    partition = fetch_snapshot_response.PartitionSnapshot(
        index=PARTITION,
        error_code=error,
        snapshot_id=fetch_snapshot_response.SnapshotId(
            end_offset=-1 if named is None else named.end_offset,
            epoch=-1 if named is None else named.epoch,
        ),
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(
            leader_id=state.leader, leader_epoch=state.epoch
        ),
        size=size,
        position=0 if slice_of is None else slice_of.position,
    )
    topic = fetch_snapshot_response.TopicSnapshot(name=TOPIC, partitions=(partition,))
    return fetch_snapshot_response.FetchSnapshotResponse(
        error_code=top_level_error, topics=(topic,)
    )


def with_slice(
    message: fetch_snapshot_response.FetchSnapshotResponse, data: bytes
) -> fetch_snapshot_response.FetchSnapshotResponse:
    """Return the answer with the bytes of the slice."""
    topic = message.topics[0]
    partition = replace(topic.partitions[0], unaligned_records=data)
    return replace(message, topics=(replace(topic, partitions=(partition,)),))


def read_answer(message: fetch_snapshot_response.FetchSnapshotResponse) -> SliceResult:
    """Return the part of a FetchSnapshotResponse about __cluster_metadata-0."""
    match message.topics:
        case (topic,) if topic.partitions:
            partition = topic.partitions[0]
        case _:
            partition = fetch_snapshot_response.PartitionSnapshot(
                error_code=ErrorCode.INVALID_REQUEST
            )
    named = partition.snapshot_id
    return SliceResult(
        error=message.error_code or partition.error_code,
        leader=NodeId(partition.current_leader.leader_id),
        epoch=Epoch(partition.current_leader.leader_epoch),
        snapshot=SnapshotId(Offset(named.end_offset), Epoch(named.epoch)),
        size=partition.size,
        position=partition.position,
        data=partition.unaligned_records,
    )
