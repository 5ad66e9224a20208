"""Build and parse record batches of magic 2 field by field (KIP-98), apart from the node's code."""

from typing import Any, Final

from crc32c import crc32c
from msgspec import Struct

from kraftproof.cluster.simulated.differential.wire.reference_codec import (
    ReferenceReader,
    varint_bytes,
    zigzag,
)

HEADER_BYTES: Final = 61
PREFIX_BYTES: Final = 12
"""Base offset and length, which the length leaves out."""
CRC_FROM: Final = 21
FIELDS: Final = (
    ("base_offset", 8),
    ("length", 4),
    ("epoch", 4),
    ("magic", 1),
    ("crc", 4),
    ("attributes", 2),
    ("last_offset_delta", 4),
    ("base_timestamp_ms", 8),
    ("max_timestamp_ms", 8),
    ("producer_id", 8),
    ("producer_epoch", 2),
    ("base_sequence", 4),
    ("count", 4),
)
"""The fields of a header with their sizes."""


class ReferenceRecord(Struct, frozen=True, kw_only=True):
    """A record within its batch."""

    key: bytes | None = None
    value: bytes | None = b""
    timestamp_delta: int = 0
    offset_delta: int | None = None
    """None for the record's place in the batch."""
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    header_count: int | None = None
    """None for the true number of headers."""
    rest: bytes = b""
    """Bytes after the headers, which no record has."""


class ReferenceBatch(Struct, frozen=True, kw_only=True):
    """A batch; the length and the CRC follow from the content."""

    base_offset: int = 0
    epoch: int = 0
    magic: int = 2
    attributes: int = 0
    base_timestamp_ms: int = 0
    max_timestamp_ms: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    records: tuple[ReferenceRecord, ...] = ()
    last_offset_delta: int | None = None
    """None for the number of records, less one."""
    count: int | None = None
    """None for the true number."""
    payload: bytes | None = None
    """The compressed records; None without compression."""

    @property
    def content(self) -> bytes:
        """Return the records without compression."""
        return b"".join(record_bytes(one, place) for place, one in enumerate(self.records))

    @property
    def data(self) -> bytes:
        """Return the bytes of the batch."""
        count = len(self.records)
        fields: dict[str, int] = {
            "attributes": self.attributes,
            "last_offset_delta": _or(self.last_offset_delta, count - 1),
            "base_timestamp_ms": self.base_timestamp_ms,
            "max_timestamp_ms": self.max_timestamp_ms,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
            "base_sequence": self.base_sequence,
            "count": _or(self.count, count),
        }
        covered = b"".join(
            fields[name].to_bytes(size, "big", signed=True)
            for name, size in FIELDS
            if name in fields
        )
        covered += self.content if self.payload is None else self.payload
        return b"".join(
            (
                self.base_offset.to_bytes(8, "big", signed=True),
                (CRC_FROM - PREFIX_BYTES + len(covered)).to_bytes(4, "big"),
                self.epoch.to_bytes(4, "big", signed=True),
                bytes([self.magic]),
                crc32c(covered).to_bytes(4, "big"),
                covered,
            )
        )


def _or(given: int | None, usual: int) -> int:
    return usual if given is None else given


def record_bytes(record: ReferenceRecord, place: int) -> bytes:
    """Return a record of a batch."""
    content = b"\0" + _signed(record.timestamp_delta) + _signed(_or(record.offset_delta, place))
    content += _field(record.key) + _field(record.value)
    content += _signed(_or(record.header_count, len(record.headers)))
    for key, value in record.headers:
        content += _field(key) + _field(value)
    content += record.rest
    return _signed(len(content)) + content


def _field(value: bytes | None) -> bytes:
    return _signed(-1) if value is None else _signed(len(value)) + value


def _signed(value: int) -> bytes:
    return varint_bytes(zigzag(value))


def parse_fields(data: bytes) -> dict[str, int]:
    """Return the fields of the header at the start of `data`."""
    found, position = dict[str, int](), 0
    for name, size in FIELDS:
        is_signed = name not in {"crc", "magic"}
        part = data[position : position + size]
        found[name] = int.from_bytes(part, "big", signed=is_signed)
        position += size
    return found


def parse_records(data: bytes, count: int) -> list[tuple[int, int, Any, Any]]:
    """Return time, offset, key and value of each record, for well-formed records only."""
    reader, found = ReferenceReader(data), list[tuple[int, int, Any, Any]]()
    for _ in range(count):
        record = ReferenceReader(bytes(reader.take(reader.varint())))
        record.take(1)
        time, offset = record.varlong(), record.varint()
        key, value = _read_field(record), _read_field(record)
        assert record.varint() == 0, "the record has no headers"
        assert record.remaining == 0, "nothing follows the headers"
        found.append((time, offset, key, value))
    assert reader.remaining == 0, "nothing follows the records"
    return found


def _read_field(reader: ReferenceReader) -> bytes | None:
    size = reader.varint()
    return None if size == -1 else bytes(reader.take(size))
