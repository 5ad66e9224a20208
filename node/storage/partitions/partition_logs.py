"""Execute the effects about partitions on the log directories of a node."""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Flush, Truncate
from kraftproof.node.core.events import ProducersRead, TimestampFound
from kraftproof.node.core.log.recovered import DamagedLog, RecoveredLog
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    LogRead,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.partitions.log_directory import (
    NO_BROKER_EPOCH,
    LogDirectory,
    refuse_duplicates,
)
from kraftproof.node.storage.partitions.partition_log import PartitionLog
from kraftproof.node.storage.partitions.recovery import recent_producers
from kraftproof.node.storage.partitions.timestamps import find_timestamp, not_found
from kraftproof.node.storage.readable_directories import OFFLINE
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid

Steps = Generator[None, None, None]
MOST_OPEN: Final = 256
"""Maximum number of logs with a file that is open for appends; a process has few descriptors."""


class PartitionLogs:
    """All partition logs of a node, by their ids."""

    __slots__ = ("_directories", "_filesystem", "_homes", "_open", "_vital")

    def __init__(
        self,
        filesystem: FileSystem,
        directories: Sequence[LogDirectory],
        vital: Uuid | None = None,
    ) -> None:
        self._filesystem = filesystem
        self._directories = tuple(directories)
        """The working log directories."""
        self._vital = vital
        """The directory of the metadata log."""
        self._homes: dict[LogId, LogDirectory] = {}
        self._open: dict[LogId, PartitionLog] = {}
        """The logs with an open file, the least recently used first."""

    def open(self) -> tuple[tuple[RecoveredLog, ...], tuple[str, ...]]:
        """Recover every log; return the descriptions in order of ids, and warnings.

        Raises:
            StorageError: a directory is garbled.
            OSError: the disk of the metadata log, or of the only directory, failed.
        """
        recovered: list[RecoveredLog] = []
        warnings: list[str] = []
        for directory in tuple(self._directories):
            try:
                found, repairs = directory.open()
            except OSError as error:
                if directory.directory_id == self._vital or len(self._directories) == 1:
                    raise
                warnings.append(f"{error.filename or directory.path}: {error.strerror}; {OFFLINE}")
                self.fail(directory.directory_id)
                continue
            recovered += found
            warnings += repairs
            self._homes.update(dict.fromkeys(directory.logs, directory))
        refuse_duplicates(self._directories)
        return tuple(sorted(recovered, key=lambda found: found.log)), tuple(warnings)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the working log directories."""
        return tuple(each.path for each in self._directories)

    @property
    def damaged(self) -> tuple[DamagedLog, ...]:
        """Return the logs that the recovery has refused, in the working directories."""
        return tuple(log for each in self._directories for log in each.damaged.values())

    @property
    def previous_broker_epoch(self) -> int:
        """Return the broker epoch at the last stop, if all directories agree; else -1."""
        epochs = {directory.broker_epoch for directory in self._directories}
        return epochs.pop() if len(epochs) == 1 else NO_BROKER_EPOCH

    def append(self, effect: Append) -> None:
        """Append a batch; only buffered."""
        assert isinstance(effect.batch, RawBatch), "partitions keep the received bytes"
        self._writable(effect.log).append(effect.batch)

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        """Return the fsync that has to precede the effect's Flushed."""
        return self._writable(effect.log).start_flush()

    def truncate(self, effect: Truncate) -> None:
        """Truncate a log, durably."""
        self._homes[effect.log].lower_start(effect.log, effect.end_offset)
        self._writable(effect.log).truncate(effect.end_offset)
        self._homes[effect.log].lower_recovery_point(effect.log)

    def create(self, effect: CreateLog) -> None:
        """Make an empty log, by default in the directory with the fewest logs."""
        asked = [each for each in self._directories if each.directory_id == effect.directory]
        home = asked[0] if asked else min(self._directories, key=lambda each: len(each.logs))
        home.create(effect.log, effect.topic)
        self._homes[effect.log] = home

    def configure(self, effect: ConfigureLog) -> None:
        """Set the size of segments."""
        self._log(effect.log).set_segment_bytes(effect.segment_bytes)

    def delete(self, effect: DeleteLog) -> Steps:
        """End a log now, and return the steps that remove its files."""
        self._open.pop(effect.log, None)
        return self._homes.pop(effect.log).delete(effect.log, is_stray=effect.is_stray)

    def restart(self, effect: RestartLog) -> None:
        """Drop all records of a log, durably."""
        self._homes[effect.log].lower_start(effect.log, effect.start_offset)
        self._writable(effect.log).restart(effect.start_offset)
        self._homes[effect.log].lower_recovery_point(effect.log)

    def raise_start(self, effect: RaiseLogStart) -> None:
        """Raise the start of a log, durably."""
        self._writable(effect.log)
        self._homes[effect.log].raise_start(effect.log, effect.start_offset)

    def note_epoch(self, effect: NoteEpoch) -> None:
        """Enter a leader's epoch."""
        self._log(effect.log).note_epoch(effect.epoch, effect.start_offset)

    def read(self, read: LogRead) -> bytes:
        """Return the batches of one read.

        Raises:
            WireError: a file no longer holds what was written.
        """
        return self._log(read.log).read(
            read.offset, read.end_offset, read.max_bytes, may_exceed=read.may_exceed
        )

    def write_checkpoints(
        self, effect: WriteCheckpoints
    ) -> tuple[tuple[Uuid, Callable[[], Steps]], ...]:
        """Take the offsets, and return a function for each directory that begins to write files."""
        for log, offset in effect.high_watermarks:
            home = self._homes.get(log)
            if home is not None:
                home.high_watermarks[log] = offset
        return tuple(
            (each.directory_id, each.checkpoint) for each in self._directories if each.logs
        )

    def find_timestamp(self, effect: FindTimestamp) -> Generator[None, None, TimestampFound]:
        """Return the steps of a look-up, which begins again if segments are removed meanwhile.

        A log that is deleted meanwhile has no such record.
        """
        while True:
            log = self._existing(effect.log)
            if log is None:
                return not_found(effect.token)
            generation, segments = log.generation, log.segments_from(effect.start_offset)
            first_offset = log.first_offset
            try:
                found = yield from find_timestamp(self._filesystem, segments, effect)
            except (WireError, FileNotFoundError):
                is_same = log is self._existing(effect.log) and generation == log.generation
                if is_same and first_offset == log.first_offset:
                    return not_found(effect.token, has_failed=True)
                continue
            if generation == log.generation:
                return found

    def read_producers(self, effect: ReadProducers) -> Generator[None, None, ProducersRead]:
        """Return the steps that read the last batches of each producer; none after a truncation.

        Raises:
            OSError: a file no longer holds what was written.
        """
        log = self._log(effect.log)
        return self._read_producers(effect, log, log.generation)

    def _read_producers(
        self, effect: ReadProducers, log: PartitionLog, generation: int
    ) -> Generator[None, None, ProducersRead]:
        yield
        batches: tuple[RawBatch, ...] = ()
        try:
            batches = recent_producers(log, effect.end_offset)
        except (WireError, FileNotFoundError) as error:
            if log.generation == generation:
                raise OSError(f"{log.directory}: {error}") from error
        return ProducersRead(
            log=effect.log,
            generation=effect.generation,
            end_offset=effect.end_offset,
            batches=batches,
        )

    def directory_of(self, log: LogId) -> Uuid | None:
        """Return the id of the directory of a log; None without a working directory."""
        home = self._homes.get(log)
        return None if home is None else home.directory_id

    def is_vital(self, directory: Uuid) -> bool:
        """Return whether the node can't go on without the directory of the metadata log."""
        return directory == self._vital

    def fail(self, directory: Uuid) -> tuple[tuple[LogId, str], ...]:
        """Let go of a failed directory; return its logs with the names of their topics."""
        failed = [each for each in self._directories if each.directory_id == directory]
        self._directories = tuple(each for each in self._directories if each not in failed)
        lost: list[tuple[LogId, str]] = []
        for each in failed:
            for log in each.logs.values():
                self._homes.pop(log.log, None)
                self._open.pop(log.log, None)
                lost.append((log.log, log.topic))
            each.abandon()
        return tuple(lost)

    def volume(self, path: str) -> tuple[int, int]:
        """Return the total and the usable bytes of the volume with a directory."""
        return self._filesystem.volume(path)

    def stop(self, broker_epoch: int) -> None:
        """Make every log durable, and note the orderly stop."""
        for directory in self._directories:
            if directory.logs or broker_epoch != NO_BROKER_EPOCH:
                directory.stop(broker_epoch)

    def close(self) -> None:
        """Close all files."""
        for directory in self._directories:
            directory.close()

    def _writable(self, log: LogId) -> PartitionLog:
        """Return a log whose file may be opened now, and close the file used longest ago."""
        found = self._open.pop(log, None) or self._log(log)
        self._open[log] = found
        if len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return found

    def _log(self, log: LogId) -> PartitionLog:
        return self._homes[log].logs[log]

    def _existing(self, log: LogId) -> PartitionLog | None:
        home = self._homes.get(log)
        return None if home is None else home.logs.get(log)


def partition_logs(
    filesystem: FileSystem, homes: Mapping[str, Uuid], segment_bytes: int, vital: Uuid | None
) -> PartitionLogs:
    """Return the logs below the directories, not opened yet; `vital` has the metadata log."""
    directories = [
        LogDirectory(filesystem, path, directory_id, segment_bytes)
        for path, directory_id in homes.items()
    ]
    return PartitionLogs(filesystem, directories, vital)
