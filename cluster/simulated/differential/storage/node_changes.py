"""Change the storage of a node through effects, lose power, and compare the next start."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import check, named, same
from kraftproof.cluster.simulated.differential.storage.files import content_of, crashed, put
from kraftproof.cluster.simulated.differential.wire.raw_batches import draw_produced, expected_batch
from kraftproof.cluster.simulated.differential.work import result_of
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.log_id import METADATA_LOG, LogId
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    Flush,
    InstallSnapshot,
    ReplyWithSlice,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.log.recovered import DamagedLog
from kraftproof.node.core.log_effects import CreateLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.storage.snapshots import SnapshotFiles
from kraftproof.node.storage.stored import StorageConfig, Stored, open_node_storage
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.metadata import NoOpRecord, TopicRecord
from kraftproof.node.wire.types import Uuid

PARTITION: Final = LogId(Uuid(b"\5" * 16), 0)
TOPIC: Final = "topic"
OWN: Final = SnapshotId(Offset(2), Epoch(3))
LEADERS: Final = SnapshotId(Offset(50), Epoch(4))
_CONFIG: Final = NodeConfig(
    node_id=NodeId(4),
    cluster_id="cluster",
    is_controller=True,
    is_broker=True,
    voters=(),
    endpoints=(),
    rack="rack",
)


def compare_configured(
    stored: Stored, first: tuple[Record, ...], directories: dict[str, Uuid], failed: tuple[str, ...]
) -> None:
    """Compare the configuration that a node gets from its storage.

    Raises:
        DifferenceError: a part of the configuration is another one.
    """
    expected = replace(
        _CONFIG,
        bootstrap=first,
        log_dirs=tuple(directories.values()),
        log_dir_paths=tuple(directories),
        failed_log_dirs=failed,
    )
    same("the first records", stored.first.records, first)
    same("the configuration of a node", stored.configured(_CONFIG), expected)


def write_partition(
    stored: Stored, disk: SimulatedFileSystem, home: tuple[str, Uuid], random: Random, size: int
) -> None:
    """Create a partition's log with two batches; count its segments."""
    partitions, (path, directory) = stored.storage.partitions, home
    partitions.create(CreateLog(log=PARTITION, topic=TOPIC, directory=directory))
    end = 0
    for _ in range(2):
        batch = expected_batch(draw_produced(random, end, 5)).moved(end, 1)
        partitions.append(Append(PARTITION, batch))
        end = batch.next_offset
    partitions.start_flush(Flush(log=PARTITION, generation=0, end_offset=Offset(end)))()
    count = len(segments(disk, f"{path}/{TOPIC}-0"))
    same("the segments of a partition", count, 2 if size == 1 else 1)


def segments(disk: SimulatedFileSystem, directory: str) -> list[str]:
    """Return the paths of the segments of a log."""
    return [path for path in content_of(disk, directory) if path.endswith(".log")]


def compare_damaged(
    disk: SimulatedFileSystem, config: StorageConfig, path: str, directory: Uuid
) -> None:
    """Start on a partition that is damaged after an orderly stop: its replica is offline.

    Raises:
        DifferenceError: the start says something else of the damaged log.
    """
    place = f"{path}/{TOPIC}-0/{0:020d}.log"
    content = disk.read(place)
    put(disk, place, content[:-1])
    stored = open_node_storage(disk, config)
    damaged = (DamagedLog(log=PARTITION, topic=TOPIC, directory=directory),)
    same("the damaged partitions", (stored.damaged_partitions, stored.partitions), (damaged, ()))
    same(
        "the damaged logs of a configuration",
        stored.configured(_CONFIG).damaged_logs,
        ((PARTITION, directory),),
    )
    named("a damaged partition", "".join(stored.warnings), place, "offline")
    stored.storage.close()
    put(disk, place, content)


