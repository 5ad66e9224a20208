"""Tell large messages from small ones: threads encode and decode the large ones.

A message of a few thousand parts takes longer than the event loop may be busy with one request.
"""

from typing import Final

import msgspec

from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.schema import Message

LARGE_BYTES: Final = 100_000
"""Minimum size of a frame that a thread decodes, in bytes: about 10 ms of work."""
LARGE_PARTS: Final = 3_000
"""Minimum number of parts of a message that a thread encodes: about 10 ms of work."""


def is_large(message: Message) -> bool:
    """Return whether the message has many parts: entries of arrays, records without bytes."""
    return parts_of(message, LARGE_PARTS) >= LARGE_PARTS


def parts_of(message: Message, most: int = 1 << 31) -> int:
    """Return the number of parts; the count ends soon after `most`."""
    return most - _parts_left(message, most)


def _parts_left(value: object, left: int) -> int:
    """Return `left` less the parts of a value; the count ends at 0."""
    if isinstance(value, Batch):
        return left - (len(value.records) if value.received is None else 1)
    if isinstance(value, tuple):
        left -= len(value)
        if not value or not isinstance(value[0], msgspec.Struct | tuple):
            return left
        parts = value
    elif isinstance(value, msgspec.Struct):
        parts = tuple(getattr(value, name) for name in value.__struct_fields__)
    else:
        return left
    for part in parts:
        if left <= 0:
            break
        if isinstance(part, msgspec.Struct | tuple):
            left = _parts_left(part, left)
    return left
