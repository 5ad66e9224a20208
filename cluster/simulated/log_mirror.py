"""What a simulated disk holds of a node's log: kept by the simulator, not asked of the node.

It follows the effects as they are carried out, so that invariants judge a node by its disk and
not by its word. Not: bytes; those are node.storage's.
"""

from bisect import bisect_left
from collections.abc import Sequence

from node.core.metadata.snapshot import NO_HISTORY, History
from node.core.raft.snapshot_ids import LOG_BEGIN, SnapshotId
from node.wire.messages.batch import Batch


class LogMirror:
    """The batches written, and how far they would survive a loss of power."""

    __slots__ = (
        "_bases",
        "batches",
        "durable_end",
        "end_offset",
        "promised_end",
        "snapshots",
        "start",
    )

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self._bases: list[int] = []
        self.end_offset = 0
        """The offset after the last record."""
        self.durable_end = 0
        self.promised_end = 0
        """How far the log was durable when its last process had ended."""
        self.start = LOG_BEGIN
        """The snapshot that stands before the first batch."""
        self.snapshots: list[SnapshotId] = []
        """Complete and durable."""

    def recovered(
        self, batches: Sequence[Batch], history: History = NO_HISTORY, *, is_durable: bool
    ) -> None:
        """Begin again with what a start has found on the disk."""
        self.promised_end = self.durable_end
        self.start = history.log_start
        self.snapshots = [stored.snapshot for stored in history.kept]
        self.batches = list(batches)
        self._bases = [batch.base_offset for batch in batches]
        self._note_end()
        self.durable_end = self.end_offset if is_durable else min(self.durable_end, self.end_offset)

    def append(self, batch: Batch) -> None:
        """Write one batch, at risk as yet."""
        self.batches.append(batch)
        self._bases.append(batch.base_offset)
        self.end_offset = batch.next_offset

    def truncate(self, end_offset: int) -> None:
        """Drop every batch that reaches past the offset, durably."""
        while self.batches and self.batches[-1].next_offset > end_offset:
            self.batches.pop()
            self._bases.pop()
        self._note_end()
        self.durable_end = min(self.durable_end, self.end_offset)

    def clean(self, start: SnapshotId) -> None:
        """Drop the batches and snapshots below a snapshot."""
        cleaned = bisect_left(self._bases, start.end_offset)
        del self.batches[:cleaned], self._bases[:cleaned]
        self.start = start
        self.snapshots = [snapshot for snapshot in self.snapshots if snapshot >= start]
        self._note_end()

    def reset(self, start: SnapshotId) -> None:
        """Begin anew at a snapshot, durably."""
        self.batches.clear()
        self._bases.clear()
        self.start = start
        self.snapshots = [start]
        self._note_end()
        self.durable_end = self.end_offset

    def _note_end(self) -> None:
        self.end_offset = self.batches[-1].next_offset if self.batches else self.start.end_offset

    def between(self, start: int, end: int) -> list[Batch]:
        """Return the batches that end above `start` and at or below `end`."""
        first = bisect_left(self._bases, start)
        if first and self.batches[first - 1].next_offset > start:
            first -= 1
        last = first
        while last < len(self.batches) and self.batches[last].next_offset <= end:
            last += 1
        return self.batches[first:last]

    def ending_at(self, end: int) -> Batch | None:
        """Return the batch whose last record is just below the offset."""
        index = bisect_left(self._bases, end) - 1
        if index >= 0 and self.batches[index].next_offset == end:
            return self.batches[index]
        return None
