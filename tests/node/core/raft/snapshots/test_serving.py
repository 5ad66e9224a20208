"""Serving snapshots: which FetchSnapshots and Fetches a leader refuses, and the slices it gives."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.snapshot_ids import SNAPSHOTS_KEPT, SNAPSHOTS_KEPT_FOR_DOWNLOAD
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_snapshot_request
from tests.support.node.snapshot_world import fill, laggard, partition_of

FETCH_TIMEOUT_MS = 2000


@pytest.mark.requirement("631-34")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"snapshot_id": fetch_snapshot_request.SnapshotId(end_offset=1, epoch=1)}, 98),
        ({"position": 1 << 40}, 99),
        ({"position": -1}, 99),
        ({"current_leader_epoch": 0}, 74),
        ({"current_leader_epoch": 99}, 75),
    ],
)
def test_a_request_that_does_not_fit_is_refused(world, change, error):
    answer = ask(world, world.leader(), **change)
    assert partition_of(answer).error_code == error
    assert partition_of(answer).unaligned_records == b""


def ask(world, node_id, cluster_id=None, max_bytes=1000, topic="__cluster_metadata", **change):
    raft = world.nodes[world.leader()]._raft
    newest = raft._state.snapshots[-1].snapshot
    partition = fetch_snapshot_request.PartitionSnapshot(
        current_leader_epoch=raft.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=newest.end_offset, epoch=newest.epoch
        ),
    )
    topics = (
        fetch_snapshot_request.TopicSnapshot(
            name=topic, partitions=(replace(partition, **change),)
        ),
    )
    request = fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=cluster_id, replica_id=77, max_bytes=max_bytes, topics=topics
    )
    return world.answer(node_id, request, 1, by_ms=0)


@pytest.mark.requirement("631-34")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"cluster_id": "B" * 22}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"max_bytes": 0}, ErrorCode.INVALID_REQUEST),
        ({"topic": "other"}, ErrorCode.INVALID_REQUEST),
        ({"partition": 1}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_request_of_another_cluster_or_shape_is_refused_whole(world, change, error):
    assert ask(world, world.leader(), **change).error_code == error


def test_a_follower_serves_no_snapshot(world):
    answer = ask(world, laggard(world))
    assert partition_of(answer).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition_of(answer).current_leader.leader_id == world.leader()


def test_slices_put_together_are_the_file(world):
    leader = world.leader()
    data = b""
    while True:
        part = partition_of(ask(world, leader, max_bytes=150, position=len(data)))
        assert 0 < len(part.unaligned_records) <= 150
        data += part.unaligned_records
        if len(data) == part.size:
            break
    path = f"/data/__cluster_metadata-0/{world.files(leader)[-1]}"
    assert data == world.disks[leader].read(path)


def served(world):
    """Ask for slices of the snapshot that is the newest now."""
    leader = world.leader()
    snapshot = world.nodes[leader]._raft._state.snapshots[-1]
    named = fetch_snapshot_request.SnapshotId(
        end_offset=snapshot.snapshot.end_offset, epoch=snapshot.snapshot.epoch
    )
    return lambda at: (
        partition_of(ask(world, leader, max_bytes=100, position=at, snapshot_id=named)).error_code
    )


def test_a_snapshot_stays_while_a_replica_downloads_it(world):
    """Without this, a replica that is slower than two snapshots begins again for ever."""
    error_at = served(world)
    for slice_number in range(6):
        assert error_at(100 * slice_number) == ErrorCode.NONE
        fill(world, f"more-{slice_number}-", 6)  # more than two snapshots are written meanwhile
    assert len(world.nodes[world.leader()]._raft._state.snapshots) > SNAPSHOTS_KEPT


def test_a_snapshot_goes_once_its_download_is_over(world):
    error_at = served(world)
    assert error_at(0) == ErrorCode.NONE
    world.run(FETCH_TIMEOUT_MS)
    fill(world, "more", 30)
    assert error_at(100) == ErrorCode.SNAPSHOT_NOT_FOUND
    assert len(world.nodes[world.leader()]._raft._state.snapshots) == SNAPSHOTS_KEPT


def test_a_replica_that_asks_for_one_slice_for_ever_keeps_no_snapshot(world):
    error_at = served(world)
    for round_number in range(16):
        error = error_at(0)
        world.run(FETCH_TIMEOUT_MS // 8)
        fill(world, f"more-{round_number}-", 3)
    assert error == ErrorCode.SNAPSHOT_NOT_FOUND


def test_a_download_keeps_ten_snapshots_at_most(world):
    error_at = served(world)
    errors = []
    for slice_number in range(12):
        errors.append(error_at(10 * slice_number))
        fill(world, f"more-{slice_number}-", 12)
    assert errors[-1] == ErrorCode.SNAPSHOT_NOT_FOUND
    assert len(world.nodes[world.leader()]._raft._state.snapshots) <= SNAPSHOTS_KEPT_FOR_DOWNLOAD


@pytest.mark.requirement("595-53")
def test_a_consumers_fetch_below_the_log_is_out_of_range(world):
    partition = fetch_request.FetchPartition(fetch_offset=0, partition_max_bytes=1000)
    topic = fetch_request.FetchTopic(topic="__cluster_metadata", partitions=(partition,))
    request = fetch_request.FetchRequest(max_bytes=1000, topics=(topic,))
    answer = world.answer(world.leader(), request, 12, by_ms=0)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.requirement("631-37")
def test_the_leader_knows_where_each_replicas_snapshots_begin(world):
    world.run(1000)
    leader = world.nodes[world.leader()]
    for node_id, replica in leader._raft.role.replicas.voters.items():
        assert replica.snapshot_end == world.nodes[node_id]._raft.log.start_offset > 0


@pytest.mark.requirement("595-64")
def test_a_download_is_contact_but_no_fetch(world):
    error_at = served(world)
    assert error_at(0) == ErrorCode.NONE
    raft = world.nodes[world.leader()]._raft
    first = raft._state.role.replicas.observers[77]
    contact = first.contact
    world.run(100)
    assert error_at(100) == ErrorCode.NONE
    assert first.contact > contact
    assert (first.fetched_ms, first.caught_up_ms) == (-1, -1)
