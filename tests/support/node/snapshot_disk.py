"""One node's storage with snapshots on a simulated disk, and what tests do to it."""

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Flush,
    InstallSnapshot,
    StoreSlice,
    WriteSnapshot,
)
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.log import DIRECTORY_NAME
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.storage.snapshots import snapshot_name
from kraftproof.node.storage.stored import StorageConfig, open_node_storage
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord, TopicRecord

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
DIRECTORY = f"/data/{DIRECTORY_NAME}"
CONFIG = StorageConfig(
    node_id=NodeId(1),
    directories=("/data",),
    metadata_directory="/data",
    voter_ids=(NodeId(1),),
    segment_bytes=600,
)


def formatted():
    disk = SimulatedFileSystem()
    format_directories(disk, ("/data",), MetaProperties(cluster_id=CLUSTER_ID, node_id=NodeId(1)))
    disk.fsync_directory("/")
    return disk


def opened(disk):
    return open_node_storage(disk, CONFIG)


def batch(offset, epoch=1):
    topic = TopicRecord(name=f"t{offset}", topic_id=offset.to_bytes(16, "big"))
    records = (topic,) if offset % 3 else (NoOpRecord(),)
    return Batch(base_offset=offset, epoch=epoch, timestamp_ms=offset, records=records)


def image_at(end, epoch=1):
    image = EMPTY_IMAGE
    for offset in range(end):
        image = apply_batch(image, batch(offset, epoch))
    return image


def append(storage, start, end, epoch=1):
    for offset in range(start, end):
        storage.append(Append(METADATA_LOG, batch(offset, epoch)))
    storage.start_flush(Flush(log=METADATA_LOG, generation=0, end_offset=end))()


def writing(end, epoch=1):
    return WriteSnapshot(
        snapshot=SnapshotId(end, epoch), image=image_at(end, epoch), timestamp_ms=end
    )


def write(storage, end, epoch=1):
    return run_through(storage.write_snapshot(writing(end, epoch)))


def names(disk, suffix=".checkpoint"):
    return [name for name in disk.list_directory(DIRECTORY) if name.endswith(suffix)]


def with_two_snapshots(*, ends=(20, 30), log_end=40):
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, log_end)
    for end in ends:
        write(storage, end)
    storage.clean(CleanLog(SnapshotId(ends[0], 1)))
    storage.close()
    return disk


def install(storage, end, epoch=1, *, copy=1, source=None):
    """As a copy of a leader's snapshot."""
    if source is None:
        source = formatted()
        theirs = opened(source).storage
        append(theirs, 0, end, epoch)
        write(theirs, end, epoch)
    snapshot = SnapshotId(end, epoch)
    data = source.read(f"{DIRECTORY}/{snapshot_name(snapshot)}")
    for position in range(0, len(data), 100):
        storage.store_slice(
            StoreSlice(
                copy=copy,
                snapshot=snapshot,
                position=position,
                data=data[position : position + 100],
            )
        )
    checked = run_through(storage.check_snapshot(CheckSnapshot(copy=copy, snapshot=snapshot)))
    assert checked.loaded.image == image_at(end, epoch)
    storage.install_snapshot(InstallSnapshot(copy=copy, snapshot=snapshot))
