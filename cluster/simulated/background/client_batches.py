"""Encode a batch of records as a client sends it (magic 2, KIP-98)."""

import struct
from typing import Final

from crc32c import crc32c

from kraftproof.node.wire.primitives import Writer

_HEAD: Final = struct.Struct(">qiibI")
_BODY: Final = struct.Struct(">hiqqqhii")
_COUNTED_BYTES: Final = 9
"""The bytes of the head that the length counts: epoch, magic and CRC."""


def client_batch(values: list[bytes], timestamp_ms: int, producer: tuple[int, int, int]) -> bytes:
    """Return a batch with the values; `producer` is id, epoch and first sequence number."""
    records = Writer()
    for delta, value in enumerate(values):
        content = Writer(b"\0\0")
        content.varint(delta)
        content.varint(-1)
        content.varint(len(value))
        content += value
        content.append(0)
        records.varint(len(content))
        records += content
    count = len(values)
    body = _BODY.pack(0, count - 1, timestamp_ms, timestamp_ms, *producer, count) + bytes(records)
    return _HEAD.pack(0, _COUNTED_BYTES + len(body), -1, 2, crc32c(body)) + body
