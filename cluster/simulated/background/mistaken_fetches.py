"""Fetches and FetchSnapshots with one mistake each, and Fetches of a debugging consumer.

KIP-595 "Fetch" and KIP-630 "FetchSnapshot"; see mistakes.py for the other requests of the quorum.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.background.mistakes import (
    FAR,
    NO_REPLICA,
    Drawer,
    Mistake,
    Receiver,
    mistake,
)
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NO_NODE, Epoch, Offset
from kraftproof.node.core.raft.fetch_rpc import (
    FIRST_WITH_REPLICA_STATE,
    FIRST_WITH_TAGS,
    FIRST_WITH_TOPIC_ID,
    TOPIC_ID,
)
from kraftproof.node.core.raft.rpc import TOPIC
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_snapshot_request
from kraftproof.node.wire.types import ZERO_UUID

OLDEST_FETCH, NEWEST_FETCH = 4, 18
FIRST_WITH_LEADER_EPOCH: Final = 9
"""First version of Fetch that names the epoch of the leader."""
FIRST_WITH_LOG_START: Final = 5
LARGEST: Final = 1 << 20

_Partition = fetch_request.FetchPartition


def _fetch(
    to: Receiver, version: int, replica_id: int, *partitions: _Partition, is_named: bool = True
) -> fetch_request.FetchRequest:
    """Return a Fetch in a version; without a name, of another topic."""
    by_id = version >= FIRST_WITH_TOPIC_ID
    in_state = version >= FIRST_WITH_REPLICA_STATE
    topic = fetch_request.FetchTopic(
        topic="" if by_id else TOPIC if is_named else "topic",
        topic_id=(TOPIC_ID if is_named else ZERO_UUID) if by_id else ZERO_UUID,
        partitions=partitions,
    )
    return fetch_request.FetchRequest(
        cluster_id=to.cluster_id if version >= FIRST_WITH_TAGS else None,
        replica_id=NO_NODE if in_state else replica_id,
        replica_state=fetch_request.ReplicaState(replica_id=replica_id if in_state else NO_NODE),
        max_bytes=LARGEST,
        max_wait_ms=0,
        topics=(topic,),
    )


def _at(to: Receiver, version: int, offset: int, epoch: int, fetched: int) -> _Partition:
    partition = _Partition(fetch_offset=offset, partition_max_bytes=LARGEST)
    if version >= FIRST_WITH_LEADER_EPOCH:
        partition = replace(partition, current_leader_epoch=epoch)
    if version >= FIRST_WITH_TAGS:
        partition = replace(partition, last_fetched_epoch=fetched)
    return partition


def _version(random: Random) -> int:
    """Return a version with the fields of replicas; earlier versions are for consumers."""
    return random.randint(FIRST_WITH_TAGS, NEWEST_FETCH)


def _fetch_elsewhere(to: Receiver, random: Random) -> Mistake:
    version = _version(random)
    good = _at(to, version, 0, to.epoch, 0)
    other = replace(good, partition=1)
    message = random.choice(
        (
            _fetch(to, version, NO_REPLICA, good, is_named=False),
            _fetch(to, version, NO_REPLICA, other),
            _fetch(to, version, NO_REPLICA, good, other),
            _fetch(to, version, NO_REPLICA),
        )
    )
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "another partition")


def _negative(to: Receiver, random: Random) -> Mistake:
    version = _version(random)
    offset, epoch, fetched = random.choice(
        ((-1, to.epoch, 0), (0, -1, 0), (0, to.epoch, -1), (-1, -1, -1))
    )
    message = _fetch(to, version, NO_REPLICA, _at(to, version, offset, epoch, fetched))
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "a negative number")


def _other_epoch(to: Receiver, random: Random) -> Mistake | None:
    version, replica_id = _version(random), random.choice((NO_REPLICA, NO_NODE))
    if random.random() < 0.5:
        epoch, error = to.epoch + 1, ErrorCode.UNKNOWN_LEADER_EPOCH
    else:
        epoch, error = to.epoch - 1, ErrorCode.FENCED_LEADER_EPOCH
    if epoch < 0:
        return None
    message = _fetch(to, version, replica_id, _at(to, version, 0, epoch, 0))
    return mistake(message, version, error, f"epoch {epoch} of {to.epoch}")


def _not_leader(to: Receiver, random: Random) -> Mistake | None:
    if to.is_leader:
        return None
    version, replica_id = _version(random), random.choice((NO_REPLICA, NO_NODE))
    message = _fetch(to, version, replica_id, _at(to, version, 0, to.epoch, 0))
    return mistake(message, version, ErrorCode.NOT_LEADER_OR_FOLLOWER, "not the leader")


def consumer_fetch(to: Receiver, random: Random, end: int) -> Mistake:
    """Return a Fetch of a consumer, which the leader answers; `end` is the end of its log."""
    version = random.randint(OLDEST_FETCH, NEWEST_FETCH)
    within = to.log_start + random.randrange(300)
    last = max(to.log_start, end - 1)
    offset = random.choice((to.log_start, within, end, last, last, last, FAR))
    partition = _at(to, version, offset, random.choice((NO_NODE, to.epoch)), NO_NODE)
    partition = replace(partition, partition_max_bytes=random.choice((1, LARGEST)))
    message = _fetch(to, version, NO_NODE, partition)
    expected = {ErrorCode.NONE, ErrorCode.OFFSET_OUT_OF_RANGE}
    if not to.is_leader:
        expected = {ErrorCode.NOT_LEADER_OR_FOLLOWER}
    elif offset == FAR:
        expected = {ErrorCode.OFFSET_OUT_OF_RANGE}
    elif offset in {to.log_start, end}:
        expected = {ErrorCode.NONE}
    return Mistake(
        message=message,
        version=version,
        expected=frozenset(expected),
        about=f"FetchRequest v{version} of a consumer",
        offset=offset,
    )


# FetchSnapshot


def _slice(
    to: Receiver,
    snapshot: SnapshotId,
    *,
    epoch: int | None = None,
    position: int = 0,
    max_bytes: int = 100,
    partition: int = 0,
) -> fetch_snapshot_request.FetchSnapshotRequest:
    named = fetch_snapshot_request.PartitionSnapshot(
        partition=partition,
        current_leader_epoch=to.epoch if epoch is None else epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=snapshot.end_offset, epoch=snapshot.epoch
        ),
        position=position,
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=TOPIC, partitions=(named,))
    return fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=to.cluster_id, replica_id=NO_NODE, max_bytes=max_bytes, topics=(topic,)
    )


def _slice_refused(to: Receiver, random: Random) -> Mistake | None:
    """Return a FetchSnapshot with a mistake that every role refuses."""
    snapshot = to.snapshot or SnapshotId(Offset(1), Epoch(1))
    drawn = random.randrange(4)
    if drawn == 0:
        message = _slice(to, snapshot, max_bytes=random.choice((0, -1)))
        error, about = ErrorCode.INVALID_REQUEST, "no bytes"
    elif drawn == 1:
        message = _slice(to, snapshot, partition=1)
        error, about = ErrorCode.INVALID_REQUEST, "another partition"
    elif drawn == 2:
        message = _slice(to, snapshot, epoch=to.epoch + 1)
        error, about = ErrorCode.UNKNOWN_LEADER_EPOCH, "the epoch ahead"
    elif not to.is_leader:
        message = _slice(to, snapshot)
        error, about = ErrorCode.NOT_LEADER_OR_FOLLOWER, "not the leader"
    else:
        return None
    return mistake(message, random.randint(0, 1), error, about)


def _slice_of_nothing(to: Receiver, random: Random) -> Mistake | None:
    """Return a FetchSnapshot of a snapshot or a place that the leader does not have."""
    if not to.is_leader:
        return None
    present = to.snapshot
    if present is not None and random.random() < 0.6:
        message = _slice(to, present, position=random.choice((-1, FAR)))
        error, about = ErrorCode.POSITION_OUT_OF_RANGE, "beyond the snapshot"
    else:
        other = SnapshotId(Offset(FAR), Epoch(to.epoch))
        if present is not None and random.random() < 0.5:
            other = replace(present, epoch=Epoch(present.epoch + 1))
        message = _slice(to, other)
        error, about = ErrorCode.SNAPSHOT_NOT_FOUND, "an unknown snapshot"
    return mistake(message, random.randint(0, 1), error, about)


MISTAKEN_FETCHES: Final[tuple[Drawer, ...]] = (
    _fetch_elsewhere,
    _negative,
    _other_epoch,
    _not_leader,
    _slice_refused,
    _slice_of_nothing,
    _slice_of_nothing,
)
