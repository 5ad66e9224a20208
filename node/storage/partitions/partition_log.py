"""Store the log of one partition: the batches byte for byte, in the order of the leader.

See recovery.py for the start of a node.
"""

from collections.abc import Callable, Iterator, Sequence

from typing_extensions import override

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.log.recovered import LogSpan
from kraftproof.node.storage.epochs import EpochCheckpoint
from kraftproof.node.storage.filesystem import FileSystem, fsync_file, join, parent
from kraftproof.node.storage.partitions.partition_metadata import FILE_NAME
from kraftproof.node.storage.partitions.producer_history import ProducerHistory
from kraftproof.node.storage.segments.headers import PlacedHeader
from kraftproof.node.storage.segments.segment import Segment
from kraftproof.node.storage.segments.segmented_log import SegmentedLog
from kraftproof.node.wire.records.raw_batch import RawBatch


class PartitionLog(SegmentedLog):
    """The segments of a partition's log; the last segment is open for appends."""

    __slots__ = (
        "_durable",
        "_durable_floor",
        "_is_new",
        "_unsynced",
        "log",
        "producers",
        "start_offset",
        "topic",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        log: LogId,
        topic: str,
        *,
        segment_bytes: int,
        is_new: bool,
    ) -> None:
        epochs = EpochCheckpoint(filesystem, directory, is_durable=False)
        super().__init__(filesystem, directory, segment_bytes, epochs)
        self.log = log
        self.topic = topic
        self.start_offset = 0
        """The first visible offset; the first segment may begin below."""
        self.producers = ProducerHistory(filesystem, directory)
        self._is_new = is_new
        """Whether a loss of power may lose the directory."""
        self._unsynced: list[Segment] = []
        """The full segments that no fsync has covered."""
        self._durable = (0, 0)
        """Generation and end of the last finished flush, written by the thread of the flush."""
        self._durable_floor = 0
        """The durable end at the begin of the generation."""

    @property
    def directory(self) -> str:
        """Return the path of the directory."""
        return self._directory

    @property
    def size(self) -> int:
        """Return the stored bytes."""
        return sum(segment.size for segment in self._segments)

    @property
    def durable_end(self) -> int:
        """Return the offset below which the records are durable."""
        generation, end = self._durable
        return end if generation == self._generation else self._durable_floor

    def spans(self) -> tuple[LogSpan, ...]:
        """Return a span for each segment with records."""
        found, position = [], 0
        for segment in self._segments:
            if segment.size:
                found.append(LogSpan(Offset(segment.base_offset), position, segment.newest_ms))
            position += segment.size
        return tuple(found)

    def set_segment_bytes(self, segment_bytes: int) -> None:
        """Set the maximum size of segments from now on."""
        self._segment_bytes = segment_bytes

    def append(self, batch: RawBatch) -> None:
        """Append a batch; a compacted leader may leave gaps, but offsets never fall."""
        assert batch.base_offset >= self.end_offset, "offsets never fall along a log"
        self._append(
            batch.data, batch.base_offset, batch.next_offset, batch.epoch, batch.max_timestamp_ms
        )
        self.producers.note(batch)

    def note_epoch(self, epoch: int, start_offset: int) -> None:
        """Enter the epoch of a new leader."""
        self.epochs.appended(epoch, start_offset)

    def read(self, offset: int, end_offset: int, max_bytes: int, *, may_exceed: bool) -> bytes:
        """Return whole batches of one segment, from the batch that holds `offset`.

        Args:
            offset: The first wanted offset.
            end_offset: The largest offset after a returned batch.
            max_bytes: The maximum size.
            may_exceed: Whether a single larger batch is returned, if it is the first.

        Raises:
            WireError: a file no longer holds what was written.
        """
        if not self.start_offset <= offset < min(end_offset, self.end_offset):
            return b""
        for segment in self._segments[self._segment_of(offset) :]:
            if offset < segment.end_offset:
                return segment.read(offset, end_offset, max_bytes, may_exceed=may_exceed)
        return b""

    def headers(self) -> Iterator[PlacedHeader]:
        """Yield the header of each stored batch."""
        for segment in self._segments:
            yield from segment.headers()

    def segments_from(self, offset: int) -> Sequence[Segment]:
        """Return the segments from the segment that holds an offset."""
        return tuple(self._segments[self._segment_of(offset) :])

    @override
    def start_flush(self) -> Callable[[], None]:
        """Return a function, for any thread, that makes durable the appends before this call.

        A truncation meanwhile is harmless; a deletion meanwhile ends the work.
        """
        generation, end_offset = self._generation, self.end_offset
        files = [self.epochs.path] if self.epochs.take_changed() else []
        directories = [self._directory] if self._directory_changed or files else []
        if self._is_new:
            files.append(join(self._directory, FILE_NAME))
            directories = [self._directory, parent(self._directory)]
        self._is_new = self._directory_changed = False
        fsync = self._start_fsync()

        def flush() -> None:
            fsync()
            self._fsync_names(generation, files, directories)
            self._durable = (generation, end_offset)

        return flush

    def start_flush_of_full_segments(self) -> Callable[[], None]:
        """Return a function that makes durable the segments that take no more appends."""
        generation, end_offset = self._generation, self._segments[-1].base_offset
        if not self._unsynced or self._is_new:
            return _nothing
        fsync = self._start_fsync_of(self._unsynced)
        self._unsynced = []

        def flush() -> None:
            fsync()
            self._fsync_names(generation, [], [self._directory])
            if generation == self._generation and end_offset > self.durable_end:
                self._durable = (generation, end_offset)

        return flush

    def _fsync_names(
        self, generation: int, files: Sequence[str], directories: Sequence[str]
    ) -> None:
        try:
            for path in files:
                fsync_file(self._filesystem, path)
            for path in directories:
                self._filesystem.fsync_directory(path)
        except FileNotFoundError:
            if generation == self._generation:
                raise  # otherwise the log was deleted meanwhile

    @override
    def truncate(self, end_offset: int) -> None:
        """Remove every batch at or above `end_offset`, durably; the start may be within a batch."""
        self.producers.truncated()
        if end_offset <= self.start_offset:
            self.producers.keep(end_offset, self.headers(), self._newest_ms)
            self._begin_again(end_offset)
            self.producers.truncated()
            self.producers.removed()
            return
        floor = min(self.durable_end, end_offset)
        super().truncate(end_offset)
        self._begin_generation(floor)

    def restart(self, start_offset: int) -> None:
        """Remove all records, durably, and go on at an offset."""
        self._begin_again(start_offset)
        self.producers.restarted()

    def _begin_again(self, start_offset: int) -> None:
        self._restart(start_offset)
        self.start_offset = start_offset
        self.epochs.reset()
        self._begin_generation(start_offset)

    @property
    def _newest_ms(self) -> int:
        return max((segment.newest_ms for segment in self._segments), default=-1)

    def raise_start(self, start_offset: int) -> None:
        """Remove the whole segments below the new start; the caller has made the start durable."""
        assert start_offset <= self.end_offset, "a log starts within its records"
        self.start_offset = start_offset
        last = self._segments[-1]
        if start_offset >= self.end_offset and last.size:
            self._roll()
        first = self._segments[self._segment_of(start_offset)].base_offset
        if first > self._segments[0].base_offset:
            self.producers.keep(first, self.headers(), self._newest_ms)
            self._remove_below(start_offset)
            self.producers.removed()
        self._keep_unsynced()
        self.epochs.cleaned(start_offset)

    def retire(self, directory: str) -> None:
        """End the log: close the files, and move the directory; see log_names.py."""
        self._generation += 1
        self.close()
        self._filesystem.rename(self._directory, directory)

    def begin(self) -> None:
        """Make the first segment of a new log; the first append opens the file again."""
        self._add_segment(0).close()

    @property
    def has_segments(self) -> bool:
        """Return whether the log has a file."""
        return bool(self._segments)

    @property
    def first_offset(self) -> int:
        """Return the first stored offset; 0 without a segment."""
        return self._segments[0].base_offset if self._segments else 0

    def adopt(self, segment: Segment) -> None:
        """Add the next recovered segment."""
        self._segments.append(segment)
        self.end_offset = segment.end_offset

    def recovered(self, start_offset: int) -> None:
        """Begin generation 0 after the recovery; the recovered records count as durable."""
        self.start_offset = start_offset
        self._generation = 0
        self._begin_generation(self.end_offset)

    def _begin_generation(self, durable_end: int) -> None:
        self._durable_floor = durable_end
        self._durable = (self._generation, durable_end)
        self._keep_unsynced()

    def _keep_unsynced(self) -> None:
        """Forget the removed segments."""
        self._unsynced = [segment for segment in self._unsynced if segment in self._segments]

    @override
    def _roll(self) -> Segment:
        """Begin a new segment; the next flush covers the full segment, too."""
        full = self._segments[-1]
        full.close()
        self._unsynced.append(full)
        return self._add_segment(self.end_offset)

    @override
    def _start_fsync(self) -> Callable[[], None]:
        full, self._unsynced = self._unsynced, []
        fsync_full, fsync_last = self._start_fsync_of(full), self._segments[-1].start_fsync()

        def fsync() -> None:
            fsync_full()
            fsync_last()

        return fsync

    def _start_fsync_of(self, full: Sequence[Segment]) -> Callable[[], None]:
        fsyncs = []
        for segment in full:
            fsyncs.append(segment.start_fsync())
            segment.close()

        def fsync() -> None:
            for each in fsyncs:
                each()

        return fsync


def _nothing() -> None:
    """Stand for the flush of a log without full segments."""
