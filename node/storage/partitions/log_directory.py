"""Hold the partition logs of one log directory, with its checkpoint files and the stop mark.

See offset_files.py for the checkpoints. `.kafka_cleanshutdown` is written last at an orderly stop,
with the broker epoch, and is removed at the next start.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Final

import msgspec

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log.recovered import DamagedLog, RecoveredLog
from kraftproof.node.storage.errors import DamagedPartitionError, StorageError
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.storage.offset_files import (
    HIGH_WATERMARK,
    LOG_START,
    RECOVERY_POINT,
    read_checkpoints,
    write_offsets,
)
from kraftproof.node.storage.partitions.log_names import (
    DELETED,
    STRAY,
    is_doomed,
    parse_partition_directory,
    partition_directory,
    retired_name,
)
from kraftproof.node.storage.partitions.partition_log import PartitionLog
from kraftproof.node.storage.partitions.partition_metadata import read_topic_id, write_topic_id
from kraftproof.node.storage.partitions.recovery import LogCheckpoints, recover_log
from kraftproof.node.wire.types import ZERO_UUID, Uuid

CLEAN_STOP: Final = ".kafka_cleanshutdown"
NO_BROKER_EPOCH: Final = -1
METADATA_DIRECTORY: Final = "__cluster_metadata-0"


class _CleanStop(msgspec.Struct):
    version: int
    brokerEpoch: int = NO_BROKER_EPOCH  # noqa: N815 - Kafka's name


class LogDirectory:
    """One of the directories of log.dirs."""

    def __init__(
        self, filesystem: FileSystem, path: str, directory_id: Uuid, segment_bytes: int
    ) -> None:
        self._filesystem = filesystem
        self._segment_bytes = segment_bytes
        self._lock = Lock()
        """Held while a checkpoint file is written; a worker and the node's steps write files."""
        self.path = path
        self.directory_id = directory_id
        self.logs: dict[LogId, PartitionLog] = {}
        self.high_watermarks: dict[LogId, int] = {}
        self.damaged: dict[tuple[str, int], DamagedLog] = {}
        """The refused logs by topic and number; their files and checkpoints stay as they are."""
        self._kept: dict[str, dict[tuple[str, int], int]] = {}
        """The entries of damaged logs in each checkpoint file."""
        self._written: dict[str, Mapping[tuple[str, int], int]] = {}
        """The entries in each checkpoint file."""
        self.broker_epoch = NO_BROKER_EPOCH
        """The broker epoch of the last orderly stop; NO_BROKER_EPOCH after any other end."""

    def open(self) -> tuple[list[RecoveredLog], list[str]]:
        """Recover the logs; return their descriptions, and a warning line for each repair.

        Raises:
            StorageError: the checkpoint of the log starts is garbled.
        """
        is_clean = self._read_stop()
        offsets, warnings = read_checkpoints(self._filesystem, self.path)
        self._written = {**offsets}
        recovered: list[RecoveredLog] = []
        for name in self._filesystem.list_directory(self.path):
            directory, named = join(self.path, name), parse_partition_directory(name)
            if is_doomed(name):
                self._remove_tree(directory)
            if named is None or name == METADATA_DIRECTORY:
                continue
            topic_id = read_topic_id(self._filesystem, directory)
            if topic_id is None:
                warnings.append(
                    f"{directory}: has no topic id in partition.metadata, so that nothing in it"
                    f" was ever flushed; it is kept as {self._set_aside(name)}"
                )
                continue
            log_id = LogId(topic_id, named[1])
            checkpoints = LogCheckpoints(
                is_clean=is_clean,
                start_offset=offsets[LOG_START].get(named, 0),
                recovery_point=offsets[RECOVERY_POINT].get(named, 0),
                high_watermark=offsets[HIGH_WATERMARK].get(named, 0),
            )
            try:
                log, found = recover_log(
                    self._filesystem,
                    directory,
                    log_id,
                    named[0],
                    self.directory_id,
                    segment_bytes=self._segment_bytes,
                    checkpoints=checkpoints,
                )
            except DamagedPartitionError as error:
                warnings.append(f"{error}; the replica is offline until the next start")
                self.damaged[named] = DamagedLog(
                    log=log_id, topic=named[0], directory=self.directory_id
                )
                continue
            self.logs[log.log] = log
            self.high_watermarks[log.log] = found.high_watermark
            recovered.append(found)
        self._kept = {
            name: {each: offset for each, offset in found.items() if each in self.damaged}
            for name, found in offsets.items()
        }
        if recovered and not is_clean:
            self._write(RECOVERY_POINT)
        self._remove_stop()
        return recovered, warnings

    def create(self, log: LogId, topic: str) -> PartitionLog:
        """Make an empty log; its directory is durable with the first flush.

        A damaged log of the same name, which belongs to a deleted topic, is kept as a stray log.
        """
        named, name = (topic, log.partition), partition_directory(topic, log.partition)
        directory = join(self.path, name)
        if self.damaged.pop(named, None) is not None:
            self._set_aside(name)
            for kept in self._kept.values():
                kept.pop(named, None)
        self._forget(named)
        assert not self._filesystem.exists(directory), "a log is created once"
        self._filesystem.make_directory(directory)
        write_topic_id(self._filesystem, directory, log.topic_id)
        created = PartitionLog(
            self._filesystem, directory, log, topic, segment_bytes=self._segment_bytes, is_new=True
        )
        created.begin()
        self.logs[log] = created
        return created

    def delete(self, log: LogId, *, is_stray: bool) -> Generator[None, None, None]:
        """Move a log out of the way now, and return the steps that finish the deletion."""
        deleted = self.logs.pop(log)
        self.high_watermarks.pop(log, None)
        name = partition_directory(deleted.topic, log.partition)
        kind = STRAY if is_stray else DELETED
        retired = join(self.path, retired_name(self._filesystem, self.path, name, log, kind))
        deleted.retire(retired)
        return self._finish_deletion(retired, is_stray=is_stray)

    def raise_start(self, log: LogId, start_offset: int) -> None:
        """Raise the start of a log, durably, and remove the segments below."""
        raised = self.logs[log]
        raised.start_offset = start_offset
        self._write(LOG_START)
        raised.raise_start(start_offset)

    def lower_start(self, log: LogId, start_offset: int) -> None:
        """Lower the start of a log, durably, before the log is cut below its start."""
        lowered = self.logs[log]
        if start_offset < lowered.start_offset:
            lowered.start_offset = start_offset
            self._write(LOG_START)

    def lower_recovery_point(self, log: LogId) -> None:
        """Write the recovery point of a cut log, durably, if the file has a higher one.

        Records that follow the cut are not durable yet, and a crash may damage them.
        """
        cut = self.logs[log]
        written = self._written.get(RECOVERY_POINT, {}).get((cut.topic, log.partition), 0)
        if written > cut.durable_end:
            self._write(RECOVERY_POINT)

    def checkpoint(self) -> Generator[None, None, None]:
        """Return the steps that write the checkpoint files, each durably."""
        flushes = [log.start_flush_of_full_segments() for log in self.logs.values()]
        return self._checkpoint(flushes)

    def _checkpoint(self, flushes: Iterable[Callable[[], None]]) -> Generator[None, None, None]:
        for flush in flushes:
            flush()
        yield
        self._write(RECOVERY_POINT)
        yield
        self._write(LOG_START)
        yield
        self._write(HIGH_WATERMARK)

    def stop(self, broker_epoch: int) -> None:
        """Flush every log, and write the checkpoints and then the mark of an orderly stop."""
        for log in self.logs.values():
            log.start_flush()()
            log.close()
        for _ in self.checkpoint():
            pass
        content = msgspec.json.encode(_CleanStop(version=0, brokerEpoch=broker_epoch))
        replace_durably(self._filesystem, join(self.path, CLEAN_STOP), content)

    def abandon(self) -> None:
        """Let go of the logs of a failed directory; no work under way has an effect any more."""
        for log in self.logs.values():
            with suppress(OSError):
                log.close()
        self.logs.clear()
        self.high_watermarks.clear()

    def close(self) -> None:
        """Close the files of all logs."""
        for log in self.logs.values():
            log.close()

    def _read_stop(self) -> bool:
        """Return whether the last end was an orderly stop."""
        path = join(self.path, CLEAN_STOP)
        if not self._filesystem.exists(path):
            return False
        try:
            mark = msgspec.json.decode(self._filesystem.read(path), type=_CleanStop)
        except msgspec.DecodeError:
            return False
        self.broker_epoch = mark.brokerEpoch
        return True

    def _remove_stop(self) -> None:
        path = join(self.path, CLEAN_STOP)
        if self._filesystem.exists(path):
            self._filesystem.remove(path)
            self._filesystem.fsync_directory(self.path)

    def _set_aside(self, name: str) -> str:
        """Rename the directory of a partition as stray; return the new name."""
        unknown = LogId(ZERO_UUID, 0)
        retired = retired_name(self._filesystem, self.path, name, unknown, STRAY)
        self._filesystem.rename(join(self.path, name), join(self.path, retired))
        self._filesystem.fsync_directory(self.path)
        return retired

    def _finish_deletion(self, path: str, *, is_stray: bool) -> Generator[None, None, None]:
        yield
        if not is_stray:
            for name in self._filesystem.list_directory(path):
                self._filesystem.remove(join(path, name))
                yield
            self._filesystem.remove_directory(path)
        self._filesystem.fsync_directory(self.path)

    def _remove_tree(self, path: str) -> None:
        for _ in self._finish_deletion(path, is_stray=False):
            pass

    def _write(self, name: str) -> None:
        with self._lock:
            kept = self._kept.get(name, {})
            offsets = {
                (log.topic, log.log.partition): self._offset(name, log)
                for log in tuple(self.logs.values())
            }
            self._written[name] = {**kept, **offsets}
            write_offsets(self._filesystem, join(self.path, name), self._written[name])

    def _offset(self, name: str, log: PartitionLog) -> int:
        """Return the offset of a log for a checkpoint file."""
        if name == LOG_START:
            return log.start_offset
        return log.durable_end if name == RECOVERY_POINT else self.high_watermarks.get(log.log, 0)

    def _forget(self, named: tuple[str, int]) -> None:
        """Remove the checkpoints of an earlier log of the same name, durably."""
        with self._lock:
            stale = [name for name, offsets in self._written.items() if named in offsets]
        for name in stale:
            self._write(name)


def refuse_duplicates(directories: Iterable[LogDirectory]) -> None:
    """Check that no partition is in two directories.

    Raises:
        StorageError: a partition is in two directories.
    """
    places: dict[tuple[str, int], str] = {}
    for directory in directories:
        for log in directory.logs.values():
            other = places.setdefault((log.topic, log.log.partition), log.directory)
            if other != log.directory:
                raise StorageError(
                    f"{other} and {log.directory}: the same partition; remove one of the two"
                )
