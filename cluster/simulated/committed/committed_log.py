"""What the cluster has committed, as first seen on any node. Not: a judgement of it.

What lies below every node's log is kept as what it comes to, no more as batches.
"""

from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import TypeVar

from msgspec import Struct

from kraftproof.cluster.simulated.committed.reference_image import Entities, apply_to_entities
from kraftproof.node.wire.messages.batch import Batch

T = TypeVar("T")
OnCommit = Callable[[Batch, int], None]


class Commitment(Struct, frozen=True, kw_only=True, gc=False):
    """A batch, and the epoch and the time in which it was first seen as committed."""

    batch: Batch
    epoch: int
    time_ns: int


class CommittedLog:
    """Committed batches in order of commitment, and by offset."""

    __slots__ = ("_by_offset", "_forgotten", "base", "commitments", "subscribers")

    def __init__(self) -> None:
        self.base: Entities = {}
        """What the batches say that are forgotten."""
        self.commitments: deque[Commitment] = deque()
        self.subscribers: list[OnCommit] = []
        self._by_offset: dict[int, Batch] = {}
        self._forgotten = 0
        """Below it there is only what the batches came to."""

    @property
    def end_offset(self) -> int:
        """The offset after the last record that any node has committed."""
        return self.commitments[-1].batch.next_offset if self.commitments else 0

    def commit(self, batch: Batch, epoch: int, time_ns: int) -> Batch:
        """Note a batch that a node of this epoch has committed; return the first at its offset.

        One below what is forgotten is nobody's news: a node whose log begins at 0 again has it.
        """
        if batch.base_offset < self._forgotten:
            return batch
        known = self._by_offset.get(batch.base_offset)
        if known is not None:
            return known
        self._by_offset[batch.base_offset] = batch
        self.commitments.append(Commitment(batch=batch, epoch=epoch, time_ns=time_ns))
        for subscriber in self.subscribers:
            subscriber(batch, time_ns)
        return batch

    def forget(self, below: int) -> None:
        """Keep of what ends at or below an offset only what it comes to."""
        while self.commitments and self.commitments[0].batch.next_offset <= below:
            batch = self.commitments.popleft().batch
            apply_to_entities(self.base, batch)
            del self._by_offset[batch.base_offset]
            self._forgotten = batch.next_offset

    def at(self, base_offset: int) -> Batch | None:
        """Return the committed batch that begins at an offset."""
        return self._by_offset.get(base_offset)

    def last_before(self, epoch: int) -> Batch | None:
        """Return the last batch committed in an epoch below this one."""
        for commitment in reversed(self.commitments):
            if commitment.epoch < epoch:
                return commitment.batch
        return None


def drop_below(entries: dict[int, T], below: int) -> list[T]:
    """Drop the entries of offsets below one, from a dictionary that was filled in their order."""
    return [entries.pop(offset) for offset in list(takewhile(lambda o: o < below, entries))]