def compare_changes(
    disk: SimulatedFileSystem, config: StorageConfig, watermark: int, random: Random
) -> SimulatedFileSystem:
    """Cut the log, and install a snapshot of the leader; lose power after each.

    Raises:
        DifferenceError: a start has lost a change, or refuses the log.
    """
    stored = open_node_storage(disk, config)
    end = stored.batches[-1].next_offset
    if random.random() < 0.5:
        _append(stored, end)
        stored.storage.close()
        stored = open_node_storage(disk, config)
        same("the end after a kill", stored.batches[-1].next_offset, end + 1)
    cut = random.randint(min(max(watermark, 2), end), end)
    stored.storage.truncate(Truncate(METADATA_LOG, Offset(cut)))
    stored.storage.close()
    disk = crashed(disk, random)
    stored = open_node_storage(disk, config)
    same("the end of a cut log", stored.batches[-1].next_offset, cut)
    size = _write_own(stored, disk, random)
    same("the snapshots of a node", stored.storage.snapshots, [OWN])
    stored.storage.close()
    stored = open_node_storage(disk, config)
    same("kept snapshots", stored.history.kept, (StoredSnapshot(snapshot=OWN, size=size),))
    image, data = _install(stored, random)
    same("the snapshots after an installation", stored.storage.snapshots, [LEADERS])
    _append(stored, LEADERS.end_offset)
    stored.storage.close()
    disk = crashed(disk, random)
    stored = open_node_storage(disk, config)
    kept = (StoredSnapshot(snapshot=LEADERS, size=len(data)),)
    history = stored.history
    same("an installed snapshot", (history.log_start, history.kept), (LEADERS, kept))
    ends = [one.next_offset for one in stored.batches]
    same("the log after a snapshot", ends, [LEADERS.end_offset + 1])
    check("its image", history.newest is not None and history.newest.image == image)
    stored.storage.close()
    return disk


def _append(stored: Stored, offset: int) -> None:
    """Append a batch, and flush the log."""
    batch = Batch(base_offset=offset, epoch=4, timestamp_ms=1, records=(NoOpRecord(),))
    stored.storage.append(Append(METADATA_LOG, batch))
    flush = Flush(log=METADATA_LOG, generation=0, end_offset=Offset(offset + 1))
    stored.storage.start_flush(flush)()


def _write_own(stored: Stored, disk: SimulatedFileSystem, random: Random) -> int:
    """Write a snapshot, and read a slice; return the size of the file."""
    own = WriteSnapshot(snapshot=OWN, image=EMPTY_IMAGE, timestamp_ms=5)
    size = result_of(stored.storage.write_snapshot(own)).size
    (path,) = [path for path in content_of(disk, "/meta") if f"{OWN.end_offset:020d}-" in path]
    begin = random.randrange(size)
    asked = ReplyWithSlice(
        request=1, message=FetchSnapshotResponse(), snapshot=OWN, position=begin, max_bytes=9
    )
    found = stored.storage.read_slice(asked)
    same("a slice of a snapshot", found, disk.read(path)[begin : begin + 9])
    return size


def _install(stored: Stored, random: Random) -> tuple[object, bytes]:
    """Download a snapshot in two slices; return its image and its bytes."""
    topic = TopicRecord(name="a", topic_id=Uuid(b"\1" + random.randbytes(15)))
    image = apply_all(EMPTY_IMAGE, (topic,))
    source = SimulatedFileSystem()
    source.make_directory("/s")
    result_of(SnapshotFiles(source, "/s").write(LEADERS, image, 5))
    ((_, data),) = content_of(source, "/s").items()
    half = random.randrange(1, len(data))
    storage = stored.storage
    for begin, part in ((0, data[:half]), (half, data[half:])):
        storage.store_slice(StoreSlice(copy=1, snapshot=LEADERS, position=begin, data=part))
    checked = result_of(storage.check_snapshot(CheckSnapshot(copy=1, snapshot=LEADERS)))
    check("a whole download", checked.loaded is not None)
    storage.install_snapshot(InstallSnapshot(copy=1, snapshot=LEADERS))
    return image, data
