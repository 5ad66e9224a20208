"""Store a log as segments of batches, each log in a directory of its own.

`_append` only buffers; a flush makes durable the appends before `start_flush`; `truncate` is
durable on return. MetadataLog and PartitionLog add the start of the log and the recovery.
"""

from bisect import bisect_right
from collections.abc import Callable
from operator import attrgetter

from kraftproof.node.storage.epochs import EpochCheckpoint
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.segments.segment import Segment

_BASE_OFFSET = attrgetter("base_offset")


class SegmentedLog:
    """The segments of a log; the last segment is open for appends."""

    __slots__ = (
        "_directory",
        "_directory_changed",
        "_filesystem",
        "_generation",
        "_segment_bytes",
        "_segments",
        "end_offset",
        "epochs",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        segment_bytes: int,
        epochs: EpochCheckpoint,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._segments: list[Segment] = []
        self._directory_changed = False
        self._generation = 0
        self.end_offset = 0
        """The offset after the last record."""
        self.epochs = epochs

    @property
    def generation(self) -> int:
        """Return the number of truncations and restarts since the start of the node."""
        return self._generation

    def truncate(self, end_offset: int) -> None:
        """Remove every batch at or above `end_offset`, durably.

        Segments are removed from the last to the first, so that a crash leaves no gap.
        """
        self._generation += 1
        while len(self._segments) > 1 and self._segments[-1].base_offset >= end_offset:
            self._remove(self._segments.pop())
        self._segments[-1].truncate_to(end_offset)
        self._directory_changed = True  # a flush that has begun, and now does nothing, has taken it
        self.end_offset = min(self.end_offset, end_offset)
        self.epochs.truncated(end_offset)

    def close(self) -> None:
        """Close the files; unflushed batches may still be lost."""
        for segment in self._segments:
            segment.close()

    def start_flush(self) -> Callable[[], None]:
        """Return a function, for any thread, that makes durable the appends before this call.

        After a truncation the function does nothing, since the appended batches may be gone.
        """
        generation = self._generation
        fsync = self._start_fsync()
        directory = self._directory if self._directory_changed else None
        self._directory_changed = False

        def flush() -> None:
            if generation != self._generation:
                return
            fsync()
            if directory is not None:
                self._filesystem.fsync_directory(directory)

        return flush

    def _append(
        self, data: bytes, base_offset: int, next_offset: int, epoch: int, newest_ms: int
    ) -> None:
        last = self._segments[-1]
        if last.size and last.size + len(data) > self._segment_bytes:
            last = self._roll()
        last.append(data, base_offset, next_offset, newest_ms)
        self.end_offset = next_offset
        self.epochs.appended(epoch, base_offset)

    def _start_fsync(self) -> Callable[[], None]:
        return self._segments[-1].start_fsync()

    def _roll(self) -> Segment:
        """Begin a new segment after the old segment is durable."""
        self._segments[-1].start_fsync()()
        return self._add_segment(self.end_offset)

    def _restart(self, start_offset: int) -> None:
        """Remove all records, durably, and go on at an offset; the last segment goes first."""
        self._generation += 1
        while self._segments:
            self._remove(self._segments.pop())
        self.end_offset = start_offset
        self._add_segment(start_offset)
        self._make_durable()

    def _add_segment(self, base_offset: int) -> Segment:
        segment = Segment(self._filesystem, self._directory, base_offset)
        self._segments.append(segment)
        self._directory_changed = True
        return segment

    def _remove(self, segment: Segment) -> None:
        segment.close()
        self._filesystem.remove(segment.path)
        self._filesystem.fsync_directory(self._directory)

    def _remove_below(self, start_offset: int) -> None:
        while len(self._segments) > 1 and self._segments[1].base_offset <= start_offset:
            self._remove(self._segments.pop(0))

    def _segment_of(self, offset: int) -> int:
        """Return the index of the segment that holds an offset."""
        return max(bisect_right(self._segments, offset, key=_BASE_OFFSET) - 1, 0)

    def _make_durable(self) -> None:
        """Make the last segment and the names of all segments durable."""
        self._segments[-1].start_fsync()()
        self._filesystem.fsync_directory(self._directory)
        self._directory_changed = False
