"""Define a batch of records of the metadata log, the unit of a leader's appends (KIP-595, KIP-631).

See node.wire.records.batches for the bytes.
"""

from functools import lru_cache
from typing import Final

import msgspec
from typing_extensions import override

from kraftproof.node.wire.records.control import ControlRecord
from kraftproof.node.wire.records.metadata import MetadataRecord
from kraftproof.node.wire.records.unknown_record import UnknownRecord

DEFAULT_LEVEL: Final = 21
"""3.9-IV0, the level of metadata.version of a log without a finalized level."""
Record = MetadataRecord | ControlRecord | UnknownRecord


class ReceivedBytes:
    """The received or encoded bytes of a batch, which go unchanged to the disk and to replicas.

    The records alone define a batch, so the bytes take no part in comparisons.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    @override
    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, ReceivedBytes)

    @override
    def __hash__(self) -> int:
        return hash(None)


class WriteLevel:
    """The level of metadata.version that decides the versions of the written records.

    The bytes have the versions, so a decoded batch needs no level, and batches compare without.
    """

    __slots__ = ("level",)

    def __init__(self, level: int) -> None:
        self.level = level

    @override
    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, WriteLevel)

    @override
    def __hash__(self) -> int:
        return hash(None)


@lru_cache(maxsize=64)
def write_level(level: int) -> WriteLevel:
    """Return the WriteLevel of a level; the batches of a log share the object."""
    return WriteLevel(level)


class Batch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Records at consecutive offsets, appended in the same epoch; never empty."""

    base_offset: int
    epoch: int
    timestamp_ms: int
    is_control: bool = False
    records: tuple[Record, ...]
    received: ReceivedBytes | None = None
    """None for a batch made by this node; a changed copy must not keep the bytes."""
    level: WriteLevel | None = None
    """None for the default level, or for a batch with received bytes."""

    @property
    def last_offset(self) -> int:
        """Return the offset of the last record."""
        return self.base_offset + len(self.records) - 1

    @property
    def next_offset(self) -> int:
        """Return the offset after the last record."""
        return self.base_offset + len(self.records)


def with_bytes(batch: Batch, data: bytes) -> Batch:
    """Return the batch with its encoded bytes."""
    return msgspec.structs.replace(batch, received=ReceivedBytes(data))
