"""Encode and decode the key and the value of a record: control, metadata or unknown record.

An unreadable metadata record does not make the batch invalid (unknown_record.py).
"""

import msgspec

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import DEFAULT_LEVEL, Record
from kraftproof.node.wire.records.control import ControlRecord
from kraftproof.node.wire.records.control_records import decode_control, encode_control
from kraftproof.node.wire.records.metadata_records import decode_record, encode_record, read_head
from kraftproof.node.wire.records.unknown_record import UnknownRecord
from kraftproof.node.wire.records.write_versions import write_version


class RecordLayout(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The layout of a record in its batch, which the decoded form does not contain."""

    key_bytes: int
    """The length of the key; -1 without a key."""
    value_bytes: int
    version: int
    """The version of the value."""


def encode_parts(
    record: Record, *, is_control: bool, level: int = DEFAULT_LEVEL
) -> tuple[bytes | None, bytes]:
    """Return the key, if the record has a key, and the value at a level of metadata.version.

    Raises:
        WireError: the record does not fit its version or the kind of its batch.
    """
    if is_control:
        return encode_control(record)
    if isinstance(record, ControlRecord):
        raise WireError(f"{type(record).__name__} is a control record in a data batch")
    if isinstance(record, UnknownRecord):
        return None, record.value
    return None, encode_record(record, write_version(record, level))


def decode_parts(key: memoryview | None, value: memoryview, *, is_control: bool) -> Record:
    """Return the record of a key and a value.

    Raises:
        WireError: a control record is unreadable, or a metadata record has a key.
    """
    if is_control:
        return decode_control(key, value)
    if key is not None:
        raise WireError(f"a metadata record with a key of {len(key)} bytes")
    try:
        return decode_record(value)
    except WireError as error:
        record_type, version = read_head(value)
        return UnknownRecord(
            record_type=record_type, version=version, value=bytes(value), reason=str(error)
        )


def layout(key: memoryview | None, value: memoryview, *, is_control: bool) -> RecordLayout:
    """Return the layout of a record."""
    version = decode_control(key, value).version if is_control else read_head(value)[1]
    return RecordLayout(
        key_bytes=-1 if key is None else len(key), value_bytes=len(value), version=version
    )
