"""Effects about the logs of partitions: at once, by a worker, or with a flush queue for each log.

No effect here holds up the effects behind it. A truncation and a deletion do not wait for a running
fsync: the generation of a Flushed tells the core which log the fsync was for.

A failed call ends its log directory: later effects on the directory's logs are dropped, and the
node hears a DirectoryFailed. Without the directory of the metadata log, the process ends.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.effects import Append, Flush, Reply, Truncate
from kraftproof.node.core.events import BatchesRead, DirectoryFailed, Event, TimestampFound
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    LogRead,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    ReplyWithBatches,
    ReplyWithVolumes,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.shell.failed_logs import FailedLogs, failed_part
from kraftproof.node.shell.flush_queue import FlushQueue
from kraftproof.node.shell.partition_port import PartitionDisk
from kraftproof.node.shell.ports import Failed, Workers
from kraftproof.node.shell.volumes import answer_with_volumes
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse, PartitionData
from kraftproof.node.wire.types import Uuid

OfLog = (
    Append
    | ConfigureLog
    | DeleteLog
    | FindTimestamp
    | Flush
    | NoteEpoch
    | RaiseLogStart
    | ReadProducers
    | RestartLog
    | Truncate
)
"""The effects on a log after its CreateLog."""


class PartitionExecutor:
    """Executes the effects about partitions."""

    __slots__ = (
        "_disk",
        "_failed_directories",
        "_flushes",
        "_is_closed",
        "_on_failure",
        "_post",
        "_post_first",
        "_reply",
        "_workers",
        "append",
        "failed",
        "flush",
        "truncate",
    )

    def __init__(
        self,
        disk: PartitionDisk,
        workers: Workers,
        *,
        reply: Callable[[Reply], None],
        post: Callable[[Event], None],
        post_first: Callable[[Event], None],
        on_failure: Failed,
    ) -> None:
        self._disk = disk
        self._workers = workers
        self._reply = reply
        self._post = post
        self._post_first = post_first
        self._on_failure = on_failure
        self._flushes: dict[LogId, FlushQueue] = {}
        self._is_closed = False
        self._failed_directories: set[Uuid] = set()
        self.append = self._guarded(disk.append)
        """Writes one batch; buffered only."""
        self.flush = self._guarded(self._flush)
        """Flushes a log now, or as soon as the running fsync of this log has returned."""
        self.truncate = self._guarded(disk.truncate)
        """Drops the end of a log."""
        self.failed: FailedLogs | None = None
        """The logs that failed while the effects of the present step are carried out."""

    def handlers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the handler of each kind of effect about partitions alone."""
        disk, reply = self._disk, self._reply
        of_logs: dict[type, Callable[[Any], None]] = {
            ConfigureLog: disk.configure,
            DeleteLog: self._delete,
            RestartLog: disk.restart,
            RaiseLogStart: disk.raise_start,
            NoteEpoch: disk.note_epoch,
            FindTimestamp: self._find_timestamp,
            ReadProducers: self._read_producers,
        }
        return {
            **{kind: self._guarded(handler) for kind, handler in of_logs.items()},
            CreateLog: self._create,
            WriteCheckpoints: self._write_checkpoints,
            ReplyWithBatches: self._reply_with_batches,
            ReplyWithVolumes: lambda effect: reply(answer_with_volumes(disk, effect)),
        }

    def _guarded(self, handler: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return the handler for a log whose directory may fail, or may have failed."""

        def guard(effect: OfLog) -> None:
            directory = self._disk.directory_of(effect.log)  # a deletion lets go of the log first
            if self._failed_directories and directory is None:
                self._drop(effect)
                return
            try:
                handler(effect)
            except OSError as error:
                self._fail(directory, error)

        return guard

    def _drop(self, effect: OfLog) -> None:
        """Leave out an effect on a failed log; a look-up still has an answer."""
        if isinstance(effect, FindTimestamp):
            self._post(not_found(effect.token))

    def _fail(self, directory: Uuid | None, error: OSError) -> None:
        """End a log directory, or the process without the directory of the metadata log."""
        if self._is_closed:
            return
        if directory is None or self._disk.is_vital(directory):
            self._on_failure(error)
            return
        lost = self._disk.fail(directory)
        self._failed_directories.add(directory)
        self._note_failed(lost)
        for log, _ in lost:
            queue = self._flushes.pop(log, None)
            if queue is not None:
                queue.close()
        self._post_first(DirectoryFailed(directory=directory, reason=str(error)))

    def _note_failed(self, lost: Iterable[tuple[LogId, str]]) -> None:
        self.failed = self.failed or FailedLogs()
        self.failed.add(lost)

    def _failure_of(self, directory: Uuid | None) -> Failed:
        """Return the handler of a failure in work that a worker does in a directory."""
        return lambda error: self._fail_once(directory, error)

    def _fail_once(self, directory: Uuid | None, error: OSError) -> None:
        """End a directory unless it has ended meanwhile, when its work may fail as well."""
        if directory not in self._failed_directories:
            self._fail(directory, error)

    def _create(self, effect: CreateLog) -> None:
        if effect.directory not in self._failed_directories:
            try:
                self._disk.create(effect)
            except OSError as error:
                self._fail(effect.directory, error)
            else:
                return
        self._note_failed([(effect.log, effect.topic)])

    def _flush(self, effect: Flush) -> None:
        """Flush a log now, or as soon as the running fsync of this log has returned."""
        queue = self._flushes.get(effect.log)
        if queue is None:
            queue = FlushQueue(
                self._disk,
                self._workers,
                post=self._post,
                on_idle=_nothing,
                on_failure=self._failure_of(self._disk.directory_of(effect.log)),
            )
            self._flushes[effect.log] = queue
        queue.request(effect)

    def close(self) -> None:
        """Begin no other work: the node has ended."""
        self._is_closed = True
        for queue in self._flushes.values():
            queue.close()

    def _delete(self, effect: DeleteLog) -> None:
        queue = self._flushes.pop(effect.log, None)
        if queue is not None:
            queue.close()
        failed = self._failure_of(self._disk.directory_of(effect.log))
        self._workers.background(self._disk.delete(effect), _nothing_more, failed)

    def _write_checkpoints(self, effect: WriteCheckpoints) -> None:
        for directory, begin in self._disk.write_checkpoints(effect):
            failed = self._failure_of(directory)
            try:
                steps = begin()
            except OSError as error:
                failed(error)
            else:
                self._workers.background(steps, _nothing_more, failed)

    def _find_timestamp(self, effect: FindTimestamp) -> None:
        directory = self._disk.directory_of(effect.log)

        def failed(error: OSError) -> None:
            self._post(not_found(effect.token))
            self._fail_once(directory, error)

        self._workers.background(self._disk.find_timestamp(effect), self._post, failed)

    def _read_producers(self, effect: ReadProducers) -> None:
        failed = self._failure_of(self._disk.directory_of(effect.log))
        self._workers.background(self._disk.read_producers(effect), self._post, failed)

    def _reply_with_batches(self, effect: ReplyWithBatches) -> None:
        message, left = effect.message, effect.max_bytes
        found: dict[int, dict[int, PartitionData]] = defaultdict(dict)
        has_records = False
        for read in effect.reads:
            partition = message.responses[read.topic_index].partitions[read.partition_index]
            part = self._read(read, partition, left, may_exceed=not has_records)
            found[read.topic_index][read.partition_index] = part
            assert isinstance(part.records, bytes), "a read gives bytes"
            has_records = has_records or bool(part.records)
            left -= len(part.records)
        excess = effect.max_bytes - left - effect.counted_bytes
        if effect.counted_for is not None and excess > 0:
            self._post(BatchesRead(received=effect.counted_for, excess_bytes=excess))
        self._reply(Reply(request=effect.request, message=_with_parts(message, found)))

    def _read(
        self, read: LogRead, partition: PartitionData, left: int, *, may_exceed: bool
    ) -> PartitionData:
        """Return the partition with its batches, or with an error and no records."""
        bounded = replace(
            read,
            max_bytes=max(min(read.max_bytes, left), 0),
            may_exceed=read.may_exceed and may_exceed,
        )
        directory = self._disk.directory_of(read.log)
        if self._failed_directories and directory is None:
            return failed_part(partition.partition_index)
        try:
            return replace(partition, records=self._disk.read(bounded))
        except WireError:
            return failed_part(partition.partition_index)
        except OSError as error:
            self._fail(directory, error)
            return failed_part(partition.partition_index)


def _with_parts(
    message: FetchResponse, found: Mapping[int, Mapping[int, PartitionData]]
) -> FetchResponse:
    """Return the answer with the read partitions in their places."""
    responses = list(message.responses)
    for topic_index, parts in found.items():
        partitions = list(responses[topic_index].partitions)
        for partition_index, part in parts.items():
            partitions[partition_index] = part
        responses[topic_index] = replace(responses[topic_index], partitions=tuple(partitions))
    return replace(message, responses=tuple(responses))


def not_found(token: int) -> TimestampFound:
    """Return the answer to a look-up in a failed directory."""
    return TimestampFound(
        token=token, offset=Offset(-1), timestamp_ms=-1, epoch=Epoch(-1), has_failed=True
    )


def _nothing() -> None:
    """Hear that a log has no running fsync; nobody waits."""


def _nothing_more(result: None) -> None:
    """Hear of the end of work that has no event."""
