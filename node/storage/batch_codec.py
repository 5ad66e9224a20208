"""Convert the batches of a log to the bytes of segments, and back.

The codec is a parameter, so that a simulation of many nodes can avoid repeated decoding at each
start. See node/wire/records/batches.py for the format.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batch


class BatchCodec(Struct, frozen=True):
    """Two inverse functions; both raise WireError."""

    encode: Callable[[Batch], bytes]
    decode: Callable[[memoryview], Batch]
    """Decodes the bytes of exactly one batch."""


def _decode(data: memoryview) -> Batch:
    (batch,) = decode_batches(data)
    return batch


PLAIN: Final = BatchCodec(encode_batch, _decode)
