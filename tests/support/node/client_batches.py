"""Batches of topics as a client would send them. No tests here."""

import struct

from crc32c import crc32c

from kraftproof.node.wire.primitives import Writer
from kraftproof.node.wire.records.raw_batch import RawBatch, parse_batch

Record = tuple[bytes | None, bytes | None]


def records_bytes(records: list[Record], deltas_ms: list[int] | None = None) -> bytes:
    """The uncompressed records of a batch."""
    out = Writer()
    for delta, (key, value) in enumerate(records):
        content = Writer(b"\0")
        content.varint(0 if deltas_ms is None else deltas_ms[delta])
        content.varint(delta)
        for part in (key, value):
            content.varint(-1 if part is None else len(part))
            content += part or b""
        content.varint(0)
        out.varint(len(content))
        out += content
    return bytes(out)


def batch_bytes(
    count: int = 1,
    *,
    base_offset: int = 0,
    epoch: int = -1,
    attributes: int = 0,
    timestamp_ms: int = 1_000,
    max_timestamp_ms: int | None = None,
    producer: tuple[int, int, int] = (-1, -1, -1),
    content: bytes | None = None,
    last_delta: int | None = None,
    header_count: int | None = None,
    value: bytes = b"v",
) -> bytes:
    """The bytes of a batch with a right CRC; `producer` is id, epoch and first sequence."""
    if content is None:
        content = records_bytes([(b"k", value)] * count)
    body = struct.pack(
        ">hiqqqhii",
        attributes,
        count - 1 if last_delta is None else last_delta,
        timestamp_ms,
        timestamp_ms if max_timestamp_ms is None else max_timestamp_ms,
        *producer,
        count if header_count is None else header_count,
    )
    body += content
    return struct.pack(">qiibI", base_offset, 9 + len(body), epoch, 2, crc32c(body)) + body


def raw_batch(count: int = 1, **fields) -> RawBatch:
    """A parsed batch; see batch_bytes."""
    return parse_batch(batch_bytes(count, **fields))
