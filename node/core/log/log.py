"""Hold the metadata log in memory as whole batches (KIP-595 "Log Structure", KIP-630).

The log starts at offset 0 or at the end of a snapshot, which contains the records below. See
node/storage for bytes, segments and fsync, and node/core/metadata for the meaning of records.
Simplification: the core never sees bytes, so a record counts as `RECORD_ESTIMATE_BYTES`; the
shell's limit of a frame is far above the resulting size.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.wire.records.batch import Batch

RECORD_ESTIMATE_BYTES = 128
NO_RECORDS_EPOCH = Epoch(0)
"""The last epoch of an empty log; the first election begins epoch 1."""


class EpochEnd(Struct, frozen=True):
    """An epoch and the offset after its last record."""

    epoch: Epoch
    end_offset: Offset


class Log:
    """The batches in order, the leader-epoch cache (595-10), and the generation."""

    __slots__ = (
        "_bases",
        "_batches",
        "_epoch_starts",
        "_epochs",
        "end_offset",
        "generation",
        "last_epoch",
        "start",
    )

    def __init__(self, batches: Sequence[Batch] = (), start: SnapshotId = LOG_BEGIN) -> None:
        self._batches: list[Batch] = []
        self._bases: list[int] = []
        self._epochs: list[Epoch] = []
        self._epoch_starts: list[Offset] = []
        self.start = start
        """The end of the snapshot before the first batch."""
        self.end_offset = start.end_offset
        """The offset after the last record."""
        self.generation = 0
        """A number for each log content: a truncation begins a new generation, so that a Flushed of
        truncated records does not count for their replacement."""
        self.last_epoch = NO_RECORDS_EPOCH
        """The epoch of the last record; 0 for an empty log."""
        self._note_epochs()
        for batch in batches:
            self.append(batch)

    @property
    def start_offset(self) -> Offset:
        """Return the first offset that the log can hold."""
        return self.start.end_offset

    @property
    def last(self) -> Batch:
        """Return the last batch of a log with batches."""
        return self._batches[-1]

    def append(self, batch: Batch) -> None:
        """Append a batch."""
        assert batch.base_offset == self.end_offset, "a batch goes where the log ends"
        assert batch.epoch >= self.last_epoch, "epochs never fall along a log"
        if batch.epoch != self.last_epoch:
            self.last_epoch = Epoch(batch.epoch)
            self._epochs.append(self.last_epoch)
            self._epoch_starts.append(Offset(batch.base_offset))
        self._batches.append(batch)
        self._bases.append(batch.base_offset)
        self.end_offset = Offset(batch.next_offset)

    def truncate(self, end_offset: Offset) -> Offset:
        """Remove each batch that ends above `end_offset`, and return the new end."""
        kept = bisect_left(self._bases, end_offset)
        if kept and self._batches[kept - 1].next_offset > end_offset:
            kept -= 1
        del self._batches[kept:], self._bases[kept:]
        self.end_offset = Offset(self._batches[-1].next_offset) if kept else self.start_offset
        kept_epochs = bisect_left(self._epoch_starts, self.end_offset)
        del self._epochs[kept_epochs:], self._epoch_starts[kept_epochs:]
        self._note_epochs()
        self.generation += 1
        return self.end_offset

    def clean(self, start: SnapshotId) -> None:
        """Remove the records below a snapshot of this node, and the epochs that end there."""
        assert self.start <= start, "the start of a log only moves up"
        assert start.end_offset <= self.end_offset, "a log is cleaned up to where it reaches"
        cleaned = bisect_left(self._bases, start.end_offset)
        del self._batches[:cleaned], self._bases[:cleaned]
        ended = bisect_left(self._epoch_starts, start.end_offset)
        del self._epochs[:ended], self._epoch_starts[:ended]
        self.start = start
        self._note_epochs()

    def reset(self, start: SnapshotId) -> None:
        """Remove every batch, since the leader's snapshot replaces the log."""
        for entries in (self._batches, self._bases, self._epochs, self._epoch_starts):
            entries.clear()
        self.start = start
        self.end_offset = start.end_offset
        self._note_epochs()
        self.generation += 1

    def _note_epochs(self) -> None:
        """Update the last epoch after a change of the log's start or end.

        The epoch of the snapshot's last record is kept until a batch follows.
        """
        is_known = bool(self._epochs) and self._epochs[0] <= self.start.epoch
        if self.start != LOG_BEGIN and not is_known:
            self._epochs.insert(0, self.start.epoch)
            self._epoch_starts.insert(0, self.start.end_offset)
        self.last_epoch = self._epochs[-1] if self._epochs else NO_RECORDS_EPOCH

    def end_offset_for_epoch(self, epoch: Epoch) -> EpochEnd:
        """Return the largest epoch up to `epoch` that has records, and its end (595-48)."""
        after = bisect_right(self._epochs, epoch)
        if after == 0:
            return EpochEnd(NO_RECORDS_EPOCH, self.start_offset)
        is_last = after == len(self._epochs)
        end = self.end_offset if is_last else self._epoch_starts[after]
        return EpochEnd(self._epochs[after - 1], end)

    def batches(self, offset: Offset, end_offset: Offset) -> Iterator[Batch]:
        """Yield the batches from the batch at `offset` to the last batch within `end_offset`."""
        for index in range(bisect_left(self._bases, offset), len(self._batches)):
            batch = self._batches[index]
            if batch.next_offset > end_offset:
                return
            yield batch

    def read(self, offset: Offset, max_bytes: int) -> tuple[Batch, ...]:
        """Return whole batches from the batch that holds `offset`, as many as `max_bytes` allows.

        At least a single batch is returned. The batches have the same epoch, so that the replica's
        next Fetch names, and the leader checks, each epoch that the replica has reached.
        """
        if offset >= self.end_offset:
            return ()
        if offset >= self._bases[-1]:
            return (self._batches[-1],)  # the common case: a replica lacks the last batch
        first = max(bisect_right(self._bases, offset) - 1, 0)
        epoch = self._batches[first].epoch
        last, size = first, 0
        while last < len(self._batches) and self._batches[last].epoch == epoch:
            size += len(self._batches[last].records) * RECORD_ESTIMATE_BYTES
            if last > first and size > max_bytes:
                break
            last += 1
        return tuple(self._batches[first:last])
