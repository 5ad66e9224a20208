"""A node's storage as a whole: opened at start, then the effects that touch the disk.

Server and simulator share it; they differ in the FileSystem and in when they make the call that
`start_flush` returns. Not: the order of effects (node/core/effects.py says it).
"""

from collections.abc import Callable

from msgspec import Struct

from node.core.effects import Append, Flush, PersistQuorumState, Truncate
from node.core.raft.quorum_state import QuorumState
from node.core.types import NodeId
from node.storage import quorum_state
from node.storage.filesystem import FileSystem, join
from node.storage.log import DEFAULT_SEGMENT_BYTES, DIRECTORY_NAME, MetadataLog
from node.storage.meta_properties import check_directories
from node.wire.messages.batch import Batch


class StorageConfig(Struct, frozen=True, kw_only=True):
    """Where a node keeps its state, and whose it must be."""

    node_id: NodeId
    directories: tuple[str, ...]
    """metadata.log.dir and log.dirs: every one must have been formatted."""
    metadata_directory: str
    """The directory of them that holds `__cluster_metadata-0`."""
    voter_ids: tuple[NodeId, ...]
    segment_bytes: int = DEFAULT_SEGMENT_BYTES


class Storage:
    """Carries out Append, Flush, Truncate and PersistQuorumState."""

    __slots__ = ("_cluster_id", "_config", "_filesystem", "_log", "_quorum_state_path")

    def __init__(
        self, filesystem: FileSystem, config: StorageConfig, cluster_id: str, log: MetadataLog
    ) -> None:
        self._filesystem = filesystem
        self._config = config
        self._cluster_id = cluster_id
        self._log = log
        self._quorum_state_path = quorum_state_path(config)

    def append(self, effect: Append) -> None:
        """Write a batch; only buffered."""
        self._log.append(effect.batch)

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        """Return the fsync that must have returned before the effect's Flushed is fed back.

        It covers what was appended before this call; it may be made later, in another thread.
        """
        assert effect.end_offset <= self._log.end_offset, "a flush covers what was appended"
        return self._log.start_flush()

    def truncate(self, effect: Truncate) -> None:
        """Drop the end of the log, durably. No flush may be running in another thread."""
        self._log.truncate(effect.end_offset)

    def persist_quorum_state(self, effect: PersistQuorumState) -> None:
        """Replace the quorum-state file, durably."""
        quorum_state.write_quorum_state(
            self._filesystem,
            self._quorum_state_path,
            effect.state,
            cluster_id=self._cluster_id,
            voter_ids=self._config.voter_ids,
        )

    def close(self) -> None:
        """Let go of all files."""
        self._log.close()


class Stored(Struct, frozen=True, kw_only=True):
    """What a node finds at start, and its open storage."""

    cluster_id: str
    durable: QuorumState
    batches: tuple[Batch, ...]
    storage: Storage


def open_node_storage(filesystem: FileSystem, config: StorageConfig) -> Stored:
    """Check the directories, read quorum-state and recover the log.

    Raises:
        StorageError: not formatted, another node's or cluster's, garbled or corrupt.
        OSError: the disk refused.
    """
    meta = check_directories(filesystem, config.directories, config.node_id)
    durable = quorum_state.read_quorum_state(filesystem, quorum_state_path(config), meta.cluster_id)
    log, batches = MetadataLog.open(filesystem, log_directory(config), config.segment_bytes)
    return Stored(
        cluster_id=meta.cluster_id,
        durable=durable,
        batches=tuple(batches),
        storage=Storage(filesystem, config, meta.cluster_id, log),
    )


def log_directory(config: StorageConfig) -> str:
    """Return the directory of the metadata log's segments."""
    return join(config.metadata_directory, DIRECTORY_NAME)


def quorum_state_path(config: StorageConfig) -> str:
    """Return the path of the quorum-state file."""
    return join(log_directory(config), quorum_state.FILE_NAME)
