"""Read a segment that may be in use, torn or damaged: complete batches, then the damage.

The file is not changed. See node/storage for recovery.
"""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, scan_batches

_CRC: Final = struct.Struct(">I")
_CRC_AT: Final = 17


class StoredBatch(Struct, frozen=True, kw_only=True):
    """A complete batch of a file."""

    position: int
    crc: int
    batch: Batch
    whole: memoryview
    """The bytes of the batch."""

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return len(self.whole)


class Damage(Struct, frozen=True):
    """The reason why the file was not read to its end."""

    reason: str


def read_segment(data: bytes) -> Iterator[StoredBatch | Damage]:
    """Yield the complete batches of a segment, then the damage if the end was not reached."""
    try:
        for position, size, _ in scan_batches(data):
            whole = memoryview(data)[position : position + size]
            yield StoredBatch(
                position=position,
                crc=_CRC.unpack_from(whole, _CRC_AT)[0],
                batch=decode_batches(whole)[0],
                whole=whole,
            )
    except WireError as error:
        yield Damage(str(error))
