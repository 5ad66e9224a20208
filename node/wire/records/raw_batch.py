"""Represent a batch of a partition by its received bytes and its parsed header (magic 2, KIP-98).

A partition's log keeps each batch byte for byte. The leader writes base offset and leader epoch,
which the CRC does not cover; LogAppendTime also changes covered fields. The records stay opaque,
maybe compressed: see the module of the partition's leader for their validation.
"""

import struct
from collections.abc import Iterator
from typing import Final

import msgspec
from crc32c import crc32c

from kraftproof.node.wire.errors import WireError

MAGIC: Final = 2
HEADER_BYTES: Final = 61
PREFIX_BYTES: Final = 12
"""Base offset and length, which the length does not count."""
CRC_BEGIN: Final = 21
"""The first byte that the CRC covers."""
NO_PRODUCER: Final = -1
NO_TIMESTAMP: Final = -1
"""The timestamp of a record without one; such a record has the age of its file."""
_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_PREFIX: Final = struct.Struct(">qi")
MAGIC_AT: Final = 16
"""The byte of the format, in each format."""
_ATTRIBUTES_AT: Final = 22
"""The lower byte of the attributes."""
_COMPRESSION: Final = 0x07
_LOG_APPEND_TIME: Final = 0x08
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20


class IncompleteBatchError(WireError):
    """The bytes end within a batch."""


class UnsupportedMagicError(WireError):
    """The batch has the format of an older Kafka (error code 43)."""


class CorruptRawBatchError(WireError):
    """The batch fails its CRC (error code 2)."""


class RawBatch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A batch as bytes, with the fields of its header."""

    base_offset: int
    last_offset_delta: int
    epoch: int
    """The leader epoch."""
    attributes: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    """NO_PRODUCER for a batch without idempotence."""
    producer_epoch: int
    base_sequence: int
    count: int
    """The number of records; a compacted batch has fewer than its offsets."""
    data: bytes
    """The whole batch, or nothing for a header alone."""

    @property
    def last_offset(self) -> int:
        """Return the offset of the last record."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Return the offset after the last record."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size(self) -> int:
        """Return the number of bytes of the batch."""
        return len(self.data)

    @property
    def compression(self) -> int:
        """Return the codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
        return self.attributes & _COMPRESSION

    @property
    def is_log_append_time(self) -> bool:
        """Return whether every record has the broker's time, the batch's maximum timestamp."""
        return bool(self.attributes & _LOG_APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        """Return whether the batch belongs to a transaction."""
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Return whether the batch holds control records."""
        return bool(self.attributes & _CONTROL)

    def moved(self, base_offset: int, epoch: int) -> "RawBatch":
        """Return the batch at another offset and epoch, as the leader appends the batch."""
        head = _HEADER.pack(
            base_offset,
            len(self.data) - PREFIX_BYTES,
            epoch,
            MAGIC,
            int.from_bytes(self.data[17:21], "big"),
            *_HEADER.unpack_from(self.data)[5:],
        )
        return msgspec.structs.replace(
            self, base_offset=base_offset, epoch=epoch, data=head + self.data[HEADER_BYTES:]
        )

    def stamped(self, timestamp_ms: int) -> "RawBatch":
        """Return the batch with LogAppendTime: the broker's time, and a new CRC."""
        return self._timed(self.attributes | _LOG_APPEND_TIME, timestamp_ms)

    def dated(self, newest_ms: int) -> "RawBatch":
        """Return the batch with CreateTime: the newest time of its records, and a new CRC."""
        return self._timed(self.attributes & ~_LOG_APPEND_TIME, newest_ms)

    def _timed(self, attributes: int, timestamp_ms: int) -> "RawBatch":
        base_offset, length, epoch, magic, _, *fields = _HEADER.unpack_from(self.data)
        fields[0], fields[3] = attributes, timestamp_ms
        covered = _HEADER.pack(base_offset, length, epoch, magic, 0, *fields)[CRC_BEGIN:]
        covered += self.data[HEADER_BYTES:]
        crc = crc32c(covered).to_bytes(4, "big")
        return msgspec.structs.replace(
            self,
            attributes=attributes,
            max_timestamp_ms=timestamp_ms,
            data=self.data[: CRC_BEGIN - 4] + crc + covered,
        )


def parse_batch(data: bytes | memoryview, *, check_crc: bool = True) -> RawBatch:
    """Return the batch of exactly these bytes.

    Raises:
        IncompleteBatchError: the bytes end within the batch.
        UnsupportedMagicError: the magic is not 2.
        CorruptRawBatchError: the CRC does not fit.
        WireError: the header is impossible, or bytes follow the batch.
    """
    length = batch_length(data, 0)
    if length > len(data):
        raise IncompleteBatchError(f"a batch of {length} bytes in {len(data)} bytes")
    if length < len(data):
        raise WireError(f"{len(data) - length} bytes after a batch of {length} bytes")
    header = parse_header(data, held=bytes(data))
    if check_crc:
        require_crc(data, header.base_offset)
    return header


