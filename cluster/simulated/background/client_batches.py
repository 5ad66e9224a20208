"""Encode batches of records as a client sends them (magic 2, KIP-98), right and wrong ones."""

import gzip
import struct
from collections.abc import Sequence
from typing import Any, Final

from crc32c import crc32c
from msgspec import Struct

from kraftproof.node.wire.primitives import Writer

_HEAD: Final = struct.Struct(">qiibI")
_BODY: Final = struct.Struct(">hiqqqhii")
_COUNTED_BYTES: Final = 9
"""The bytes of the head that the length counts: epoch, magic and CRC."""
NO_PRODUCER: Final = (-1, -1, -1)
MAGIC: Final = 2
GZIP: Final = 1
LIBRARY_CODECS: Final = {2: "snappy", 3: "lz4", 4: "zstd"}
"""Codecs of pyarrow, by the number in the attributes of a batch."""
CONTROL: Final = 1 << 5
TRANSACTIONAL: Final = 1 << 4
"""Bits of the attributes."""


class ClientRecord(Struct, frozen=True):
    """A record of a client."""

    value: bytes
    timestamp_ms: int
    key: bytes | None = None


class Header(Struct, frozen=True, kw_only=True):
    """The fields of a header that a client may get wrong."""

    producer: tuple[int, int, int] = NO_PRODUCER
    """Id, epoch and first sequence number."""
    codec: int = 0
    flags: int = 0
    """Further bits of the attributes."""
    magic: int = MAGIC
    count: int | None = None
    """The claimed number of records; None for the true number."""


def client_batch(values: list[bytes], timestamp_ms: int, producer: tuple[int, int, int]) -> bytes:
    """Return a batch with the values; `producer` is id, epoch and first sequence number."""
    records = [ClientRecord(value, timestamp_ms) for value in values]
    return encode_batch(records, Header(producer=producer))


def encode_batch(
    records: Sequence[ClientRecord], header: Header, payload: bytes | None = None
) -> bytes:
    """Return a batch with its CRC; a payload replaces the compressed records."""
    base_ms = records[0].timestamp_ms
    newest_ms = max(record.timestamp_ms for record in records)
    content = _compressed(_encoded(records, base_ms), header.codec) if payload is None else payload
    count = len(records) if header.count is None else header.count
    attributes = header.codec | header.flags
    body = _BODY.pack(attributes, count - 1, base_ms, newest_ms, *header.producer, count) + content
    return _HEAD.pack(0, _COUNTED_BYTES + len(body), -1, header.magic, crc32c(body)) + body


def _encoded(records: Sequence[ClientRecord], base_ms: int) -> bytes:
    data = Writer()
    for delta, record in enumerate(records):
        content = Writer(b"\0")
        content.varint(record.timestamp_ms - base_ms)
        content.varint(delta)
        for field in (record.key, record.value):
            content.varint(-1 if field is None else len(field))
            content += field or b""
        content.append(0)
        data.varint(len(content))
        data += content
    return bytes(data)


def _compressed(data: bytes, codec: int) -> bytes:
    if codec == GZIP:
        return gzip.compress(data, mtime=0)
    if codec in LIBRARY_CODECS:
        import pyarrow  # heavy, and few runs need it

        library: Any = pyarrow
        compressed: bytes = library.compress(data, codec=LIBRARY_CODECS[codec], asbytes=True)
        return compressed
    return data
