"""How a log's batches become the bytes of its segments, and again batches.

Not: the format (node/wire/batches.py). It can be given, so that a simulation of many nodes need
not read the same bytes again at each of their starts.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kraftproof.node.wire.batches import decode_batches, encode_batch
from kraftproof.node.wire.messages.batch import Batch


class BatchCodec(Struct, frozen=True):
    """Two functions that undo each other; both raise WireError."""

    encode: Callable[[Batch], bytes]
    decode: Callable[[memoryview], Batch]
    """Of the bytes of exactly one batch."""


def _decode(data: memoryview) -> Batch:
    (batch,) = decode_batches(data)
    return batch


PLAIN: Final = BatchCodec(encode_batch, _decode)
