"""What a node keeps on its disk and copies is bounded."""

from dataclasses import replace

import pytest

from kraftproof.cluster.simulated.invariants.resources.retention import (
    LATE_NS,
    LONGEST_WRITE_NS,
    MOST_COPIES,
    CatchUpIsBounded,
    OldFilesAreDeleted,
    SnapshotsKeepUp,
)
from kraftproof.node.core.base.config import SnapshotPolicy
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.events import SnapshotWritten, Tick
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import fetch_snapshot_request, fetch_snapshot_response
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, FETCH_NS, MonitorHarness

WRITTEN = SnapshotWritten(stored=StoredSnapshot(snapshot=SnapshotId(20, 1), size=9))
RECORDS = 10
FREQUENT = replace(CONFIG, snapshots=SnapshotPolicy(bytes_between=RECORDS * 128))


def snapshot(end: int) -> str:
    return f"{end:020d}-0000000001.checkpoint"


def segment(base: int) -> str:
    return f"{base:020d}.log"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ([snapshot(10), snapshot(20), segment(10), segment(25)], None),
        ([snapshot(10), snapshot(20), snapshot(30), segment(7), segment(12)], None),
        ([snapshot(10), segment(0), segment(10), segment(20)], "1 segments below"),
        ([snapshot(end) for end in (10, 20, 30, 40)], "4 snapshots"),
        ([snapshot(10), snapshot(20), segment(0), segment(10)], "1 segments below"),
        ([snapshot(10), snapshot(20), segment(0), segment(5), segment(9)], "2 segments below"),
        ([f"{snapshot(end)}.{end}.part" for end in (10, 20)], None),
        ([f"{snapshot(end)}.{end}.part" for end in (10, 20, 30)], "3 unfinished"),
    ],
)
def test_old_files_are_found_after_the_next_write_of_a_snapshot(files, found) -> None:
    harness = MonitorHarness(OldFilesAreDeleted(CONFIG))
    process = harness.process(1)
    process.files = [snapshot(5), snapshot(10), snapshot(20), segment(0), segment(10)]
    process.event = WRITTEN
    process.steps()
    process.event = Tick()
    process.steps()
    assert harness.reported == []
    process.event = WRITTEN
    process.files = files
    process.steps()
    assert [found in one for one in harness.reported] == ([] if found is None else [True])


def test_a_start_forgets_for_which_cleaning_the_process_before_has_asked() -> None:
    harness = MonitorHarness(OldFilesAreDeleted(CONFIG))
    process = harness.process(1)
    process.files = [snapshot(10), snapshot(20), segment(0), segment(10)]
    process.event = WRITTEN
    process.steps()
    process.restarts([])
    process.steps()
    assert harness.reported == []


@pytest.mark.parametrize(
    ("positions", "later_ns", "found"),
    [
        ((0,), 0, []),
        ((0, 100), FETCH_NS, []),
        ((0,), 3 * FETCH_NS, [True]),
    ],
)
def test_snapshots_stay_while_a_replica_downloads_one(positions, later_ns, found) -> None:
    harness = MonitorHarness(OldFilesAreDeleted(CONFIG))
    process = harness.process(1)
    for position in positions:
        asked = fetch_snapshot_request.PartitionSnapshot(
            snapshot_id=fetch_snapshot_request.SnapshotId(end_offset=10, epoch=1), position=position
        )
        topic = fetch_snapshot_request.TopicSnapshot(name="m", partitions=(asked,))
        event = process.receives(fetch_snapshot_request.FetchSnapshotRequest(topics=(topic,)))
        part = fetch_snapshot_response.PartitionSnapshot(unaligned_records=b"slice")
        topic_answer = fetch_snapshot_response.TopicSnapshot(name="m", partitions=(part,))
        process.replies(
            event, fetch_snapshot_response.FetchSnapshotResponse(topics=(topic_answer,))
        )
        harness.now_ns += later_ns
    process.files = [*(snapshot(end) for end in range(10, 60, 10)), segment(10)]
    process.event = WRITTEN
    process.steps()
    assert ["5 snapshots" in one for one in harness.reported] == found


