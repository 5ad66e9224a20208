"""Snapshots on disk: atomic, found at start, refused when damaged; and the log beside them."""

import pytest

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId, StoredSnapshot
from kraftproof.node.core.effects import (
    CheckSnapshot,
    CleanLog,
    InstallSnapshot,
    PersistQuorumState,
    ReplyWithSlice,
    StoreSlice,
)
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.snapshots import snapshot_name
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse
from tests.support.node.snapshot_disk import (
    DIRECTORY,
    append,
    formatted,
    image_at,
    install,
    names,
    opened,
    with_two_snapshots,
    write,
    writing,
)

"""Snapshots on disk: atomic, found at start, refused when damaged; and the log beside them."""


@pytest.mark.requirement("631-36")
def test_a_snapshot_has_the_name_of_its_end_and_appears_only_when_complete():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 5)
    steps = storage.write_snapshot(writing(5))
    for _ in range(2):
        next(steps)
        assert names(disk) == []
    stored = run_through(steps)
    assert names(disk) == ["00000000000000000005-0000000001.checkpoint"]
    assert stored == StoredSnapshot(
        snapshot=SnapshotId(5, 1), size=disk.size(f"{DIRECTORY}/{names(disk)[0]}")
    )


def leader_snapshot(storage, end):
    """Return a download of the leader's snapshot that is ready to be installed."""
    leader = formatted()
    write(opened(leader).storage, end)
    data = leader.read(f"{DIRECTORY}/{snapshot_name(SnapshotId(end, 1))}")
    storage.store_slice(StoreSlice(copy=1, snapshot=SnapshotId(end, 1), position=0, data=data))
    run_through(storage.check_snapshot(CheckSnapshot(copy=1, snapshot=SnapshotId(end, 1))))
    return InstallSnapshot(copy=1, snapshot=SnapshotId(end, 1))


@pytest.mark.requirement("631-36")
@pytest.mark.parametrize("steps_before", [0, 1, 2])
def test_a_snapshot_that_an_installed_one_overtakes_is_not_written(steps_before):
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 5)
    steps = storage.write_snapshot(writing(5))
    for _ in range(steps_before):
        next(steps)
    storage.install_snapshot(leader_snapshot(storage, 9))
    run_through(steps)
    assert names(disk) == [snapshot_name(SnapshotId(9, 1))]
    assert names(disk, ".part") == []


def test_a_snapshot_at_the_begin_of_the_log_or_later_is_written():
    disk = formatted()
    storage = opened(disk).storage
    storage.install_snapshot(leader_snapshot(storage, 9))
    append(storage, 9, 12)
    run_through(storage.write_snapshot(writing(12)))
    assert names(disk) == [snapshot_name(SnapshotId(end, 1)) for end in (9, 12)]


@pytest.mark.requirement("631-31")
def test_a_restart_finds_the_newest_snapshot_and_the_log_after_the_oldest():
    disk = with_two_snapshots()
    stored = opened(disk)
    assert stored.history.log_start == SnapshotId(20, 1)
    assert [s.snapshot for s in stored.history.kept] == [SnapshotId(20, 1), SnapshotId(30, 1)]
    assert stored.history.newest.image == image_at(30)
    assert stored.history.newest.timestamp_ms == 30
    assert [b.base_offset for b in stored.batches] == list(range(20, 40))
    assert int(names(disk, ".log")[0][:20]) > 0, "segments below the start are gone"
    assert stored.warnings == ()


def test_one_snapshot_leaves_the_log_whole():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 10)
    write(storage, 10)
    stored = opened(disk)
    assert stored.history.log_start == LOG_BEGIN
    assert len(stored.batches) == 10


@pytest.mark.requirement("631-36")
def test_a_partial_file_is_removed_at_start():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 5)
    next(storage.write_snapshot(writing(5)))
    storage.store_slice(StoreSlice(copy=1, snapshot=SnapshotId(9, 1), position=0, data=b"half"))
    assert len(names(disk, ".part")) == 2
    stored = opened(disk)
    assert names(disk, ".part") == []
    assert stored.history.newest is None


def damage(disk, end, kind):
    path = f"{DIRECTORY}/{snapshot_name(SnapshotId(end, 1))}"
    data = disk.read(path)
    changed = {
        "cut short": data[:-20],
        "cut at a batch": data[: -(61 + 14)],
        "empty": b"",
        "flipped": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "longer": data + b"\0",
    }[kind]
    disk.remove(path)
    disk.append_to(path).write(changed)
    return path


KINDS = ["cut short", "cut at a batch", "empty", "flipped", "longer"]


@pytest.mark.requirement("631-36")
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_snapshot_is_named_and_the_older_one_used(kind):
    disk = with_two_snapshots()
    path = damage(disk, 30, kind)
    stored = opened(disk)
    (warning,) = stored.warnings
    assert warning.startswith(f"{path}: no whole snapshot (")
    assert "\n" not in warning
    assert stored.history.newest.image == image_at(20)
    assert stored.history.log_start == SnapshotId(20, 1)
    assert [b.base_offset for b in stored.batches] == list(range(20, 40))


