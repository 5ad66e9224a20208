"""A batch of records of the metadata log: a leader's unit of appending (KIP-595, KIP-631).

Not here: its bytes; those are node.wire.batches'.
"""

import msgspec
from typing_extensions import override

from kraftproof.node.wire.messages.control import ControlRecord
from kraftproof.node.wire.messages.metadata import MetadataRecord
from kraftproof.node.wire.messages.unknown_record import UnknownRecord

Record = MetadataRecord | ControlRecord | UnknownRecord


class ReceivedBytes:
    """The bytes that a batch was read from; they go to disk and to replicas as they are.

    A batch is its records: these bytes take no part in a comparison of batches.
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


class Batch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Records at consecutive offsets, appended in one epoch; never empty."""

    base_offset: int
    epoch: int
    timestamp_ms: int
    is_control: bool = False
    records: tuple[Record, ...]
    received: ReceivedBytes | None = None
    """None for a batch that this node made. A changed copy must not keep them."""

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self.base_offset + len(self.records) - 1

    @property
    def next_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + len(self.records)
