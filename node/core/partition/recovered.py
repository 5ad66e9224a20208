"""Take over the log of a partition that the storage has recovered at the start.

The storage reads the files and returns this value per log; the core then indexes the log without
reading any data.
"""

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.partition.epoch_cache import EpochStart
from kraftproof.node.core.partition.log_index import FIRST_OFFSET, LogIndex, Span
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.wire.records.raw_batch import RawBatch


class RecoveredLog(Struct, frozen=True, kw_only=True):
    """A partition's log as found on the disk."""

    log: LogId
    topic: str
    start_offset: Offset
    end_offset: Offset
    epochs: tuple[EpochStart, ...] = ()
    """The content of leader-epoch-checkpoint, without epochs at or above the end."""
    high_watermark: Offset = FIRST_OFFSET
    """The entry of replication-offset-checkpoint; 0 without an entry."""
    flushed_offset: Offset = FIRST_OFFSET
    """The end of the records that are surely on the disk; 0 for unknown."""
    spans: tuple[Span, ...] = ()
    """A sparse table of base offsets, bytes before, and newest timestamps within."""
    size: int = 0
    """The bytes of the log from the first span on."""
    producer_batches: tuple[RawBatch, ...] = ()
    """The last batches of each producer in the order of the log, without data."""


def recovered_index(recovered: RecoveredLog, producers: ProducerStates, now_ms: int) -> LogIndex:
    """Return the index of a recovered log, and fill the producers' state."""
    index = LogIndex(recovered.log, start_offset=recovered.start_offset, epochs=recovered.epochs)
    index.restore(recovered.end_offset, recovered.spans, recovered.size)
    committed = min(recovered.high_watermark, recovered.end_offset)
    index.high_watermark = max(committed, recovered.start_offset)
    flushed = min(recovered.flushed_offset, recovered.end_offset)
    index.flushed_offset = max(flushed, recovered.start_offset)
    for batch in recovered.producer_batches:
        producers.record(batch, index.high_watermark, now_ms)
    return index
