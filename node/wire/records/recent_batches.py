"""Cache the bytes of recent batches: a leader's batch goes to its disk and to each replica.

A replica writes the received bytes. See batches.py for the encoding.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Final

from kraftproof.node.wire.records.batch import Batch

MOST_KEPT = 64
LARGEST_KEPT_BYTES = 1 << 16
"""Maximum size of a batch of which there may be MOST_KEPT; of larger ones the last is kept."""


class RecentBatches:
    """A bounded cache by identity; an equal batch from elsewhere is not found.

    Each entry refers to its batch, so that no other batch can get the same identity. Threads use
    the cache, too: every operation on an attribute is atomic.
    """

    __slots__ = ("_entries", "_large")

    def __init__(self) -> None:
        self._entries: OrderedDict[int, tuple[Batch, bytes]] = OrderedDict()
        self._large: tuple[Batch, bytes] | None = None

    def of(self, batch: Batch) -> bytes | None:
        """Return the cached bytes of this very batch, if any."""
        entry = self._entries.get(id(batch), self._large)
        return None if entry is None or entry[0] is not batch else entry[1]

    def keep(self, batch: Batch, data: bytes) -> Batch:
        """Cache the bytes, drop the oldest entry, and return the batch."""
        if len(data) > LARGEST_KEPT_BYTES:
            self._large = (batch, data)
        else:
            self._entries[id(batch)] = (batch, data)
            while len(self._entries) > MOST_KEPT:
                self._entries.popitem(last=False)
        return batch

    def remembered(self, encode: Callable[[Batch], bytes]) -> Callable[[Batch], bytes]:
        """Return an encoding function that looks in the cache first."""

        @wraps(encode)
        def looked_up(batch: Batch) -> bytes:
            data = self.of(batch)
            if data is None:
                data = encode(batch)
                self.keep(batch, data)
            return data

        return looked_up


RECENT: Final = RecentBatches()
"""The cache of the process."""
