"""Batches of a topic as a client sends them, made by kafka-python."""

import warnings

from kraftproof.node.wire.records.raw_batch import parse_batch

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python's way to read its schemas
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

__all__ = ("GZIP", "DefaultRecordBatch", "produced", "raw")
GZIP = 1


def produced(
    values, *, timestamps=None, compression=0, producer_id=-1, producer_epoch=-1, base_sequence=-1
):
    """Return the bytes of a batch at offset 0, with a value and a timestamp a record."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=compression,
        is_transactional=False,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        batch_size=1 << 24,
    )
    times = timestamps or [1000 + index for index in range(len(values))]
    for offset, (value, timestamp) in enumerate(zip(values, times, strict=True)):
        builder.append(offset, timestamp, None, value, [])
    return bytes(builder.build())


def raw(base_offset, *values, epoch=1, **keywords):
    """Return a batch as the leader of the epoch appends the batch."""
    values = values or (b"value",)
    return parse_batch(produced(list(values), **keywords)).moved(base_offset, epoch)
