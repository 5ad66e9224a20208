"""Invariants of acknowledged and visible records of partitions; see replicas.py."""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    ACKS_ALL,
    NewestImage,
    Replicas,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import CreateLog, RaiseLogStart
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.records.raw_batch import NO_PRODUCER, RawBatch


class AcknowledgedIsOnTheIsr(Replicas):
    """A batch acknowledged with acks=all is on the disk of each member of the ISR, for ever."""

    statement = "An acknowledged batch of a partition is in the log of every member of the ISR."
    requests: ClassVar[Requests] = (produce_request.ProduceRequest,)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._acknowledged: dict[LogId, dict[int, bytes]] = {}
        """By log and base offset: the batch without base offset, epoch and CRC."""
        self._isrs: dict[LogId, tuple[int, ...]] = {}

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        assert isinstance(request, produce_request.ProduceRequest), "the only type of its requests"
        if request.acks != ACKS_ALL or not isinstance(message, produce_response.ProduceResponse):
            return
        for log, sent, result in self._results(request, message):
            if result.error_code == ErrorCode.NONE and self._is_durable(log.topic_id):
                batches = self._acknowledged.setdefault(log, {})
                batches[result.base_offset] = sent[CONTENT_BEGIN:]
                self._check(process, log, result.base_offset)

    @override
    def on_partitions_moved(
        self, process: ProcessView, before: MetadataImage, after: MetadataImage
    ) -> None:
        for log in sorted(self._acknowledged):
            partition = self._partition(log)
            if partition is None or not self._is_durable(log.topic_id):
                del self._acknowledged[log]
                self._isrs.pop(log, None)
            elif self._isrs.get(log) != partition.isr:
                self._isrs[log] = partition.isr
                for base_offset in self._acknowledged[log]:
                    self._check(process, log, base_offset)

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        partition = self._partition(log)
        if isinstance(effect, Append) or partition is None or process.node_id not in partition.isr:
            return
        for base_offset in self._acknowledged.get(log, {}):
            self._check(process, log, base_offset)

    def _check(self, process: ProcessView, log: LogId, base_offset: int) -> None:
        partition = self._partition(log)
        if partition is None:
            return
        content = self._acknowledged[log][base_offset]
        for member in partition.isr:
            mirror = self._mirror(member, log)
            if mirror is None:
                held = None
            elif base_offset < mirror.start_offset:
                continue
            else:
                held = next(iter(mirror.between(base_offset, mirror.end_offset)), None)
            if held is None or held.base_offset != base_offset or not _is_same(held, content):
                detail = f"log {log}: member {member} of the ISR lacks offset {base_offset}"
                self.monitor.report_violation(self, process, detail)


CONTENT_BEGIN: Final = 21
"""The first byte of a batch that a leader does not write, without LogAppendTime."""
_STAMPED: Final = ((0, 2), (14, 22))
"""The attributes and the newest time, which LogAppendTime replaces; after CONTENT_BEGIN."""


def _is_same(batch: RawBatch, content: bytes) -> bool:
    held = batch.data[CONTENT_BEGIN:]
    if batch.is_log_append_time:
        held, content = _without_stamp(held), _without_stamp(content)
    return held == content


def _without_stamp(content: bytes) -> bytes:
    (_, first), (begin, end) = _STAMPED
    return content[first:begin] + content[end:]


class CommittedBatchesAgree(Replicas):
    """Consumers of any leader at any time read the same batch at an offset."""

    statement = "The batch that a consumer may read at an offset never changes."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._committed: dict[LogId, dict[int, bytes]] = {}
        self._told: dict[tuple[int, int, LogId], tuple[int, int]] = {}
        """By node, incarnation and log: the last answered high watermark, and the generation."""

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        if not isinstance(message, fetch_response.FetchResponse):
            return
        for log, part in self._fetched(message):
            if part.high_watermark >= 0:
                self._look_at(process, log, part.high_watermark)

    def _look_at(self, process: ProcessView, log: LogId, high_watermark: int) -> None:
        key = (process.node_id, process.incarnation, log)
        before, generation = self._told.get(key, (0, 0))
        if high_watermark < before:
            detail = f"log {log}: {high_watermark} after {before}"
            self.monitor.report_violation(self, process, f"the high watermark falls, {detail}")
        mirror = process.partitions.get(log)
        now = 0 if mirror is None else mirror.generation
        self._told[key] = (high_watermark, now)
        begin = before if now == generation else 0
        if mirror is None or begin >= high_watermark or not self._is_durable(log.topic_id):
            return
        known = self._committed.setdefault(log, {})
        for batch in mirror.between(begin, high_watermark):
            content = known.setdefault(batch.base_offset, batch.data)
            if content != batch.data:
                detail = f"log {log}: another batch at offset {batch.base_offset}"
                self.monitor.report_violation(self, process, detail)


class IdempotentOnce(Invariant):
    """A log holds each sequence number of a producer once."""

    statement = "A log has at most one batch with a producer's id, epoch and sequence number."

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[int, LogId], tuple[int, set[tuple[int, int, int]]]] = {}
        """By node and log: the generation, and the sequences of that generation."""
        self._starts: dict[LogId, int] = {}
        """The highest start of each log on any node, below which no reader gets a batch."""

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if isinstance(effect, CreateLog):  # a replica that was moved away and back
            self._seen.pop((process.node_id, log), None)
        if isinstance(effect, RaiseLogStart):
            self._starts[log] = max(self._starts.get(log, 0), effect.start_offset)
        if not isinstance(effect, Append) or not isinstance(effect.batch, RawBatch):
            return
        if effect.batch.producer_id == NO_PRODUCER:
            return
        mirror = process.partitions.of(log)
        generation, seen = self._seen.get((process.node_id, log), (-1, set()))
        if generation != mirror.generation or len(seen) > len(mirror.batches):
            seen = {_sequence(batch) for batch in mirror.batches[:-1]}
            self._seen[process.node_id, log] = (mirror.generation, seen)
        sequence = _sequence(effect.batch)
        # Retention may have removed the earlier batch, and the leader's knowledge with it. A
        # follower learns of the leader's start last, and may keep other batches below that start.
        start = self._starts.get(log, 0)
        is_again = sequence in seen and any(
            _sequence(batch) == sequence and batch.last_offset >= start
            for batch in mirror.batches[:-1]
        )
        if is_again:
            detail = f"log {log}: sequence {sequence} again at offset {effect.batch.base_offset}"
            self.monitor.report_violation(self, process, detail)
        seen.add(sequence)


def _sequence(batch: RawBatch) -> tuple[int, int, int]:
    return (batch.producer_id, batch.producer_epoch, batch.base_sequence)


class PartitionLogsMatch(Invariant):
    """Two logs of a partition have the same bytes at an offset of the same epoch."""

    statement = "An offset and a leader epoch name one batch of a partition on every node."

    def __init__(self) -> None:
        super().__init__()
        self._batches: dict[LogId, dict[tuple[int, int], bytes]] = {}
        """By log, offset and epoch: the bytes."""

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if not isinstance(effect, Append) or not isinstance(effect.batch, RawBatch):
            return
        batch = effect.batch
        known = self._batches.setdefault(log, {})
        if known.setdefault((batch.base_offset, batch.epoch), batch.data) != batch.data:
            detail = f"log {log}: another batch at offset {batch.base_offset}, epoch {batch.epoch}"
            self.monitor.report_violation(self, process, detail)
