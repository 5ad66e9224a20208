"""Encode metadata records: frame 1, type and version as varints, then the body (KIP-631).

The overhead is three bytes for each record. The draft of KIP-631 has frame 0; Kafka since 3.0 has
frame 1.
"""

from collections.abc import Mapping
from typing import Final, cast

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer
from kraftproof.node.wire.records.batch import DEFAULT_LEVEL
from kraftproof.node.wire.records.generated.metadata_records import METADATA_RECORDS
from kraftproof.node.wire.records.metadata import MetadataRecord
from kraftproof.node.wire.records.unknown_record import NOT_READ
from kraftproof.node.wire.records.write_versions import write_version
from kraftproof.node.wire.schema import Schema

FRAME_VERSION: Final = 1
SCHEMAS: Final[Mapping[int, Schema]] = {schema.key: schema for schema in METADATA_RECORDS}


def encode_record(record: MetadataRecord, version: int | None = None) -> bytes:
    """Return a record's value, by default in the version of metadata.version 3.9.

    Raises:
        WireError: the version can't carry the record.
    """
    schema = SCHEMAS[record.KEY]
    if version is None:
        version = write_version(record, DEFAULT_LEVEL)
    head = Writer()
    head.uvarint(FRAME_VERSION)
    head.uvarint(record.KEY)
    head.uvarint(version)
    return bytes(head) + schema.encode(record, version)


def decode_record(data: bytes | memoryview) -> MetadataRecord:
    """Return the record of a value.

    Raises:
        WireError: the frame, type or version is unknown, or the bytes are no record.
    """
    reader = Reader(data)
    schema, version = _read_head(reader)
    record = schema.decode(reader, version)
    if reader.remaining:
        raise WireError(f"{reader.remaining} bytes after {type(record).__name__}")
    return cast("MetadataRecord", record)


def read_head(data: bytes | memoryview) -> tuple[int, int]:
    """Return the type and version of a value, which the decoded record does not contain.

    Both are NOT_READ if the frame is unknown or the value is cut off.
    """
    try:
        reader = Reader(data)
        if reader.uvarint() != FRAME_VERSION:
            return NOT_READ, NOT_READ
        return reader.uvarint(), reader.uvarint()
    except WireError:
        return NOT_READ, NOT_READ


def _read_head(reader: Reader) -> tuple[Schema, int]:
    frame = reader.uvarint()
    if frame != FRAME_VERSION:
        raise WireError(f"metadata record frame {frame}; only {FRAME_VERSION} is known")
    key = reader.uvarint()
    schema = SCHEMAS.get(key)
    if schema is None:
        raise WireError(f"metadata record type {key} is unknown")
    return schema, reader.uvarint()
