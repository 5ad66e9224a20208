"""A cache of batches by their bytes, so that a batch on several disks is decoded only once.

Recently written batches are found by their bytes: a node that reads the same bytes at a start gets
the same batch object. Runs whose messages pass through the codec do without the cache, as they do
without the shared apply (shared_apply.py), and decode each batch. Checksums, order and torn ends
are checked in every run.
"""

from kraftproof.node.storage.batch_codec import PLAIN, BatchCodec
from kraftproof.node.wire.records.batch import Batch

MAX_KEPT = 4096
"""Maximum number of cached batches."""


class SharedBatches:
    """A bounded cache of batches, shared by the nodes of one run."""

    __slots__ = ("_written", "codec")

    def __init__(self) -> None:
        self._written: dict[bytes, Batch] = {}
        """Batches by their bytes, in the order of the first write."""
        self.codec = BatchCodec(self._encode, self._decode)

    def _encode(self, batch: Batch) -> bytes:
        data = PLAIN.encode(batch)
        self._written.setdefault(data, batch)
        if len(self._written) > MAX_KEPT:
            del self._written[next(iter(self._written))]
        return data

    def _decode(self, data: memoryview) -> Batch:
        return self._written.get(bytes(data)) or PLAIN.decode(data)
