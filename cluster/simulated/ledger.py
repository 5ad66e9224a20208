"""What the cluster has committed, as first seen on any node. Not: a judgement of it."""

from collections.abc import Callable
from dataclasses import dataclass

from node.wire.messages.batch import Batch

OnCommit = Callable[[Batch, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """A batch, and the epoch and the time in which it was first seen as committed."""

    batch: Batch
    epoch: int
    time_ns: int


class Ledger:
    """Committed batches in order of commitment, and by offset."""

    __slots__ = ("_by_offset", "commitments", "subscribers")

    def __init__(self) -> None:
        self.commitments: list[Commitment] = []
        self.subscribers: list[OnCommit] = []
        self._by_offset: dict[int, Batch] = {}

    @property
    def end_offset(self) -> int:
        """The offset after the last record that any node has committed."""
        return self.commitments[-1].batch.next_offset if self.commitments else 0

    def commit(self, batch: Batch, epoch: int, time_ns: int) -> Batch:
        """Note a batch that a node of this epoch has committed; return the first at its offset."""
        known = self._by_offset.get(batch.base_offset)
        if known is not None:
            return known
        self._by_offset[batch.base_offset] = batch
        self.commitments.append(Commitment(batch=batch, epoch=epoch, time_ns=time_ns))
        for subscriber in self.subscribers:
            subscriber(batch, time_ns)
        return batch

    def last_before(self, epoch: int) -> Batch | None:
        """Return the last batch committed in an epoch below this one."""
        for commitment in reversed(self.commitments):
            if commitment.epoch < epoch:
                return commitment.batch
        return None
