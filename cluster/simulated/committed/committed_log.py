"""The committed log of the cluster, as first seen on any node.

Batches below the log start of every node are folded into the resulting entities.
"""

from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import TypeVar

from msgspec import Struct

from kraftproof.cluster.simulated.committed.reference_image import Entities, apply_to_entities
from kraftproof.node.wire.records.batch import Batch

T = TypeVar("T")
OnCommit = Callable[[Batch, int], None]


class Commitment(Struct, frozen=True, kw_only=True, gc=False):
    """A batch, with the epoch and the time at which a node first reported it as committed."""

    batch: Batch
    epoch: int
    time_ns: int


class CommittedLog:
    """Committed batches in the order of commitment, and by offset."""

    __slots__ = (
        "_by_offset",
        "_forgotten",
        "base",
        "commitments",
        "inherited_end",
        "subscribers",
    )

    def __init__(self, inherited_end: int = 0) -> None:
        self.base: Entities = {}
        """The entities that result from the pruned batches."""
        self.commitments: deque[Commitment] = deque()
        self.subscribers: list[OnCommit] = []
        self.inherited_end = inherited_end
        """End of the records that the controllers had before the run, written by no node of it."""
        self._by_offset: dict[int, Batch] = {}
        self._forgotten = 0
        """Offset below which the batches have been pruned."""

    @property
    def end_offset(self) -> int:
        """The offset after the last committed record of any node."""
        return self.commitments[-1].batch.next_offset if self.commitments else 0

    def commit(self, batch: Batch, epoch: int, time_ns: int) -> Batch:
        """Record a batch committed by a node in an epoch; return the first batch at its offset.

        A batch below the pruned offset is returned as given: a node whose disk was wiped commits
        its log from offset 0 again.
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
        """Fold the batches that end at or below an offset into the entities."""
        while self.commitments and self.commitments[0].batch.next_offset <= below:
            batch = self.commitments.popleft().batch
            apply_to_entities(self.base, batch)
            del self._by_offset[batch.base_offset]
            self._forgotten = batch.next_offset

    def at(self, base_offset: int) -> Batch | None:
        """Return the committed batch with a base offset, or None."""
        return self._by_offset.get(base_offset)

    def last_before(self, epoch: int) -> Batch | None:
        """Return the last batch committed in an epoch below the given epoch, or None."""
        for commitment in reversed(self.commitments):
            if commitment.epoch < epoch:
                return commitment.batch
        return None


def drop_below(entries: dict[int, T], below: int) -> list[T]:
    """Remove and return the entries below an offset from a dictionary filled in offset order."""
    return [entries.pop(offset) for offset in list(takewhile(lambda o: o < below, entries))]
