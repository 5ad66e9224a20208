"""Index the log of a partition that the storage has recovered at the start.

The records of a recovered log are durable: the storage flushes them before the node starts.
"""

from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.partition.epoch_cache import EpochStart
from kraftproof.node.core.partition.log_index import LogIndex, Span
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.wire.records.raw_batch import NO_TIMESTAMP


def recovered_index(recovered: RecoveredLog, producers: ProducerStates, now_ms: int) -> LogIndex:
    """Return the index of a recovered log, and fill the producers' state."""
    index = LogIndex(
        recovered.log,
        start_offset=recovered.start_offset,
        epochs=[EpochStart(epoch, start) for epoch, start in recovered.epochs],
    )
    spans = [
        Span(
            span.offset,
            span.position,
            now_ms if span.newest_ms == NO_TIMESTAMP else span.newest_ms,
        )
        for span in recovered.spans
    ]
    index.restore(recovered.end_offset, spans, recovered.size)
    committed = min(recovered.high_watermark, index.end_offset)
    index.high_watermark = max(committed, index.start_offset)
    index.flushed_offset = index.end_offset
    for batch in recovered.producer_batches:
        if batch.last_offset < index.end_offset:
            producers.record(batch, index.high_watermark, now_ms)
    return index
