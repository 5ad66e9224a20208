"""Open a node's storage, and execute the effects on the disk.

Server and simulator share this class, with different file systems and different times for the
function that `start_flush` returns. See node/core/effects.py for the order of effects.
"""

from collections.abc import Callable, Generator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Flush,
    InstallSnapshot,
    PersistQuorumState,
    ReplyWithSlice,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.core.log.recovered import DamagedLog, RecoveredLog
from kraftproof.node.core.metadata.snapshot import History
from kraftproof.node.storage import quorum_state
from kraftproof.node.storage.batch_codec import PLAIN, BatchCodec
from kraftproof.node.storage.bootstrap import FirstRecords, read_bootstrap
from kraftproof.node.storage.checkpoints import OffsetCheckpoints
from kraftproof.node.storage.damaged_snapshots import refuse_gap, unused_snapshots
from kraftproof.node.storage.directory_lock import lock_directories
from kraftproof.node.storage.filesystem import FileSystem, join
from kraftproof.node.storage.log import DEFAULT_SEGMENT_BYTES, DIRECTORY_NAME, MetadataLog
from kraftproof.node.storage.meta_properties import DrawId, open_directories, random_directory_id
from kraftproof.node.storage.partitions.log_directory import NO_BROKER_EPOCH
from kraftproof.node.storage.partitions.partition_logs import PartitionLogs, partition_logs
from kraftproof.node.storage.readable_directories import readable_directories
from kraftproof.node.storage.snapshots import SnapshotFiles
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid


class StorageConfig(Struct, frozen=True, kw_only=True):
    """The directories of a node, and their expected owner."""

    node_id: NodeId
    directories: tuple[str, ...]
    """The directories of metadata.log.dir and log.dirs; each must be formatted."""
    metadata_directory: str
    """The directory of `__cluster_metadata-0`."""
    voter_ids: tuple[NodeId, ...]
    log_directories: tuple[str, ...] = ()
    """The directories of log.dirs, whose ids a broker registers."""
    segment_bytes: int = DEFAULT_SEGMENT_BYTES
    """The maximum size of a segment of the metadata log."""
    partition_segment_bytes: int = DEFAULT_SEGMENT_BYTES
    """The maximum size of a partition's segment, until a ConfigureLog (log.segment.bytes)."""


class Storage:
    """Execute the effects on the disk."""

    __slots__ = (
        "_checkpoints",
        "_cluster_id",
        "_config",
        "_filesystem",
        "_log",
        "_quorum_state_path",
        "_release",
        "_snapshots",
        "partitions",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        config: StorageConfig,
        cluster_id: str,
        log: MetadataLog,
        snapshots: SnapshotFiles,
        *,
        checkpoints: OffsetCheckpoints,
        partitions: PartitionLogs,
        release: Callable[[], None],
    ) -> None:
        self._filesystem = filesystem
        self._config = config
        self._cluster_id = cluster_id
        self._log = log
        self._snapshots = snapshots
        self._checkpoints = checkpoints
        self._release = release
        self._quorum_state_path = quorum_state_path(config)
        self.partitions = partitions
        """The logs of partitions."""

    @property
    def snapshots(self) -> list[SnapshotId]:
        """Return the snapshots on the disk, oldest first."""
        return self._snapshots.present()

    def append(self, effect: Append) -> None:
        """Append a batch; only buffered."""
        assert isinstance(effect.batch, Batch), "the metadata log holds decoded batches"
        self._log.append(effect.batch)

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        """Return the fsync that has to precede the effect's Flushed.

        The fsync covers the appends before this call, and may be called later and in another
        thread.
        """
        assert effect.end_offset <= self._log.end_offset, "a flush covers what was appended"
        return self._log.start_flush()

    def truncate(self, effect: Truncate) -> None:
        """Truncate the log, durably; no flush may be running in another thread."""
        self._checkpoints.lower(effect.end_offset)
        self._log.truncate(effect.end_offset)

    def persist_quorum_state(self, effect: PersistQuorumState) -> None:
        """Replace the quorum-state file, durably."""
        quorum_state.write_quorum_state(
            self._filesystem,
            self._quorum_state_path,
            effect.state,
            cluster_id=self._cluster_id,
            node_id=self._config.node_id,
            voter_ids=self._config.voter_ids,
        )

    def write_snapshot(self, effect: WriteSnapshot) -> Generator[None, None, StoredSnapshot]:
        """Write a snapshot step by step, in any thread; the file appears at the last step."""
        return self._snapshots.write(effect.snapshot, effect.image, effect.timestamp_ms)

    def store_slice(self, effect: StoreSlice) -> None:
        """Write a slice of the leader's snapshot; only buffered."""
        self._snapshots.store(effect.copy, effect.snapshot, effect.position, effect.data)

    def check_snapshot(self, effect: CheckSnapshot) -> Generator[None, None, SnapshotChecked]:
        """Flush and load a downloaded snapshot step by step, in any thread."""
        return self._snapshots.check(effect.copy, effect.snapshot)

    def install_snapshot(self, effect: InstallSnapshot) -> None:
        """Replace the log by the checked snapshot, durably; no flush may be running."""
        self._checkpoints.lower(effect.snapshot.end_offset)
        self._snapshots.install(effect.copy, effect.snapshot)
        self._log.reset(effect.snapshot)
        self._snapshots.remove_below(effect.snapshot)

    def clean(self, effect: CleanLog) -> None:
        """Remove the log and the snapshots below a snapshot; no flush may be running."""
        self._log.clean(effect.start)
        self._snapshots.remove_below(effect.start)

    def read_slice(self, effect: ReplyWithSlice) -> bytes:
        """Return a part of a snapshot's file."""
        return self._snapshots.read_slice(effect.snapshot, effect.position, effect.max_bytes)

    def stopped(self, high_watermark: int, broker_epoch: int = NO_BROKER_EPOCH) -> None:
        """Write the durable ends and the high watermark at an orderly stop (595-11)."""
        self.partitions.stop(broker_epoch)
        self._log.start_flush()()
        self._checkpoints.stopped(self._log.start.end_offset, self._log.end_offset, high_watermark)

    def close(self) -> None:
        """Close the files and release the directories."""
        self._snapshots.close()
        self._log.close()
        self.partitions.close()
        self._release()


