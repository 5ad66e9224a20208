"""Values of metadata records: frame 1, type, version as varints, then the body (KIP-631).

Three bytes of overhead for every record. The KIP's draft had frame 0; Kafka since 3.0 has 1.
"""

from collections.abc import Mapping
from typing import Final, cast

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.generated.metadata_records import METADATA_RECORDS
from kraftproof.node.wire.messages.metadata import (
    WRITE_VERSIONS,
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from kraftproof.node.wire.messages.unknown_record import NOT_READ
from kraftproof.node.wire.primitives import Reader, Writer
from kraftproof.node.wire.schema import Schema

FRAME_VERSION: Final = 1
SCHEMAS: Final[Mapping[int, Schema]] = {schema.key: schema for schema in METADATA_RECORDS}


def encode_record(record: MetadataRecord, version: int | None = None) -> bytes:
    """A record's value, in the version that metadata.version 3.9 writes unless one is given.

    Raises:
        WireError: if the version can't carry the record.
    """
    schema = SCHEMAS[record.KEY]
    if version is None:
        version = _version_to_write(record)
    head = Writer()
    head.uvarint(FRAME_VERSION)
    head.uvarint(record.KEY)
    head.uvarint(version)
    return bytes(head) + schema.encode(record, version)


def _version_to_write(record: MetadataRecord) -> int:
    """Return metadata.version 3.9's, or the newest for a record with what that lacks."""
    needs_newest = False
    if isinstance(record, PartitionRecord | PartitionChangeRecord):
        told = (record.eligible_leader_replicas, record.last_known_elr)
        needs_newest = told != (None, None)
    elif isinstance(record, RegisterBrokerRecord | BrokerRegistrationChangeRecord):
        needs_newest = record.cordoned_log_dirs is not None
    return record.MAX_VERSION if needs_newest else WRITE_VERSIONS.get(record.KEY, 0)


def decode_record(data: bytes | memoryview) -> MetadataRecord:
    """The record that `data` is the value of.

    Raises:
        WireError: if the frame, type or version is unknown, or the bytes are no record.
    """
    reader = Reader(data)
    schema, version = _read_head(reader)
    record = schema.decode(reader, version)
    if reader.remaining:
        raise WireError(f"{reader.remaining} bytes after {type(record).__name__}")
    return cast("MetadataRecord", record)


def read_head(data: bytes | memoryview) -> tuple[int, int]:
    """Return the type and version of a value, which the decoded record does not tell.

    Either is NOT_READ if the frame is unknown or the value is cut off.
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
