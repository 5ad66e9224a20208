"""Index a partition's log: offsets, leader epochs, and estimated sizes.

The core holds this index and never the data. The table of sizes has at most MOST_SPANS entries:
a full table merges neighbours, so that memory is bounded however long the log grows. Positions
between entries are interpolated. See epoch_cache.py for the epochs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.partition.epoch_cache import EpochCache, EpochStart

FIRST_OFFSET: Final = Offset(0)
MOST_SPANS: Final = 512
FIRST_SPAN_BYTES: Final = 4096
"""The size of a span until the first merge, as index.interval.bytes of Kafka."""


class Span(Struct, gc=False):
    """A run of batches: the first offset, the bytes before, and the newest timestamp within."""

    offset: Offset
    position: int
    newest_ms: int


class LogIndex:
    """The offsets, epochs and sizes of a log."""

    __slots__ = (
        "_span_bytes",
        "_spans",
        "end_offset",
        "epochs",
        "flushed_offset",
        "generation",
        "high_watermark",
        "log",
        "size",
        "start_offset",
    )

    def __init__(
        self,
        log: LogId,
        *,
        start_offset: Offset = FIRST_OFFSET,
        epochs: Sequence[EpochStart] = (),
        generation: int = 0,
    ) -> None:
        self.log = log
        self.start_offset = start_offset
        self.end_offset = start_offset
        """The offset of the next record."""
        self.flushed_offset = start_offset
        """The records below are on the disk."""
        self.high_watermark = start_offset
        """The records below are committed, as far as this replica knows."""
        self.epochs = EpochCache(epochs)
        self.generation = generation
        """Number of truncations: a Flushed of an older generation is no proof."""
        self.size = 0
        """The bytes of the log, counted from the start of this index."""
        self._spans: list[Span] = []
        self._span_bytes = FIRST_SPAN_BYTES

    def restore(self, end_offset: Offset, spans: Sequence[Span], size: int) -> None:
        """Take over the records of a recovered log."""
        self.end_offset = max(end_offset, self.start_offset)
        self._spans = list(spans)
        self.size = size
        while len(self._spans) > MOST_SPANS:
            self._merge_if_full()

    def append(
        self, base_offset: Offset, next_offset: Offset, epoch: Epoch, size: int, newest_ms: int
    ) -> None:
        """Add a batch at the end of the log."""
        assert base_offset == self.end_offset, "a batch follows the end of the log"
        self.epochs.assign(epoch, base_offset)
        last = self._spans[-1] if self._spans else None
        if last is None or self.size - last.position >= self._span_bytes:
            self._spans.append(Span(base_offset, self.size, newest_ms))
            self._merge_if_full()
        else:
            last.newest_ms = max(last.newest_ms, newest_ms)
        self.size += size
        self.end_offset = next_offset

    def truncate(self, end_offset: Offset) -> None:
        """Remove the records at or above the base offset of a batch."""
        if end_offset >= self.end_offset:
            return
        size = self.position_of(end_offset)
        del self._spans[bisect_left(self._offsets(), end_offset) :]
        self.size = size
        self.end_offset = max(end_offset, self.start_offset)
        self.flushed_offset = min(self.flushed_offset, self.end_offset)
        self.high_watermark = min(self.high_watermark, self.end_offset)
        self.epochs.truncate(self.end_offset)
        self.generation += 1

    def restart(self, offset: Offset) -> None:
        """Remove every record, and continue at an offset."""
        self.start_offset = self.end_offset = self.flushed_offset = offset
        self.high_watermark = offset
        self.size = 0
        self._spans.clear()
        self.epochs.clear()
        self.generation += 1

    def raise_start(self, offset: Offset) -> None:
        """Forget the records below an offset within the log."""
        assert self.start_offset <= offset <= self.end_offset, "the start stays within the log"
        self.start_offset = offset
        self.high_watermark = max(self.high_watermark, offset)
        self.epochs.raise_start(offset)
        # Without records, a span would keep the time of a deleted record.
        is_empty = offset == self.end_offset
        gone = len(self._spans) if is_empty else bisect_right(self._offsets(), offset) - 1
        del self._spans[: max(gone, 0)]

    def position_of(self, offset: Offset) -> int:
        """Return the estimated number of bytes before an offset."""
        if offset >= self.end_offset:
            return self.size
        index = bisect_right(self._offsets(), offset) - 1
        if index < 0:
            return self._spans[0].position if self._spans else self.size
        span = self._spans[index]
        is_last = index + 1 == len(self._spans)
        after_offset = self.end_offset if is_last else self._spans[index + 1].offset
        after_position = self.size if is_last else self._spans[index + 1].position
        share = (after_position - span.position) * (offset - span.offset)
        return span.position + share // max(after_offset - span.offset, 1)

    def bytes_between(self, offset: Offset, end_offset: Offset) -> int:
        """Return the estimated bytes of the records from `offset` to below `end_offset`."""
        if offset >= end_offset:
            return 0
        return max(self.position_of(end_offset) - self.position_of(offset), 1)

    def boundary_at(self, offset: Offset) -> Offset:
        """Return the last known base offset of a batch up to `offset`; `offset` if at the end."""
        if offset >= self.end_offset:
            return self.end_offset
        index = bisect_right(self._offsets(), offset) - 1
        return self._spans[index].offset if index >= 0 else self.start_offset

    def spans(self) -> Sequence[Span]:
        """Return the spans of the log in order of offsets; see retention.py."""
        return self._spans

    def _offsets(self) -> list[Offset]:
        return [span.offset for span in self._spans]

    def _merge_if_full(self) -> None:
        """Merge each pair of neighbours, and double the size of a span."""
        if len(self._spans) <= MOST_SPANS:
            return
        merged = self._spans[::2]
        for kept, dropped in zip(merged, self._spans[1::2], strict=False):
            kept.newest_ms = max(kept.newest_ms, dropped.newest_ms)
        self._spans = merged
        self._span_bytes *= 2
