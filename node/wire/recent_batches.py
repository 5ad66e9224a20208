"""Cache the bytes of recent batches: a leader's batch goes to its disk and to each replica.

A replica writes the received bytes. See batches.py for the encoding.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Final

from kraftproof.node.wire.messages.batch import Batch

MOST_KEPT = 64
MOST_KEPT_BYTES = 8 << 20
"""Maximum size of all cached bytes: a Fetch answer holds about as many."""


class RecentBatches:
    """A bounded cache by identity; an equal batch from elsewhere is not found."""

    __slots__ = ("_entries", "_lock", "_size")

    def __init__(self) -> None:
        self._entries: OrderedDict[int, tuple[Batch, bytes]] = OrderedDict()
        """Each entry refers to its batch, so that no other batch can get the same identity."""
        self._size = 0
        self._lock = Lock()

    def of(self, batch: Batch) -> bytes | None:
        """Return the cached bytes of this very batch, if any."""
        entry = self._entries.get(id(batch))
        return None if entry is None else entry[1]

    def keep(self, batch: Batch, data: bytes) -> Batch:
        """Cache the bytes, drop the oldest entries beyond the bounds, and return the batch."""
        if len(data) <= MOST_KEPT_BYTES:
            with self._lock:  # the event loop and the threads encode
                self._size += len(data) - len(self.of(batch) or b"")
                self._entries[id(batch)] = (batch, data)
                while len(self._entries) > MOST_KEPT or self._size > MOST_KEPT_BYTES:
                    _, (_, dropped) = self._entries.popitem(last=False)
                    self._size -= len(dropped)
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
