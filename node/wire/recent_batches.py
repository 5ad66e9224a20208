"""The bytes of the batches that passed last: a leader's go to its disk and to each replica.

A replica writes the bytes that it was sent. Not: encoding (batches.py).
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Final

from kraftproof.node.wire.messages.batch import Batch

MOST_KEPT = 64
LARGEST_KEPT_BYTES = 1 << 16


class RecentBatches:
    """A bounded memory, by identity: an equal batch made elsewhere is not looked for."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: OrderedDict[int, tuple[Batch, bytes]] = OrderedDict()
        """Each entry refers to its batch, so that the identity is not given to another."""

    def of(self, batch: Batch) -> bytes | None:
        """Return the bytes of this very batch, if they are kept."""
        entry = self._entries.get(id(batch))
        return None if entry is None else entry[1]

    def keep(self, batch: Batch, data: bytes) -> Batch:
        """Keep the bytes, unless they are large, in the place of the oldest; return the batch."""
        if len(data) <= LARGEST_KEPT_BYTES:
            self._entries[id(batch)] = (batch, data)
            while len(self._entries) > MOST_KEPT:
                self._entries.popitem(last=False)
        return batch

    def remembered(self, encode: Callable[[Batch], bytes]) -> Callable[[Batch], bytes]:
        """Return an encoding that makes no bytes which are kept."""

        @wraps(encode)
        def looked_up(batch: Batch) -> bytes:
            data = self.of(batch)
            if data is None:
                data = encode(batch)
                self.keep(batch, data)
            return data

        return looked_up


RECENT: Final = RecentBatches()
"""Of this process."""
