"""Encode and decode record batches of magic 2, as in Kafka's metadata log (KIP-98, KIP-595).

Batches have no compression, transactions or headers, and one timestamp; magic 0 and 1 are refused.
`decode_batches` returns records. `scan_batches` only checks batches, for the recovery of a segment,
and distinguishes a torn tail after a crash from a corrupt middle.
"""

import contextlib
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeVar

import msgspec
from crc32c import crc32c

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer
from kraftproof.node.wire.records.batch import DEFAULT_LEVEL, Batch, ReceivedBytes
from kraftproof.node.wire.records.field import Records
from kraftproof.node.wire.records.recent_batches import RECENT
from kraftproof.node.wire.records.record_values import (
    RecordLayout,
    decode_parts,
    encode_parts,
    layout,
)

T = TypeVar("T")
MAGIC: Final = 2
_HEAD: Final = struct.Struct(">qiibI")  # base offset, length, leader epoch, magic, crc
# attributes, last offset delta, base and max timestamp, producer id and epoch, sequence, count
_BODY: Final = struct.Struct(">hiqqqhii")
_HEAD_LENGTH: Final = struct.Struct(">i")
_PREFIX_BYTES: Final = 12
_MAGIC_AT: Final = 16
HEADER_BYTES: Final = _HEAD.size + _BODY.size
_CONTROL: Final = 0x20
_COMPRESSION: Final = 0x07
_TRANSACTIONAL: Final = 0x10
_LEAST_RECORD_BYTES: Final = 7


