"""Encode and decode control records; the key is int16 version, int16 type (KIP-595, KIP-630).

A value begins with its own version, and is readable without the key's version.
"""

import struct
from typing import Final, cast

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.control import ControlRecord
from kraftproof.node.wire.records.generated.kraft_version import KRAFT_VERSION
from kraftproof.node.wire.records.generated.leader_change import LEADER_CHANGE
from kraftproof.node.wire.records.generated.snapshot_footer import SNAPSHOT_FOOTER
from kraftproof.node.wire.records.generated.snapshot_header import SNAPSHOT_HEADER
from kraftproof.node.wire.records.generated.voters import VOTERS

_KEY: Final = struct.Struct(">hh")
_VERSION: Final = struct.Struct(">h")
_KEY_VERSION: Final = 0
SCHEMAS: Final = {
    2: LEADER_CHANGE,
    3: SNAPSHOT_HEADER,
    4: SNAPSHOT_FOOTER,
    5: KRAFT_VERSION,
    6: VOTERS,
}
_TYPES: Final = {schema.message: number for number, schema in SCHEMAS.items()}


def encode_control(record: Record) -> tuple[bytes, bytes]:
    """Return a control record's key and value, in the version of the record.

    Raises:
        WireError: the record is no control record.
    """
    if not isinstance(record, ControlRecord):
        raise WireError(f"{type(record).__name__} is no control record")
    number = _TYPES[type(record)]
    return _KEY.pack(_KEY_VERSION, number), SCHEMAS[number].encode(record, record.version)


def decode_control(key: memoryview | None, value: memoryview) -> ControlRecord:
    """Return the control record of a key and a value.

    Raises:
        WireError: the type is unknown, or the bytes are no control record.
    """
    if key is None:
        raise WireError("a control record without a key")
    _, number = Reader(key).unpack(_KEY)
    schema = SCHEMAS.get(number)
    if schema is None:
        raise WireError(f"control record type {number} is unknown")
    version: int = Reader(value).unpack(_VERSION)[0]
    return cast("ControlRecord", schema.decode(Reader(value), min(version, schema.max_version)))