def begins_transaction(data: bytes) -> bool:
    """Return whether bytes begin with a whole header of a batch of a transaction."""
    if len(data) < HEADER_BYTES or data[MAGIC_AT] != MAGIC:
        return False
    return bool(data[_ATTRIBUTES_AT] & _TRANSACTIONAL)


def parse_sent_batch(data: bytes) -> RawBatch:
    """Return the batch of exactly these bytes, with the CRC and the numbers that a client sent.

    Raises:
        IncompleteBatchError: the header is incomplete.
        UnsupportedMagicError: the magic is not 2.
    """
    return _batch(_fields(data, 0), data)


def require_crc(data: bytes | memoryview, base_offset: int) -> None:
    """Compare the CRC of a batch.

    Raises:
        CorruptRawBatchError: the CRC does not fit.
    """
    if crc32c(memoryview(data)[CRC_BEGIN:]) != int.from_bytes(data[17:21], "big"):
        raise CorruptRawBatchError(f"the batch at offset {base_offset} fails its CRC")


def parse_batches(
    data: bytes | memoryview, *, allow_partial: bool = False, check_crc: bool = True
) -> Iterator[RawBatch]:
    """Yield the batches in `data`, in their order.

    Args:
        data: The bytes.
        allow_partial: End before an incomplete last batch, which a Fetch answer may have.
        check_crc: Whether to compare the CRC of each batch.

    Raises:
        WireError: see parse_batch.
    """
    view = memoryview(data)
    position = 0
    while position < len(view):
        is_whole = len(view) - position >= PREFIX_BYTES
        length = batch_length(view, position) if is_whole else 0
        if not is_whole or position + length > len(view):
            if allow_partial:
                return
            raise IncompleteBatchError(f"an incomplete batch at byte {position}")
        yield parse_batch(view[position : position + length], check_crc=check_crc)
        position += length


def batch_length(data: bytes | memoryview, position: int) -> int:
    """Return the number of bytes of the batch that begins at `position`.

    Raises:
        IncompleteBatchError: the length field is incomplete.
        WireError: the length is below that of a header.
    """
    if len(data) - position < PREFIX_BYTES:
        raise IncompleteBatchError(f"an incomplete batch at byte {position}")
    length = PREFIX_BYTES + int(_PREFIX.unpack_from(data, position)[1])
    if length < HEADER_BYTES:
        raise WireError(f"a batch of {length} bytes at byte {position}; the header has more")
    return length


def parse_header(data: bytes | memoryview, position: int = 0, *, held: bytes = b"") -> RawBatch:
    """Return the batch at `position`, with the data that the caller holds; the CRC is not checked.

    Raises:
        IncompleteBatchError: the header is incomplete.
        UnsupportedMagicError: the magic is not 2.
        WireError: offset, delta or count are impossible.
    """
    return _batch(_checked_fields(data, position), held)


def _batch(fields: tuple[int, ...], held: bytes) -> RawBatch:
    base_offset, _, epoch, _, _, attributes, delta, base_ms, max_ms, *producer = fields
    producer_id, producer_epoch, base_sequence, count = producer
    return RawBatch(
        base_offset=base_offset,
        last_offset_delta=delta,
        epoch=epoch,
        attributes=attributes,
        base_timestamp_ms=base_ms,
        max_timestamp_ms=max_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        count=count,
        data=held,
    )


def batch_span(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Return the length of the batch at `position`, and the offset after the batch.

    Raises:
        WireError: see `batch_length` and `parse_header`.
    """
    length = batch_length(data, position)
    fields = _checked_fields(data, position)
    return length, fields[0] + fields[6] + 1


def _checked_fields(data: bytes | memoryview, position: int) -> tuple[int, ...]:
    fields = _fields(data, position)
    base_offset, delta, count = fields[0], fields[6], fields[12]
    if base_offset < 0 or delta < 0 or count < 0 or count > delta + 1:
        raise WireError(
            f"the batch at offset {base_offset} counts {count} records up to delta {delta}"
        )
    return fields


def _fields(data: bytes | memoryview, position: int) -> tuple[int, ...]:
    if len(data) - position > MAGIC_AT and data[position + MAGIC_AT] != MAGIC:
        magic = data[position + MAGIC_AT]
        raise UnsupportedMagicError(f"a batch of magic {magic}; only magic {MAGIC} is supported")
    if len(data) - position < HEADER_BYTES:
        raise IncompleteBatchError(f"an incomplete batch at byte {position}")
    return _HEADER.unpack_from(data, position)