def test_a_snapshot_that_is_late_is_found() -> None:
    harness = MonitorHarness(SnapshotsKeepUp(FREQUENT))
    process = harness.process(1)
    process.moves(image_offset=RECORDS - 1)
    harness.now_ns += 2 * LATE_NS
    process.moves(image_offset=RECORDS)
    harness.now_ns += LATE_NS
    process.moves(image_offset=RECORDS + 1)
    assert harness.reported == []
    harness.now_ns += 1
    process.moves(image_offset=RECORDS + 2)
    assert harness.reported == [
        f"{RECORDS + 2} records since the snapshot that ends at 0, {RECORDS} make a snapshot due"
    ]


def test_the_next_snapshot_waits_for_a_write_on_a_slow_disk_but_not_for_ever() -> None:
    """Seed 201626: three fsyncs of a write took 2 s each."""
    harness = MonitorHarness(SnapshotsKeepUp(FREQUENT))
    process = harness.process(1)
    process.moves(image_offset=RECORDS)
    process.writes_snapshot(SnapshotId(RECORDS, 1), MetadataImage())
    harness.now_ns += 2 * LATE_NS
    process.moves(image_offset=2 * RECORDS)
    assert harness.reported == []
    harness.now_ns += LONGEST_WRITE_NS
    process.moves(image_offset=3 * RECORDS)
    assert len(harness.reported) == 1


@pytest.mark.parametrize("helps", ["a snapshot", "a pause", "a start"])
def test_a_snapshot_a_pause_and_a_start_begin_the_time_again(helps: str) -> None:
    harness = MonitorHarness(SnapshotsKeepUp(FREQUENT))
    process = harness.process(1)
    process.moves(image_offset=RECORDS)
    if helps == "a snapshot":
        harness.now_ns += LATE_NS + 1
        process.log.snapshots = [SnapshotId(RECORDS, 1)]
    elif helps == "a pause":
        process.sleeps(LATE_NS + 1)
    else:
        harness.now_ns += LATE_NS + 1
        process.restarts([])
    process.moves(image_offset=RECORDS + 1)
    assert harness.reported == []


def slice_of(end: int, size: int) -> fetch_snapshot_response.FetchSnapshotResponse:
    named = fetch_snapshot_response.SnapshotId(end_offset=end, epoch=1)
    partition = fetch_snapshot_response.PartitionSnapshot(
        snapshot_id=named, size=size, unaligned_records=b"x" * size
    )
    topic = fetch_snapshot_response.TopicSnapshot(partitions=(partition,))
    return fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))


def slice_at(position: int) -> fetch_snapshot_request.FetchSnapshotRequest:
    partition = fetch_snapshot_request.PartitionSnapshot(position=position)
    topic = fetch_snapshot_request.TopicSnapshot(partitions=(partition,))
    return fetch_snapshot_request.FetchSnapshotRequest(topics=(topic,))


def test_a_snapshot_that_is_copied_again_and_again_is_found() -> None:
    harness = MonitorHarness(CatchUpIsBounded())
    process = harness.process(1)
    request = slice_at(0)
    for _ in range(MOST_COPIES):
        process.hears(2, request, slice_of(10, 100))
        process.hears(2, request, slice_of(20, 100))
    assert harness.reported == []
    process.hears(2, request, slice_of(10, 100))
    assert len(harness.reported) == 1
    assert "500 bytes" in harness.reported[0]
    process.restarts([])
    process.hears(2, request, slice_of(20, 100))
    assert len(harness.reported) == 1


@pytest.mark.parametrize("is_misplaced", [False, True])
def test_each_refused_slice_allows_one_more_copy(is_misplaced: bool) -> None:
    harness = MonitorHarness(CatchUpIsBounded())
    process = harness.process(1)
    if is_misplaced:
        process.hears(2, slice_at(7), slice_of(10, 100))
    else:
        process.hears(2, slice_at(0), fetch_snapshot_response.FetchSnapshotResponse())
    for _ in range(MOST_COPIES + 1):
        process.hears(2, slice_at(0), slice_of(10, 100))
    assert harness.reported == []
    process.hears(2, slice_at(0), slice_of(10, 100))
    assert len(harness.reported) == 1
