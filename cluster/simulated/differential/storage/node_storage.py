"""Compare the opened storage of a node, with several directories, with what was formatted."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.storage.files import crashed, put
from kraftproof.cluster.simulated.differential.storage.node_changes import (
    PARTITION,
    compare_changes,
    compare_configured,
    compare_damaged,
    segments,
    write_partition,
)
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import (
    Append,
    Flush,
    PersistQuorumState,
    Truncate,
)
from kraftproof.node.storage.bootstrap import write_bootstrap
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.storage.stored import (
    StorageConfig,
    Stored,
    log_directory,
    open_node_storage,
    quorum_state_path,
)
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, NoOpRecord
from kraftproof.node.wire.types import Uuid

PATHS: Final = ("/meta", "/one", "/two")
CLUSTER: Final = "abcdefghijklmnopqrst-_"
NODE: Final = NodeId(4)
LOG: Final = "/meta/__cluster_metadata-0"


def compare_node_storage(random: Random) -> None:
    """Open, write, stop and lose the storage of a node.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    disk, ids = _formatted(random)
    has_own = random.random() < 0.5
    config = StorageConfig(
        node_id=NODE,
        directories=PATHS,
        metadata_directory="/meta",
        voter_ids=(NodeId(1), NODE),
        log_directories=PATHS[1:] if has_own else (),
    )
    homes = PATHS[1:] if has_own else PATHS
    has_first = random.random() < 0.5
    first = (FeatureLevelRecord(name="metadata.version", feature_level=21),) * has_first
    if has_first:
        write_bootstrap(disk, "/meta", first, 7)
    same("the directory of the log", log_directory(config), LOG)
    same("the path of quorum-state", quorum_state_path(config), f"{LOG}/quorum-state")
    same(
        "sizes of segments", (config.segment_bytes, config.partition_segment_bytes), (1 << 30,) * 2
    )
    sizes = random.choice((1, 1 << 30)), random.choice((1, 1 << 30))
    config = replace(config, segment_bytes=sizes[0], partition_segment_bytes=sizes[1])
    stored = open_node_storage(disk, config)
    _compare_opened(stored, homes, ids)
    compare_configured(stored, first, {path: ids[path] for path in homes}, ())
    same("a new quorum-state", (stored.durable, stored.batches), (QuorumState(), ()))
    state = QuorumState(epoch=Epoch(3), voted_for=NodeId(1), leader=NodeId(-1))
    stored.storage.persist_quorum_state(PersistQuorumState(state))
    end, watermark = _write(stored, random)
    same("the segments of the log", len(segments(disk, LOG)), 4 if sizes[0] == 1 else 1)
    home = homes[-1], ids[homes[-1]]
    write_partition(stored, disk, home, random, sizes[1])
    is_stopped = random.random() < 0.5
    if is_stopped:
        stored.storage.stopped(watermark, 8)
    stored.storage.close()
    disk = crashed(disk, random)
    again = open_node_storage(disk, config)
    same("the stored state", again.durable, state)
    check("the flushed batches", len(again.batches) >= (4 if is_stopped else 2))
    found = again.history.high_watermark, again.previous_broker_epoch
    same("the last stop", found, (min(watermark, end), 8) if is_stopped else (0, -1))
    same("the begin of the log", again.history.log_start, LOG_BEGIN)
    found_logs = [(one.log, one.directory) for one in again.partitions]
    same("the logs of partitions", found_logs, [(PARTITION, home[1])])
    same("no damaged partition", again.damaged_partitions, ())
    again.storage.stopped(min(watermark, 2))
    again.storage.close()
    compare_damaged(disk, config, *home)
    disk = compare_changes(disk, config, watermark, random)
    _compare_failed(disk, config, homes, ids)
    _compare_short(disk, config)


def _formatted(random: Random) -> tuple[SimulatedFileSystem, dict[str, Uuid]]:
    disk = SimulatedFileSystem()
    ids = {path: Uuid(b"\1" + random.randbytes(15)) for path in PATHS}
    meta = MetaProperties(cluster_id=CLUSTER, node_id=NODE)
    format_directories(disk, PATHS, meta, ids=ids)
    disk.fsync_directory("/")
    return disk, ids


def _compare_opened(stored: Stored, homes: tuple[str, ...], ids: dict[str, Uuid]) -> None:
    same("the cluster of a node", stored.cluster_id, CLUSTER)
    same("the log directories", stored.log_directory_paths, homes)
    same("the ids of log directories", stored.log_directory_ids, tuple(ids[one] for one in homes))
    same("no failed directory", (stored.failed_log_directories, stored.warnings), ((), ()))


def _write(stored: Stored, random: Random) -> tuple[int, int]:
    """Append four batches and flush two; return the end, and a high watermark."""
    for offset in range(4):
        batch = Batch(base_offset=offset, epoch=3, timestamp_ms=1, records=(NoOpRecord(),))
        stored.storage.append(Append(METADATA_LOG, batch))
        if offset == 1:
            flush = Flush(log=METADATA_LOG, generation=0, end_offset=Offset(2))
            stored.storage.start_flush(flush)()
    stored.storage.truncate(Truncate(METADATA_LOG, Offset(3)))
    last = Batch(base_offset=3, epoch=3, timestamp_ms=1, records=(NoOpRecord(),))
    stored.storage.append(Append(METADATA_LOG, last))
    return 4, random.choice((0, 2, 4, 9))


def _compare_failed(
    disk: SimulatedFileSystem,
    config: StorageConfig,
    homes: tuple[str, ...],
    ids: dict[str, Uuid],
) -> None:
    """Open a node with a failed log directory, and with a failed metadata directory."""
    disk.failed_directories = {"/two"}
    stored = open_node_storage(disk, config)
    same("the failed directories", stored.failed_log_directories, ("/two",))
    left = tuple(one for one in homes if one != "/two")
    same("the directories that are left", stored.log_directory_paths, left)
    same("the ids that are left", stored.log_directory_ids, tuple(ids[one] for one in left))
    kept = {path: ids[path] for path in left}
    compare_configured(stored, stored.first.records, kept, ("/two",))
    same("no partition of a failed directory", stored.partitions, ())
    same("a warning for a failed directory", len(stored.warnings), 1)
    named("a failed directory", stored.warnings[0], "/two", "offline")
    stored.storage.close()
    disk.failed_directories = {"/meta"}
    refused("a failed disk", OSError, open_node_storage, disk, config)
    disk.failed_directories = set()


def _compare_short(disk: SimulatedFileSystem, config: StorageConfig) -> None:
    """Open a log that has lost durable records."""
    put(disk, f"{LOG}/recovery-point-offset-checkpoint", b"0\n1\n__cluster_metadata 0 99\n")
    text = refused("a short log", StorageError, open_node_storage, disk, config)
    named("a short log", text, LOG, 99)
