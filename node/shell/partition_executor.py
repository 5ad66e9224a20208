"""Effects about the logs of partitions: at once, by a worker, or with a flush queue for each log.

No effect here holds up the effects behind it. A truncation and a deletion do not wait for a running
fsync: the generation of a Flushed tells the core which log the fsync was for.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Flush, Reply, Truncate
from kraftproof.node.core.events import Event
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
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.shell.flush_queue import FlushQueue
from kraftproof.node.shell.partition_port import PartitionDisk
from kraftproof.node.shell.ports import Failed, Workers
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse, PartitionData


class PartitionExecutor:
    """Executes the effects about partitions."""

    __slots__ = ("_disk", "_flushes", "_is_closed", "_on_failure", "_post", "_reply", "_workers")

    def __init__(
        self,
        disk: PartitionDisk,
        workers: Workers,
        *,
        reply: Callable[[Reply], None],
        post: Callable[[Event], None],
        on_failure: Failed,
    ) -> None:
        self._disk = disk
        self._workers = workers
        self._reply = reply
        self._post = post
        self._on_failure = on_failure
        self._flushes: dict[LogId, FlushQueue] = {}
        self._is_closed = False

    def handlers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the handler of each kind of effect about partitions alone."""
        disk = self._disk
        return {
            CreateLog: disk.create,
            ConfigureLog: disk.configure,
            DeleteLog: self._delete,
            RestartLog: disk.restart,
            RaiseLogStart: disk.raise_start,
            NoteEpoch: disk.note_epoch,
            WriteCheckpoints: self._write_checkpoints,
            FindTimestamp: self._find_timestamp,
            ReadProducers: self._read_producers,
            ReplyWithBatches: self._reply_with_batches,
        }

    def append(self, effect: Append) -> None:
        """Write one batch; buffered only."""
        self._disk.append(effect)

    def flush(self, effect: Flush) -> None:
        """Flush a log now, or as soon as the running fsync of this log has returned."""
        queue = self._flushes.get(effect.log)
        if queue is None:
            queue = FlushQueue(
                self._disk,
                self._workers,
                post=self._post,
                on_idle=_nothing,
                on_failure=self._on_failure,
            )
            self._flushes[effect.log] = queue
        queue.request(effect)

    def truncate(self, effect: Truncate) -> None:
        """Drop the end of a log."""
        self._disk.truncate(effect)

    def close(self) -> None:
        """Begin no other work: the node has ended."""
        self._is_closed = True
        for queue in self._flushes.values():
            queue.close()

    def _delete(self, effect: DeleteLog) -> None:
        queue = self._flushes.pop(effect.log, None)
        if queue is not None:
            queue.close()
        self._workers.background(self._disk.delete(effect), _nothing_more, self._on_failure)

    def _write_checkpoints(self, effect: WriteCheckpoints) -> None:
        steps = self._disk.write_checkpoints(effect)
        self._workers.background(steps, _nothing_more, self._on_failure)

    def _find_timestamp(self, effect: FindTimestamp) -> None:
        self._workers.background(self._disk.find_timestamp(effect), self._post, self._on_failure)

    def _read_producers(self, effect: ReadProducers) -> None:
        self._workers.background(self._disk.read_producers(effect), self._post, self._on_failure)

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
        try:
            return replace(partition, records=self._disk.read(bounded))
        except WireError:
            return replace(partition, error_code=ErrorCode.KAFKA_STORAGE_ERROR, records=b"")


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


def _nothing() -> None:
    """Hear that a log has no running fsync; nobody waits."""


def _nothing_more(result: None) -> None:
    """Hear of the end of work that has no event."""
