"""A copy of a node's log as the simulated disk holds it.

The simulator updates the mirror as it executes the effects of the node, so that invariants judge
a node by its disk instead of its own claims. The bytes of the log belong to node.storage.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.metadata.snapshot import NO_HISTORY, History
from kraftproof.node.wire.records.batch import Batch


class LogMirror:
    """The written batches, and the offset up to which a loss of power keeps them."""

    __slots__ = (
        "_ends",
        "batches",
        "durable_end",
        "end_offset",
        "promised_end",
        "snapshots",
        "start",
    )

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self._ends: list[int] = []
        """End offset of each batch; strictly ascending."""
        self.end_offset = 0
        """The offset after the last record."""
        self.durable_end = 0
        self.promised_end = 0
        """`durable_end` at the end of the previous process."""
        self.start = LOG_BEGIN
        """The snapshot that precedes the first batch."""
        self.snapshots: list[SnapshotId] = []
        """The complete and durable snapshots."""

    def recovered(
        self, batches: Sequence[Batch], history: History = NO_HISTORY, *, is_durable: bool
    ) -> None:
        """Replace the contents by the log that a starting process found on the disk."""
        self.promised_end = self.durable_end
        self.start = history.log_start
        self.snapshots = [stored.snapshot for stored in history.kept]
        self.batches = list(batches)
        self._ends = [batch.next_offset for batch in batches]
        self._note_end()
        self.durable_end = self.end_offset if is_durable else min(self.durable_end, self.end_offset)

    def append(self, batch: Batch) -> None:
        """Append one batch, which is not durable yet."""
        self.end_offset = batch.next_offset
        self.batches.append(batch)
        self._ends.append(self.end_offset)

    def truncate(self, end_offset: int) -> None:
        """Durably remove every batch that reaches past the offset."""
        kept = bisect_right(self._ends, end_offset)
        del self.batches[kept:], self._ends[kept:]
        self._note_end()
        self.durable_end = min(self.durable_end, self.end_offset)

    def clean(self, start: SnapshotId) -> None:
        """Remove the batches and snapshots below a snapshot."""
        cleaned = bisect_left(self.batches, start.end_offset, key=attrgetter("base_offset"))
        del self.batches[:cleaned], self._ends[:cleaned]
        self.start = start
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot >= start]
        self._note_end()

    def reset(self, start: SnapshotId) -> None:
        """Durably replace the whole log by a snapshot."""
        self.batches.clear()
        self._ends.clear()
        self.start = start
        self.snapshots = [start]
        self._note_end()
        self.durable_end = self.end_offset

    def _note_end(self) -> None:
        self.end_offset = self._ends[-1] if self._ends else self.start.end_offset

    def between(self, start: int, end: int) -> list[Batch]:
        """Return the batches that end above `start` and at or below `end`."""
        return self.batches[bisect_right(self._ends, start) : bisect_right(self._ends, end)]

    def ending_at(self, end: int) -> Batch | None:
        """Return the batch whose last record is just below the offset."""
        if end == self.end_offset:
            return self.batches[-1] if self.batches else None
        index = bisect_left(self._ends, end)
        is_found = index < len(self._ends) and self._ends[index] == end
        return self.batches[index] if is_found else None