class BatchHeader(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The header of a batch."""

    base_offset: int
    last_offset: int
    epoch: int
    timestamp_ms: int
    is_control: bool
    count: int


class TornTailError(WireError):
    """The bytes from `position` to the end are an incomplete write before a crash."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(f"torn tail at byte {position}: {message}")
        self.position = position


class CorruptBatchError(WireError):
    """The batch at `position` is damaged, and other data follows."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(f"corrupt batch at byte {position}: {message}")
        self.position = position


def encode_batch(batch: Batch) -> bytes:
    """Return the batch's bytes: the received bytes, or a deterministic encoding.

    Raises:
        WireError: the batch holds no record, or a record does not fit its version.
    """
    return _encode(batch) if batch.received is None else batch.received.data


@RECENT.remembered
def _encode(batch: Batch) -> bytes:
    if not batch.records:
        raise WireError(f"the batch at offset {batch.base_offset} holds no record")
    count = len(batch.records)
    body = Writer()
    try:
        body += _BODY.pack(
            _CONTROL if batch.is_control else 0,
            count - 1,
            batch.timestamp_ms,
            batch.timestamp_ms,
            -1,
            -1,
            -1,
            count,
        )
        level = DEFAULT_LEVEL if batch.level is None else batch.level.level
        for delta, record in enumerate(batch.records):
            parts = encode_parts(record, is_control=batch.is_control, level=level)
            _write_record(body, delta, *parts)
        length = _HEAD.size - _PREFIX_BYTES + len(body)
        head = _HEAD.pack(batch.base_offset, length, batch.epoch, MAGIC, crc32c(body))
    except struct.error as error:
        raise WireError(f"the batch at offset {batch.base_offset}: {error}") from error
    return head + bytes(body)


def encode_batches(batches: Iterable[Batch]) -> bytes:
    """Return the concatenated bytes of the batches."""
    return b"".join(map(encode_batch, batches))


def encode_records(records: Records) -> bytes:
    """Return the bytes of a `records` field.

    Raises:
        WireError: a decoded batch holds no record, or a record does not fit its version.
    """
    return records if isinstance(records, bytes) else encode_batches(records)


def _write_record(body: Writer, delta: int, key: bytes | None, value: bytes) -> None:
    content = Writer(b"\0\0")  # attributes, and a timestamp delta of 0
    content.varint(delta)
    content.varint(-1 if key is None else len(key))
    content += key or b""
    content.varint(len(value))
    content += value
    content.append(0)  # no headers
    body.varint(len(content))
    body += content


def decode_batches(data: bytes | memoryview, *, allow_partial: bool = False) -> tuple[Batch, ...]:
    """Return the batches in `data`.

    Args:
        data: The bytes.
        allow_partial: Drop an incomplete last batch, since a Fetch answer may end anywhere.

    Raises:
        WireError: the bytes are no supported batches.
    """
    view = memoryview(data)
    batches: list[Batch] = []
    position = 0
    while position < len(view):
        length = _length_at(view, position)
        if length is None or position + length > len(view):
            if allow_partial:
                break
            raise WireError(f"an incomplete batch at byte {position}")
        whole = view[position : position + length]
        batches.append(_decode_records(whole, _checked_header(whole)))
        position += length
    return tuple(batches)


def _length_at(view: memoryview, position: int) -> int | None:
    """Return the length of the batch at `position`; None if the length field is incomplete."""
    if len(view) - position < _PREFIX_BYTES:
        return None
    length = _PREFIX_BYTES + int(_HEAD_LENGTH.unpack_from(view, position + 8)[0])
    if length < HEADER_BYTES:
        raise WireError(f"a batch of {length} bytes at byte {position}; the header has more")
    return length


def _checked_header(whole: memoryview) -> BatchHeader:
    """Return the checked header of a complete batch."""
    base_offset, _, epoch, magic, crc = _HEAD.unpack_from(whole)
    if magic != MAGIC:
        raise WireError(f"a batch of magic {magic}; only magic {MAGIC} is supported")
    if crc32c(whole[_HEAD.size :]) != crc:
        raise WireError(f"the batch at offset {base_offset} fails its CRC")
    attributes, last_delta, timestamp_ms, _, _, _, _, count = _BODY.unpack_from(whole, _HEAD.size)
    if attributes & (_COMPRESSION | _TRANSACTIONAL):
        raise WireError(f"the batch at offset {base_offset} is compressed or transactional")
    if count < 1 or last_delta != count - 1:
        raise WireError(
            f"the batch at offset {base_offset} counts {count} records up to delta {last_delta}"
        )
    return BatchHeader(
        base_offset=base_offset,
        last_offset=base_offset + last_delta,
        epoch=epoch,
        timestamp_ms=timestamp_ms,
        is_control=bool(attributes & _CONTROL),
        count=count,
    )


def _decode_records(whole: memoryview, header: BatchHeader) -> Batch:
    read = partial(decode_parts, is_control=header.is_control)
    records = tuple(_each_record(whole, header, read))
    return Batch(
        base_offset=header.base_offset,
        epoch=header.epoch,
        timestamp_ms=header.timestamp_ms,
        is_control=header.is_control,
        records=records,
        received=ReceivedBytes(bytes(whole)),
    )


def record_layouts(whole: memoryview) -> tuple[RecordLayout, ...]:
    """Return the layout of each record of a batch, for display in tools.

    Raises:
        WireError: the bytes are no supported batch.
    """
    header = _checked_header(whole)
    read = partial(layout, is_control=header.is_control)
    return tuple(_each_record(whole, header, read))


def _each_record(
    whole: memoryview, header: BatchHeader, read: Callable[[memoryview | None, memoryview], T]
) -> list[T]:
    """Return the result of `read` for the key and the value of each record."""
    reader = Reader(whole, HEADER_BYTES)
    if header.count * _LEAST_RECORD_BYTES > reader.remaining:
        raise WireError(f"a batch of {header.count} records in {reader.remaining} bytes")
    found = [read(*_key_and_value(reader, delta, header)) for delta in range(header.count)]
    if reader.remaining:
        raise WireError(f"{reader.remaining} bytes after the last record of a batch")
    return found


def _key_and_value(
    outer: Reader, delta: int, header: BatchHeader
) -> tuple[memoryview | None, memoryview]:
    reader = Reader(outer.take(outer.varint()))
    reader.take(1)
    reader.varlong()
    if reader.varint() != delta:
        raise WireError(f"record {delta} of the batch at {header.base_offset} is out of order")
    key_length = reader.varint()
    key = None if key_length == -1 else reader.take(key_length)
    return key, reader.take(reader.varint())


def scan_batches(data: bytes | memoryview) -> Iterator[tuple[int, int, BatchHeader]]:
    """Yield position, length and header of each batch of a segment, with checked CRC.

    Raises:
        TornTailError: the data ends in an incomplete or unwritten batch.
        CorruptBatchError: other data follows a damaged batch.
    """
    view = memoryview(data)
    position = 0
    while position < len(view):
        try:
            length, header = _whole_at(view, position)
        except WireError as error:
            raise _damage(view, position, str(error)) from error
        yield position, length, header
        position += length


def _whole_at(view: memoryview, position: int) -> tuple[int, BatchHeader]:
    """Return length and header of the batch at `position` if the batch is complete and sound."""
    length = _length_at(view, position)
    if length is None or position + length > len(view):
        raise WireError(f"only {len(view) - position} bytes of a batch are there")
    return length, _checked_header(view[position : position + length])


def _damage(view: memoryview, position: int, message: str) -> WireError:
    """Return the error for damage at `position`: a torn tail or a corrupt middle."""
    written = bytes(view[position:]).rstrip(b"\0")  # unwritten blocks read as zeros
    if len(written) >= _PREFIX_BYTES:
        length = _PREFIX_BYTES + int(_HEAD_LENGTH.unpack_from(written, 8)[0])
        if length < HEADER_BYTES or length < len(written) or _sound_batch_in(view[position + 1 :]):
            return CorruptBatchError(position, message)
    return TornTailError(position, message)


def _sound_batch_in(view: memoryview) -> bool:
    """Return whether a sound batch begins anywhere in `view`, which shows a wrong length before."""
    data = bytes(view)
    found = data.find(MAGIC, _MAGIC_AT)
    while found >= 0:
        with contextlib.suppress(WireError):
            _whole_at(view, found - _MAGIC_AT)
            return True
        found = data.find(MAGIC, found + 1)
    return False
