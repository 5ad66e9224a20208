"""The log of a partition as plain lists: what the node's storage of partitions must do."""

from collections.abc import Iterator
from typing import Final

from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid

HOMES: Final = {"/d1": Uuid(b"\1" * 16), "/d2": Uuid(b"\2" * 16)}
"""The log directories of a node, with their ids."""
TOPIC: Final = "topic.a"
DAY_MS = 86_400_000
PRODUCER_BATCHES = 5
LOG_APPEND_TIME = 8
Record = tuple[int, int, int]
"""Offset, timestamp and epoch."""
Facts = tuple[int, int, int, int, int, int]
Names = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]


def facts_of(batch: RawBatch) -> Facts:
    """Return what the storage knows of a producer's batch after a start."""
    return (
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.base_offset,
        batch.last_offset,
        batch.max_timestamp_ms,
    )


class ModelLog:
    """A log of segments, each with its first offset and its batches."""

    def __init__(self, segment_bytes: int) -> None:
        self.segment_bytes = segment_bytes
        self.segments: list[tuple[int, list[RawBatch]]] = [(0, [])]
        self.start = 0
        self.end = 0
        self.has_durable_epochs = False
        """Whether the last change of the file of epochs was before the last flush."""
        self.epochs: list[tuple[int, int]] = []
        self.durable_end = 0
        self.is_flushed = False
        """Whether a flush has made the directory durable."""
        self.flushed_names: Names | None = None
        """Segments and epochs at the begin of the last flush; None after a cut or a start."""
        self.full: list[int] = []
        """First offsets of the full segments that no flush has covered."""
        self.kept: list[RawBatch] = []
        """The last batch of each producer whose segment was removed."""
        self.high_watermark = 0
        self.written_watermark = 0
        """The high watermark in the checkpoint file."""
        self.times: dict[int, list[int]] = {}
        """The timestamps of the records of each batch, by its first offset."""

    @property
    def batches(self) -> list[RawBatch]:
        """Return the stored batches."""
        return [batch for _, batches in self.segments for batch in batches]

    @property
    def names(self) -> Names:
        """Return the first offset of each segment, and the epochs with their start offsets."""
        return tuple(base for base, _ in self.segments), tuple(self.epochs)

    @property
    def epochs(self) -> list[tuple[int, int]]:
        """Return the epochs with their start offsets."""
        return self._epochs

    @epochs.setter
    def epochs(self, epochs: list[tuple[int, int]]) -> None:
        self._epochs, self.has_durable_epochs = epochs, False

    @property
    def newest_ms(self) -> int:
        """Return the newest timestamp of the stored batches."""
        return max([batch.max_timestamp_ms for batch in self.batches], default=-1)

    def append(self, batch: RawBatch) -> None:
        """Append a batch, to a new segment if the last one is full."""
        size = sum(len(one.data) for one in self.segments[-1][1])
        if size and size + len(batch.data) > self.segment_bytes:
            self._roll()
        self.segments[-1][1].append(batch)
        self.end = batch.next_offset
        self.note_epoch(batch.epoch, batch.base_offset)

    def _roll(self) -> None:
        self.full.append(self.segments[-1][0])
        self.segments.append((self.end, []))

    def note_epoch(self, epoch: int, start: int) -> None:
        """Enter an epoch, which replaces epochs without records."""
        if not self.epochs or self.epochs[-1][0] < epoch:
            self.epochs = [one for one in self.epochs if one[1] < start] + [(epoch, start)]

    def flush(self) -> None:
        """Make everything durable."""
        self.full, self.durable_end, self.is_flushed = [], self.end, True
        self.has_durable_epochs = True

    def flush_full(self) -> None:
        """Make the full segments durable, as before a checkpoint."""
        if self.full and self.is_flushed:
            self.full, self.durable_end = [], max(self.durable_end, self.segments[-1][0])

    def truncate(self, end: int) -> None:
        """Remove the batches from an offset on."""
        if end <= self.start:
            self.kept = self._last_below(end)
            self._begin_again(end)
            return
        while len(self.segments) > 1 and self.segments[-1][0] >= end:
            self.segments.pop()
        base, batches = self.segments.pop()
        self.segments.append((base, [one for one in batches if one.base_offset < end]))
        self.end = min(end, self.end)
        self.durable_end = min(self.durable_end, end)
        self.epochs = [one for one in self.epochs if one[1] < end]
        self._forget_full()

    def restart(self, offset: int) -> None:
        """Drop all records."""
        self.kept = []
        self._begin_again(offset)

    def _begin_again(self, offset: int) -> None:
        self.segments = [(offset, [])]
        self.start = self.end = self.durable_end = offset
        self.epochs = []
        self._forget_full()

    def raise_start(self, start: int) -> None:
        """Raise the start, and remove the whole segments below."""
        self.start = start
        if start >= self.end and self.segments[-1][1]:
            self._roll()
        above = [base for base, _ in self.segments if base <= start][-1]
        if above > self.segments[0][0]:
            self.kept = self._last_below(above)
            self.segments = [one for one in self.segments if one[0] >= above]
        below = [one for one in self.epochs if one[1] <= start]
        later = [one for one in self.epochs if one[1] > start]
        self.epochs = [(one[0], start) for one in below[-1:]] + later
        self._forget_full()

    def _forget_full(self) -> None:
        self.full = [one for one in self.full if one in dict(self.segments)]
        self.flushed_names = None

    def producers(self, batches: list[RawBatch]) -> list[RawBatch]:
        """Return the last batches of each producer, the kept ones before the others."""
        every = [one for one in self.kept + batches if one.producer_id != -1]
        return [
            one
            for place, one in enumerate(every)
            if sum(later.producer_id == one.producer_id for later in every[place:])
            <= PRODUCER_BATCHES
        ]

    def producers_below(self, end: int) -> list[Facts]:
        """Return the last batches of each producer below an offset."""
        stored = []
        for batch in self.batches:
            if batch.next_offset > end:
                break
            stored.append(batch)
        found = sorted(self.producers(stored), key=lambda one: one.base_offset)
        return [facts_of(one) for one in found]

    def producers_at_start(self, high_watermark: int) -> list[Facts]:
        """Return the last committed batches of each producer, and the batches above."""
        stored = self.batches
        committed = [one for one in stored if one.next_offset <= high_watermark]
        above = [one for one in stored[len(committed) :] if one.producer_id != -1]
        found = sorted(self.producers(committed) + above, key=lambda one: one.base_offset)
        return [facts_of(one) for one in found]

    def _last_below(self, offset: int) -> list[RawBatch]:
        oldest_ms = self.newest_ms - DAY_MS
        last = {
            one.producer_id: one
            for one in sorted(self.producers(self.batches), key=lambda one: one.base_offset)
            if one.next_offset <= offset and one.max_timestamp_ms >= oldest_ms
        }
        return list(last.values())

    def read(self, offset: int, end: int, max_bytes: int, *, may_exceed: bool) -> bytes:
        """Return whole batches of a segment, from the batch that holds an offset."""
        if not self.start <= offset < min(end, self.end):
            return b""
        for _, batches in self.segments:
            rest = [one for one in batches if one.next_offset > offset]
            if not rest:
                continue
            data = b""
            for one in rest:
                if one.next_offset > end or len(data) + len(one.data) > max_bytes:
                    break
                data += one.data
            is_first = not data and may_exceed and rest[0].next_offset <= end
            return rest[0].data if is_first else data
        return b""

    def records(self, start: int, end: int) -> Iterator[Record]:
        """Yield offset, time and epoch of the records between two offsets."""
        for batch in self.batches:
            for offset, time_ms in self.times_of(batch):
                if start <= offset < end:
                    yield offset, time_ms, batch.epoch

    def times_of(self, batch: RawBatch) -> list[tuple[int, int]]:
        """Return offset and time of each record of a batch."""
        if batch.attributes & LOG_APPEND_TIME:
            offsets = range(batch.base_offset, batch.next_offset)
            return [(offset, batch.max_timestamp_ms) for offset in offsets]
        times = self.times[batch.base_offset]
        return [(batch.base_offset + place, time_ms) for place, time_ms in enumerate(times)]

    def find_time(self, time_ms: int, start: int, end: int) -> Record | None:
        """Return the first record that is as new as a time."""
        return next((one for one in self.records(start, end) if one[1] >= time_ms), None)

    def find_newest(self, start: int, end: int) -> Record | None:
        """Return the first newest record of the first newest batch within two offsets."""
        newest: RawBatch | None = None
        for batch in self.batches:
            newest_ms = -1 if newest is None else newest.max_timestamp_ms
            is_within = batch.next_offset > start and batch.next_offset <= end
            if is_within and batch.max_timestamp_ms > newest_ms:
                newest = batch
        if newest is None:
            return None
        found = (one for one in self.times_of(newest) if one[1] >= newest.max_timestamp_ms)
        first = next((one for one in found if one[0] >= start), None)
        return None if first is None else (*first, newest.epoch)
