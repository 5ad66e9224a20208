"""Deaths and power losses: whatever they leave, snapshot and log go together."""

import contextlib
from random import Random

import pytest

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import (
    Append,
    CleanLog,
)
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from tests.support.node.snapshot_disk import (
    CLUSTER_ID,
    append,
    batch,
    formatted,
    image_at,
    install,
    opened,
    write,
    writing,
)


@pytest.mark.requirement("631-31")
@pytest.mark.parametrize("seed", range(60))
def test_a_power_loss_at_any_moment_leaves_snapshot_and_log_together(seed):
    """Appends, snapshots, cleanings, copies and power losses at random."""
    random, disk, durable_end, epoch = Random(seed), formatted(), 0, 1
    for _ in range(8):
        stored = opened(disk)
        log_start = stored.history.log_start
        newest = stored.history.newest
        end = stored.batches[-1].next_offset if stored.batches else log_start.end_offset
        assert end >= durable_end
        assert (
            newest is None
            or newest.image.digest == image_at(newest.stored.snapshot.end_offset).digest
        )
        reached = log_start.end_offset
        for one in stored.batches:
            assert one.base_offset == reached
            reached = one.next_offset
        kept = [s.snapshot for s in stored.history.kept]
        assert log_start == LOG_BEGIN or log_start == kept[0]
        end, durable_end = life(stored.storage, random, end, kept, epoch)
        disk.crash(random)


def life(storage, random, end, kept, epoch):
    """Do this and that; the offset that the log reaches, and that it must not lose."""
    durable_end = end
    for _ in range(random.randrange(1, 8)):
        match random.randrange(4):
            case 0:
                storage.append(Append(METADATA_LOG, batch(end, epoch)))
                end += 1
            case 1:
                append(storage, end, end + 3, epoch)
                end = durable_end = end + 3
            case 2 if durable_end > (kept[-1].end_offset if kept else 0):
                steps = storage.write_snapshot(writing(durable_end, epoch))
                if random.random() < 0.3:
                    next(steps)
                    return end, durable_end
                kept.append(run_through(steps).snapshot)
                del kept[:-2]
                if len(kept) == 2:
                    storage.clean(CleanLog(kept[0]))
            case 3 if random.random() < 0.2:
                end = durable_end = end + 10
                install(storage, end, epoch, copy=random.randrange(1 << 30))
                kept[:] = [SnapshotId(end, epoch)]
            case _:
                continue
    return end, durable_end


class KilledError(Exception):
    """The process has ended in the middle of an effect."""


class MortalFileSystem(SimulatedFileSystem):
    """Ends the process before one of its directory operations."""

    def __init__(self):
        super().__init__()
        self.operations_left = 1 << 30

    def count(self):
        self.operations_left -= 1
        if self.operations_left < 0:
            raise KilledError

    def replace(self, source, target):
        self.count()
        super().replace(source, target)

    def remove(self, path):
        self.count()
        super().remove(path)

    def fsync_directory(self, path):
        self.count()
        super().fsync_directory(path)

    def append_to(self, path):
        self.count()
        return super().append_to(path)


@pytest.mark.requirement("631-34")
@pytest.mark.requirement("631-36")
@pytest.mark.parametrize("operations", range(30))
@pytest.mark.parametrize("loses_power", [False, True])
def test_a_death_within_an_installation_leaves_the_old_log_or_the_new_snapshot(
    operations, loses_power
):
    disk = MortalFileSystem()
    format_directories(disk, ("/data",), MetaProperties(cluster_id=CLUSTER_ID, node_id=NodeId(1)))
    disk.fsync_directory("/")
    storage = opened(disk).storage
    append(storage, 0, 40)
    for end in (20, 30):
        write(storage, end)
    storage.clean(CleanLog(SnapshotId(20, 1)))
    source = formatted()
    theirs = opened(source).storage
    append(theirs, 0, 60, 4)
    write(theirs, 60, 4)
    disk.operations_left = operations
    with contextlib.suppress(KilledError):
        install(storage, 60, epoch=4, source=source)
    disk.operations_left = 1 << 30
    if loses_power:
        disk.crash(Random(operations))
    stored = opened(disk)
    end = stored.batches[-1].next_offset if stored.batches else 0
    newest = stored.history.newest
    found = (stored.history.log_start, newest.stored.snapshot, end)
    old = (SnapshotId(20, 1), SnapshotId(30, 1), 40)
    new = (SnapshotId(60, 4), SnapshotId(60, 4), 0)
    assert found in {old, new}
    assert newest.image == (image_at(30) if found == old else image_at(60, 4))
