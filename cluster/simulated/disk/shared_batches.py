"""Batches that stand on several simulated disks, read from there only once.

What has been written lately is known by its bytes; whoever reads those bytes again at a start
gets the batch itself. It goes with applying a batch once for all nodes (shared_apply.py), and like
that it is left out in the runs whose messages pass through the codec: there each start reads with
the real one. Checksums, order and torn ends are checked in any case. Not: the format.
"""

from kraftproof.node.storage.batch_codec import PLAIN, BatchCodec
from kraftproof.node.wire.messages.batch import Batch

MAX_KEPT = 4096


class SharedBatches:
    """A bounded memory of batches, for all nodes of one run."""

    __slots__ = ("_written", "codec")

    def __init__(self) -> None:
        self._written: dict[bytes, Batch] = {}
        """In the order in which they were first written."""
        self.codec = BatchCodec(self._encode, self._decode)

    def _encode(self, batch: Batch) -> bytes:
        data = PLAIN.encode(batch)
        self._written.setdefault(data, batch)
        if len(self._written) > MAX_KEPT:
            del self._written[next(iter(self._written))]
        return data

    def _decode(self, data: memoryview) -> Batch:
        return self._written.get(bytes(data)) or PLAIN.decode(data)