@pytest.mark.requirement("631-36")
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_snapshot_is_refused_where_the_log_does_not_reach(kind):
    disk = formatted()
    install(opened(disk).storage, 30)
    path = damage(disk, 30, kind)
    with pytest.raises(StorageError) as caught:
        opened(disk)
    assert DIRECTORY in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.rpartition("/")[2][:20] in str(caught.value)


def test_a_damaged_only_snapshot_is_no_loss_while_the_log_is_whole():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 10)
    write(storage, 10)
    damage(disk, 10, "cut short")
    stored = opened(disk)
    assert len(stored.warnings) == 1
    assert (stored.history.newest, len(stored.batches)) == (None, 10)


def test_a_damaged_only_snapshot_without_all_of_its_log_is_refused():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 5)
    write(storage, 10)
    damage(disk, 10, "cut short")
    with pytest.raises(StorageError, match="and the log ends at 5"):
        opened(disk)


@pytest.mark.requirement("631-33")
def test_a_snapshot_that_ends_where_no_batch_does_is_refused():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 10)
    write(storage, 8, epoch=2)
    append(storage, 10, 12, epoch=3)
    with pytest.raises(StorageError, match="does not belong to this log"):
        opened(disk)


@pytest.mark.requirement("631-34")
def test_an_installed_snapshot_takes_the_place_of_the_log_and_of_older_snapshots():
    disk = with_two_snapshots()
    stored = opened(disk)
    stored.storage.persist_quorum_state(PersistQuorumState(QuorumState(epoch=9)))
    install(stored.storage, 60, epoch=4)
    assert names(disk) == [snapshot_name(SnapshotId(60, 4))]
    assert names(disk, ".log") == ["00000000000000000060.log"]
    append(stored.storage, 60, 63, epoch=4)
    again = opened(disk)
    assert again.history.log_start == SnapshotId(60, 4)
    assert [b.base_offset for b in again.batches] == [60, 61, 62]
    assert again.durable.epoch == 9
    checkpoint = disk.read(f"{DIRECTORY}/leader-epoch-checkpoint")
    assert checkpoint == b"0\n1\n4 60\n"


@pytest.mark.requirement("631-34")
def test_a_copy_that_was_given_up_is_told_apart_from_the_next_of_the_same_snapshot():
    disk = formatted()
    storage = opened(disk).storage
    snapshot = SnapshotId(30, 1)
    storage.store_slice(StoreSlice(copy=1, snapshot=snapshot, position=0, data=b"old"))
    first = storage.check_snapshot(CheckSnapshot(copy=1, snapshot=snapshot))
    next(first)
    install(storage, 30, copy=2)
    assert run_through(first).loaded is None
    assert opened(disk).history.newest.image == image_at(30)


@pytest.mark.requirement("631-34")
def test_a_copy_that_was_replaced_before_its_check_began_leaves_the_next_alone():
    """Seed 201422: a slow disk kept the check of the first copy until the second had begun."""
    disk = formatted()
    storage = opened(disk).storage
    snapshot = SnapshotId(30, 1)
    storage.store_slice(StoreSlice(copy=1, snapshot=snapshot, position=0, data=b"old"))
    first = storage.check_snapshot(CheckSnapshot(copy=1, snapshot=snapshot))
    storage.store_slice(StoreSlice(copy=2, snapshot=snapshot, position=0, data=b"cut"))
    assert run_through(first).loaded is None
    second = storage.check_snapshot(CheckSnapshot(copy=2, snapshot=snapshot))
    assert run_through(second) == SnapshotChecked(copy=2, loaded=None)
    install(storage, 30, copy=3)
    assert opened(disk).history.newest.image == image_at(30)


def test_a_slice_is_a_part_of_the_file():
    disk = with_two_snapshots()
    storage = opened(disk).storage
    snapshot = SnapshotId(30, 1)
    data = disk.read(f"{DIRECTORY}/{snapshot_name(snapshot)}")
    for position, length in ((0, 10), (7, 1 << 20), (len(data) - 1, 5)):
        asked = ReplyWithSlice(
            request=1,
            message=FetchSnapshotResponse(),
            snapshot=snapshot,
            position=position,
            max_bytes=length,
        )
        assert storage.read_slice(asked) == data[position : position + length]


@pytest.mark.requirement("595-10")
def test_the_epoch_checkpoint_begins_where_the_log_does():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 10)
    append(storage, 10, 20, epoch=3)
    write(storage, 12, epoch=3)
    write(storage, 15, epoch=3)
    storage.clean(CleanLog(SnapshotId(12, 3)))
    path = f"{DIRECTORY}/leader-epoch-checkpoint"
    assert disk.read(path) == b"0\n1\n3 12\n"
    opened(disk)
    assert disk.read(path) == b"0\n1\n3 12\n"
