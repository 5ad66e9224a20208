"""Keep the sequence numbers of a partition's idempotent producers (KIP-98, KIP-679).

Leaders and followers keep this state from the batches of the log: a new leader knows the last
batches of each producer. A leader checks a batch before the append; a follower only records.
The state of a producer has the last five committed batches, for comparison with retries, and
every batch above the high watermark: a truncation removes only these, and the older state returns.

The storage finds these batches again at a start, also those of removed segments.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.events import MOST_UNCOMMITTED
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.raw_batch import NO_PRODUCER, RawBatch

COMPARED_BATCHES: Final = 5
"""Number of last batches for comparison with a retry; a producer has at most five in flight."""
_SEQUENCES: Final = 1 << 31
"""After the largest sequence number follows 0."""


class ProducedBatch(Struct, frozen=True, gc=False):
    """A batch of a producer in the log."""

    epoch: int
    first_sequence: int
    last_sequence: int
    base_offset: Offset
    last_offset: Offset
    timestamp_ms: int
    """The newest timestamp of the batch."""


class Duplicate(Struct, frozen=True):
    """A batch in the log already."""

    base_offset: Offset
    last_offset: Offset
    timestamp_ms: int
    """The newest timestamp of the batch in the log."""


class ProducerRefusal(Struct, frozen=True):
    """The error of a batch out of order."""

    error: ErrorCode
    message: str


class _Producer:
    __slots__ = ("batches", "timestamp_ms")

    def __init__(self) -> None:
        self.batches: list[ProducedBatch] = []
        self.timestamp_ms = 0


class ProducerStates:
    """The producers of a partition."""

    __slots__ = ("_producers",)

    def __init__(self) -> None:
        self._producers: dict[int, _Producer] = {}

    def __len__(self) -> int:
        """Return the number of known producers."""
        return len(self._producers)

    def last_batches(self) -> Iterator[tuple[int, ProducedBatch]]:
        """Yield the id of each known producer with its last batch, by id."""
        for producer_id in sorted(self._producers):
            yield producer_id, self._producers[producer_id].batches[-1]

    def check(self, batch: RawBatch) -> Duplicate | ProducerRefusal | None:
        """Compare a batch with the producer's last batches; None for a batch to append."""
        if batch.producer_id == NO_PRODUCER:
            return None
        producer = self._producers.get(batch.producer_id)
        if producer is None:
            return None
        last = producer.batches[-1]
        if batch.producer_epoch < last.epoch:
            return ProducerRefusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {batch.producer_id} has epoch {last.epoch}, not {batch.producer_epoch}",
            )
        if batch.producer_epoch > last.epoch:
            return None if batch.base_sequence == 0 else _out_of_order(batch, 0)
        ends = (batch.base_sequence, last_sequence(batch))
        for known in producer.batches[-COMPARED_BATCHES:]:
            is_same = known.epoch == batch.producer_epoch
            if is_same and (known.first_sequence, known.last_sequence) == ends:
                return Duplicate(known.base_offset, known.last_offset, known.timestamp_ms)
        expected = (last.last_sequence + 1) % _SEQUENCES
        return None if batch.base_sequence == expected else _out_of_order(batch, expected)

    def end_of(self, producer_id: int) -> Offset:
        """Return the offset after the last known batch of a producer; 0 for an unknown one."""
        producer = self._producers.get(producer_id)
        return Offset(0) if producer is None else Offset(producer.batches[-1].last_offset + 1)

    def record(self, batch: RawBatch, high_watermark: Offset, now_ms: int) -> None:
        """Add a batch of the log."""
        if batch.producer_id == NO_PRODUCER or batch.is_control:
            return
        producer = self._producers.setdefault(batch.producer_id, _Producer())
        producer.batches.append(
            ProducedBatch(
                batch.producer_epoch,
                batch.base_sequence,
                last_sequence(batch),
                Offset(batch.base_offset),
                Offset(batch.last_offset),
                batch.max_timestamp_ms,
            )
        )
        producer.timestamp_ms = now_ms
        _prune(producer.batches, high_watermark)

    def truncate(self, end_offset: Offset) -> None:
        """Return to the state of the log below an offset."""
        for producer_id in list(self._producers):
            batches = self._producers[producer_id].batches
            while batches and batches[-1].last_offset >= end_offset:
                batches.pop()
            if not batches:
                del self._producers[producer_id]

    def clear(self) -> None:
        """Forget every producer, since the log restarts."""
        self._producers.clear()

    def expire(self, before_ms: int) -> None:
        """Forget the producers whose last batch was recorded before a time."""
        for producer_id in list(self._producers):
            if self._producers[producer_id].timestamp_ms < before_ms:
                del self._producers[producer_id]


def last_sequence(batch: RawBatch) -> int:
    """Return the sequence number of a batch's last record."""
    return (batch.base_sequence + batch.last_offset_delta) % _SEQUENCES


def _prune(batches: list[ProducedBatch], high_watermark: Offset) -> None:
    """Drop committed batches but the last five, and the oldest batches of an excessive number."""
    committed = 0
    while committed < len(batches) and batches[committed].last_offset < high_watermark:
        committed += 1
    surplus = max(committed - COMPARED_BATCHES, len(batches) - MOST_UNCOMMITTED, 0)
    del batches[:surplus]


def _out_of_order(batch: RawBatch, expected: int) -> ProducerRefusal:
    return ProducerRefusal(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {batch.producer_id}: sequence {batch.base_sequence}, {expected} is expected",
    )
