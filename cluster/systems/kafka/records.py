"""Batches of one record as a producer sends them, and the records of fetched batches (KIP-98)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from crc32c import crc32c

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer
from kraftproof.node.wire.records.compression import decompress
from kraftproof.node.wire.records.raw_batch import (
    CRC_BEGIN,
    HEADER_BYTES,
    NO_PRODUCER,
    RawBatch,
    parse_batches,
)

_MAGIC: Final = 2


class Producer(NamedTuple):
    """The identity of an idempotent producer, and the sequence number of its next record."""

    producer_id: int = NO_PRODUCER
    epoch: int = -1
    sequence: int = -1


def batch_of(value: bytes, timestamp_ms: int, producer: Producer) -> bytes:
    """Return the bytes of an uncompressed batch with one record without a key."""
    record = Writer(b"\0\0\0\1")  # attributes, no deltas of time and offset, no key
    record.varint(len(value))
    record += value
    record.append(0)  # no headers
    content = Writer()
    content.varint(len(record))
    content += record
    covered = Writer()
    covered += (0).to_bytes(2, "big") + (0).to_bytes(4, "big")
    covered += timestamp_ms.to_bytes(8, "big", signed=True) * 2
    covered += producer.producer_id.to_bytes(8, "big", signed=True)
    covered += producer.epoch.to_bytes(2, "big", signed=True)
    covered += producer.sequence.to_bytes(4, "big", signed=True)
    covered += (1).to_bytes(4, "big")
    covered += content
    crc = crc32c(bytes(covered)).to_bytes(4, "big")
    head = (0).to_bytes(8, "big") + (9 + len(covered)).to_bytes(4, "big")
    head += (-1).to_bytes(4, "big", signed=True) + bytes([_MAGIC]) + crc
    assert len(head) == CRC_BEGIN
    return head + bytes(covered)


def records_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield offset and value of each record of fetched batches; control records are left out.

    Raises:
        WireError: the bytes are no batches.
    """
    for batch in parse_batches(data, allow_partial=True):
        if not batch.is_control:
            yield from _records(batch)


def _records(batch: RawBatch) -> Iterator[tuple[int, bytes]]:
    content = decompress(batch.compression, memoryview(batch.data)[HEADER_BYTES:])
    reader = Reader(content)
    for _ in range(batch.count):
        record = Reader(reader.take(reader.varint()))
        record.take(1)
        record.varlong()
        offset = batch.base_offset + record.varint()
        key_length = record.varint()
        if key_length > 0:
            record.take(key_length)
        length = record.varint()
        if length < 0:
            raise WireError(f"the record at offset {offset} has no value")
        yield offset, bytes(record.take(length))
