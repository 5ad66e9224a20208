"""Check the records inside a produced batch, without a copy of keys and values.

A broker appends the bytes of a client unchanged, so every consumer depends on this check. The
records of a codec without a library stay unchecked. See raw_batch.py for the header.
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader
from kraftproof.node.wire.records.compression import MissingCodecError, decompress
from kraftproof.node.wire.records.raw_batch import HEADER_BYTES, RawBatch

_LEAST_RECORD_BYTES: Final = 7
_NULL: Final = -1


class RecordView(Struct, frozen=True, gc=False):
    """The parts of a record that its batch's validation needs."""

    timestamp_ms: int
    has_key: bool


def read_records(batch: RawBatch) -> tuple[RecordView, ...] | None:
    """Return a view of each record; None if the node has no library for the codec.

    Raises:
        WireError: the records contradict the header of the batch, or are damaged.
    """
    try:
        content = decompress(batch.compression, memoryview(batch.data)[HEADER_BYTES:])
    except MissingCodecError:
        return None
    reader = Reader(content)
    if batch.count * _LEAST_RECORD_BYTES > reader.remaining:
        raise WireError(f"a batch of {batch.count} records in {reader.remaining} bytes")
    records = tuple([_record(reader, delta, batch) for delta in range(batch.count)])
    if reader.remaining:
        raise WireError(f"{reader.remaining} bytes after the last record of a batch")
    return records


def _record(outer: Reader, delta: int, batch: RawBatch) -> RecordView:
    record = Reader(outer.take(outer.varint()))
    record.take(1)
    timestamp_ms = batch.base_timestamp_ms + record.varlong()
    if batch.is_log_append_time:
        timestamp_ms = batch.max_timestamp_ms
    if record.varint() != delta:
        raise WireError(f"record {delta} of a batch has another offset")
    has_key = _skip_bytes(record)
    _skip_bytes(record)
    for _ in range(_header_count(record)):
        record.take(record.varint())
        _skip_bytes(record)
    if record.remaining:
        raise WireError(f"{record.remaining} bytes after the headers of record {delta}")
    return RecordView(timestamp_ms, has_key)


def _skip_bytes(record: Reader) -> bool:
    """Skip a nullable field; return whether the field is there."""
    length = record.varint()
    if length == _NULL:
        return False
    record.take(length)
    return True


def _header_count(record: Reader) -> int:
    count = record.varint()
    if not 0 <= count <= record.remaining:
        raise WireError(f"{count} headers in {record.remaining} bytes of a record")
    return count