class Stored(Struct, frozen=True, kw_only=True):
    """The recovered state of a node, and its open storage."""

    cluster_id: str
    log_directory_ids: tuple[Uuid, ...]
    """The ids of the working log directories."""
    log_directory_paths: tuple[str, ...]
    """The path of each of these directories."""
    failed_log_directories: tuple[str, ...]
    """The paths of the log directories that could not be opened."""
    durable: QuorumState
    batches: tuple[Batch, ...]
    history: History
    storage: Storage
    partitions: tuple[RecoveredLog, ...] = ()
    """The logs of partitions, in order of their ids."""
    damaged_partitions: tuple[DamagedLog, ...] = ()
    """The logs of partitions that the recovery has refused; their replicas stay offline."""
    previous_broker_epoch: int = NO_BROKER_EPOCH
    """The broker epoch before the last stop, if that was an orderly stop; else -1."""
    warnings: tuple[str, ...] = ()
    """Repaired problems, a line for each."""
    first: FirstRecords = FirstRecords()
    """The first records of the cluster, from the formatting."""

    def configured(self, config: NodeConfig) -> NodeConfig:
        """Return the configuration with the log directories and the records of the formatting."""
        return replace(
            config,
            bootstrap=self.first.records,
            log_dirs=self.log_directory_ids,
            log_dir_paths=self.log_directory_paths,
            failed_log_dirs=self.failed_log_directories,
            damaged_logs=tuple((each.log, each.directory) for each in self.damaged_partitions),
        )


def open_node_storage(
    filesystem: FileSystem,
    config: StorageConfig,
    codec: BatchCodec = PLAIN,
    draw_id: DrawId = random_directory_id,
) -> Stored:
    """Check the directories, read quorum-state and recover the log.

    Raises:
        StorageError: a directory is unformatted, foreign, garbled or corrupt.
        OSError: the disk failed.
    """
    readable, failures = readable_directories(
        filesystem, config.directories, config.metadata_directory
    )
    formatted = open_directories(filesystem, readable, config.node_id, draw_id)
    release = lock_directories(filesystem, readable)
    durable = quorum_state.read_quorum_state(
        filesystem, quorum_state_path(config), formatted.cluster_id, config.node_id
    )
    directory = log_directory(config)
    snapshots = SnapshotFiles(filesystem, directory)
    found = snapshots.recover()
    ids = [stored.snapshot for stored in found.kept]
    checkpoints = OffsetCheckpoints(filesystem, directory)
    log, batches = MetadataLog.open(
        filesystem, directory, config.segment_bytes, ids, checkpoints.recovery_point, codec
    )
    refuse_gap(directory, found, log)
    snapshots.remove_unfinished()  # only here: a node that refuses to start changes no file
    if log.start != LOG_BEGIN:
        snapshots.remove_below(log.start)
    checkpoints.recovered(log.start.end_offset, log.end_offset)
    partitions = _partition_logs(filesystem, config, formatted.ids)
    recovered, repairs = partitions.open()
    configured = config.log_directories or config.directories
    working = {path: formatted.ids[path] for path in partitions.paths}
    return Stored(
        cluster_id=formatted.cluster_id,
        log_directory_ids=tuple(working.values()),
        log_directory_paths=tuple(working),
        failed_log_directories=tuple(path for path in configured if path not in working),
        durable=durable,
        batches=tuple(batches),
        history=History(
            log_start=log.start,
            kept=tuple(stored for stored in found.kept if stored.snapshot >= log.start),
            newest=found.newest,
            high_watermark=Offset(checkpoints.high_watermark),
        ),
        storage=Storage(
            filesystem,
            config,
            formatted.cluster_id,
            log,
            snapshots,
            checkpoints=checkpoints,
            partitions=partitions,
            release=release,
        ),
        partitions=recovered,
        damaged_partitions=partitions.damaged,
        previous_broker_epoch=partitions.previous_broker_epoch,
        first=read_bootstrap(filesystem, config.metadata_directory),
        warnings=(*failures, *unused_snapshots(directory, found), *repairs),
    )


def _partition_logs(
    filesystem: FileSystem, config: StorageConfig, ids: Mapping[str, Uuid]
) -> PartitionLogs:
    homes = {one: ids[one] for one in config.log_directories or config.directories if one in ids}
    vital = homes.get(config.metadata_directory)
    return partition_logs(filesystem, homes, config.partition_segment_bytes, vital)


def log_directory(config: StorageConfig) -> str:
    """Return the directory of the metadata log's segments."""
    return join(config.metadata_directory, DIRECTORY_NAME)


def quorum_state_path(config: StorageConfig) -> str:
    """Return the path of the quorum-state file."""
    return join(log_directory(config), quorum_state.FILE_NAME)
