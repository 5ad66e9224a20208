"""The metadata log in memory, whole batches since its start (KIP-595 "Log Structure", KIP-630).

It starts at offset 0 or at a snapshot's end; what was below is in that snapshot only.
Not: bytes, segments or fsync (node/storage); not: what the records say (node/core/metadata).
Simplification: sizes are estimated, since the core never sees bytes; one record counts as
`RECORD_ESTIMATE_BYTES`, and the shell's frame limit lies far above what that lets through.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.wire.messages.batch import Batch

RECORD_ESTIMATE_BYTES = 128
NO_RECORDS_EPOCH = Epoch(0)
"""The last epoch of an empty log: the first election opens epoch 1."""


class EpochEnd(Struct, frozen=True):
    """An epoch and the offset after its last record."""

    epoch: Epoch
    end_offset: Offset


class Log:
    """Batches in order, the leader-epoch cache beside them (595-10), and the generation."""

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
        """The end of the snapshot that stands before the first batch."""
        self.end_offset = start.end_offset
        """The offset after the last record."""
        self.generation = 0
        """Which log this is: each truncation makes another, so that a Flushed of one that was
        cut can't vouch for what took its place."""
        self.last_epoch = NO_RECORDS_EPOCH
        """The epoch of the last record; 0 if there is none."""
        self._note_epochs()
        for batch in batches:
            self.append(batch)

    @property
    def start_offset(self) -> Offset:
        """The offset of the first record that can be here."""
        return self.start.end_offset

    @property
    def last(self) -> Batch:
        """The last batch of a log that holds any."""
        return self._batches[-1]

    def append(self, batch: Batch) -> None:
        """Add a batch at the end."""
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
        """Drop each batch that reaches past `end_offset`, and return where the log now ends."""
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
        """Drop what is below a snapshot of our own, and the epochs that end there."""
        assert self.start <= start, "the start of a log only moves up"
        assert start.end_offset <= self.end_offset, "a log is cleaned up to where it reaches"
        cleaned = bisect_left(self._bases, start.end_offset)
        del self._batches[:cleaned], self._bases[:cleaned]
        ended = bisect_left(self._epoch_starts, start.end_offset)
        del self._epochs[:ended], self._epoch_starts[:ended]
        self.start = start
        self._note_epochs()

    def reset(self, start: SnapshotId) -> None:
        """Drop all batches: a snapshot of the leader's takes their place."""
        for entries in (self._batches, self._bases, self._epochs, self._epoch_starts):
            entries.clear()
        self.start = start
        self.end_offset = start.end_offset
        self._note_epochs()
        self.generation += 1

    def _note_epochs(self) -> None:
        """The log has another start or end, and maybe another last epoch.

        The snapshot's last record is the log's last until another comes: keep its epoch.
        """
        is_known = bool(self._epochs) and self._epochs[0] <= self.start.epoch
        if self.start != LOG_BEGIN and not is_known:
            self._epochs.insert(0, self.start.epoch)
            self._epoch_starts.insert(0, self.start.end_offset)
        self.last_epoch = self._epochs[-1] if self._epochs else NO_RECORDS_EPOCH

    def end_offset_for_epoch(self, epoch: Epoch) -> EpochEnd:
        """The largest epoch at most `epoch` that has records, and where it ends (595-48)."""
        after = bisect_right(self._epochs, epoch)
        if after == 0:
            return EpochEnd(NO_RECORDS_EPOCH, self.start_offset)
        is_last = after == len(self._epochs)
        end = self.end_offset if is_last else self._epoch_starts[after]
        return EpochEnd(self._epochs[after - 1], end)

    def batches(self, offset: Offset, end_offset: Offset) -> Iterator[Batch]:
        """The batches from the one that starts at `offset` that end at or below `end_offset`."""
        for index in range(bisect_left(self._bases, offset), len(self._batches)):
            batch = self._batches[index]
            if batch.next_offset > end_offset:
                return
            yield batch

    def read(self, offset: Offset, max_bytes: int) -> tuple[Batch, ...]:
        """Whole batches from the one that holds `offset`, at least one, as `max_bytes` allows.

        All are of one epoch, so that a replica's next Fetch names, and the leader checks, each
        epoch that the replica has reached.
        """
        if offset >= self.end_offset:
            return ()
        if offset >= self._bases[-1]:
            return (self._batches[-1],)  # what most replicas lack
        first = max(bisect_right(self._bases, offset) - 1, 0)
        epoch = self._batches[first].epoch
        last, size = first, 0
        while last < len(self._batches) and self._batches[last].epoch == epoch:
            size += len(self._batches[last].records) * RECORD_ESTIMATE_BYTES
            if last > first and size > max_bytes:
                break
            last += 1
        return tuple(self._batches[first:last])
