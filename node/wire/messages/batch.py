"""A batch of records of the metadata log: a leader's unit of appending (KIP-595, KIP-631).

Not here: its bytes; those are node.wire.batches'.
"""

import msgspec

from kraftproof.node.wire.messages.control import ControlRecord
from kraftproof.node.wire.messages.metadata import MetadataRecord

Record = MetadataRecord | ControlRecord


class Batch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Records at consecutive offsets, appended in one epoch; never empty."""

    base_offset: int
    epoch: int
    timestamp_ms: int
    is_control: bool = False
    records: tuple[Record, ...]

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self.base_offset + len(self.records) - 1

    @property
    def next_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + len(self.records)
