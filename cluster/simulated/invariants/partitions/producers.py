"""Invariants of a leader's answers to producers, and of their batches in the leader's log."""

from collections.abc import Iterator
from itertools import islice
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.acknowledged import CONTENT_BEGIN
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    NewestImage,
    ProduceResult,
    Replicas,
    partition_in,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.messages import Message, produce_request, produce_response
from kraftproof.node.wire.records.raw_batch import NO_PRODUCER, RawBatch, parse_batch

SEQUENCES: Final = 1 << 31
COMPARED_BATCHES: Final = 5
"""Number of last batches that a producer may send again (KIP-98)."""
_EXPIRATION: Final = "producer.id.expiration.ms"
_ORDER_ERRORS: Final = frozenset(
    (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.INVALID_PRODUCER_EPOCH)
)


class ProducersAreJudgedByTheLog(Replicas):
    """A leader knows the last sequence numbers of its log, also after a truncation."""

    statement = (
        "A batch that a leader acknowledges is in the leader's log at the answered offset, with "
        "the answered time, and on the disk if the topic flushes; a batch that follows the "
        "producer's last batch in the log, or is one of the producer's last five batches there, "
        "is not refused as out of order."
    )
    requests: ClassVar[Requests] = (produce_request.ProduceRequest,)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        assert isinstance(request, produce_request.ProduceRequest), "the only type of its requests"
        if not isinstance(message, produce_response.ProduceResponse):
            return
        results = list(self._results(request, message))
        for log, sent, result in results:
            mirror = process.partitions.get(log)
            wrong = None
            if mirror is not None and result.error_code == ErrorCode.NONE:
                wrong = _not_in(mirror, sent, result)
                is_flushed = result.base_offset < mirror.durable_end
                if wrong is None and not is_flushed and self._is_durable(log.topic_id):
                    wrong = f"offset {result.base_offset} is acknowledged before the fsync"
            elif mirror is not None and result.error_code in _ORDER_ERRORS and len(results) == 1:
                wrong = _in_order(mirror, sent, result.error_code)
            if wrong is not None:
                self.monitor.report_violation(self, process, f"log {log}: {wrong}")


class ProducersWriteInOrder(Replicas):
    """A leader appends no batch that leaves a number out, comes again, or has an old epoch."""

    statement = (
        "In a leader's log a batch of an idempotent producer follows the producer's batch before: "
        "the next sequence number of the same epoch, or number 0 of a later epoch."
    )

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._may_expire = False
        """Whether a broker may have forgotten producers before the end of the run."""

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        super().on_published(process, offset, image)
        self._may_expire |= self._of_brokers(_EXPIRATION) != {None}

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if not isinstance(effect, Append) or not isinstance(effect.batch, RawBatch):
            return
        batch, partition = effect.batch, partition_in(process.image, log)
        is_led = partition is not None and partition.leader == process.node_id
        if batch.producer_id == NO_PRODUCER or not is_led or self._may_expire:
            return
        of_producer = _of_producer(process.partitions.of(log), batch.producer_id)
        last = next((each for each in of_producer if each is not batch), None)
        if last is None or last.base_offset >= batch.base_offset:
            return  # retention may have removed the earlier batches
        if batch.producer_epoch == last.producer_epoch:
            expected = (last.base_sequence + last.last_offset_delta + 1) % SEQUENCES
        else:
            expected = 0
        is_next = batch.producer_epoch >= last.producer_epoch and batch.base_sequence == expected
        if not is_next:
            found = (batch.producer_id, batch.producer_epoch, batch.base_sequence)
            detail = f"log {log}: producer, epoch and sequence {found} at {batch.base_offset}, "
            before = (last.producer_epoch, last.base_sequence, last.last_offset_delta)
            self.monitor.report_violation(self, process, f"{detail}after {before}")


def _not_in(mirror: PartitionMirror, sent: bytes, result: ProduceResult) -> str | None:
    """Describe an acknowledged batch that the log has not at an offset, or with another time."""
    base_offset, told_ms = result.base_offset, result.log_append_time_ms
    if base_offset < mirror.start_offset:
        return None
    held = next(iter(mirror.between(base_offset, mirror.end_offset)), None)
    if held is not None and held.base_offset == base_offset:
        is_stamped = held.is_log_append_time
        # The answer to a retry has the time of the first attempt, also without LogAppendTime.
        if told_ms != held.max_timestamp_ms and (is_stamped or told_ms != -1):
            return f"offset {base_offset} has the time {held.max_timestamp_ms}, not {told_ms}"
        if is_stamped or held.data[CONTENT_BEGIN:] == sent[CONTENT_BEGIN:]:
            return None
    return f"offset {base_offset} is acknowledged, and the log has another batch or none"


def _in_order(mirror: PartitionMirror, sent: bytes, error: int) -> str | None:
    """Describe a batch that is refused as out of order, and is in order by the log."""
    try:
        batch = parse_batch(sent)
    except WireError:
        return None
    recent = list(islice(_of_producer(mirror, batch.producer_id), COMPARED_BATCHES))
    if batch.producer_id == NO_PRODUCER or not recent:
        return None  # the leader may know a batch that retention has removed
    last = recent[0]
    for known in recent:
        is_comparable = known.producer_epoch == last.producer_epoch  # a new epoch ends the others
        if is_comparable and known.data[CONTENT_BEGIN:] == sent[CONTENT_BEGIN:]:
            return f"the batch at offset {known.base_offset} is refused when it comes again"
    if error == ErrorCode.INVALID_PRODUCER_EPOCH:
        is_wrong = batch.producer_epoch >= last.producer_epoch
    elif batch.producer_epoch > last.producer_epoch:
        is_wrong = batch.base_sequence == 0
    else:
        after = (last.base_sequence + last.last_offset_delta + 1) % SEQUENCES
        is_wrong = batch.producer_epoch == last.producer_epoch and batch.base_sequence == after
    if not is_wrong:
        return None
    name = f"sequence {batch.base_sequence} of producer {batch.producer_id}"
    return f"{name} is refused, after offset {last.base_offset} of the log"


def _of_producer(mirror: PartitionMirror, producer_id: int) -> Iterator[RawBatch]:
    """Yield the batches of a producer, the last batch first."""
    return (batch for batch in reversed(mirror.batches) if batch.producer_id == producer_id)
