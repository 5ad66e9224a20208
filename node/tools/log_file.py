"""Reading a segment that may be in use, torn or damaged: what is whole, and where it ends.

Not: recovery (node/storage), which decides what may be cut; nothing is changed here.
"""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from kraftproof.node.wire.batches import decode_batches, scan_batches
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.batch import Batch

_CRC: Final = struct.Struct(">I")
_CRC_AT: Final = 17


class StoredBatch(Struct, frozen=True, kw_only=True):
    """One whole batch of a file."""

    position: int
    crc: int
    batch: Batch
    whole: memoryview
    """All its bytes."""

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return len(self.whole)


class Damage(Struct, frozen=True):
    """Why reading ended before the end of the file."""

    reason: str


def read_segment(data: bytes) -> Iterator[StoredBatch | Damage]:
    """Yield the batches of a segment up to the first that is not whole, and then why."""
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
