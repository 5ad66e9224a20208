"""The metadata log on disk: segments of v2 batches in `__cluster_metadata-0` (KIP-595, 631-08).

Not: what is in it (the core holds the batches) or who is ahead. `append` only buffers; a flush
makes durable all that was appended before `start_flush`; `truncate` is durable when it returns.
Simplifications: no offset or time index, no retention, and recovery reads every segment. A crash
is taken to leave a prefix of what was written to each file: a damaged batch with others after
it is refused as corruption, never guessed away.
"""

from collections.abc import Callable

from node.storage.epochs import EpochCheckpoint
from node.storage.errors import CorruptLogError
from node.storage.filesystem import FileSystem, parent
from node.storage.segment import Segment, recover_segment, segment_offsets
from node.wire.batches import encode_batch
from node.wire.messages.batch import Batch

DIRECTORY_NAME = "__cluster_metadata-0"
DEFAULT_SEGMENT_BYTES = 1024 * 1024 * 1024


class MetadataLog:
    """The segments of one metadata log, the last of them open to append."""

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

    def __init__(self, filesystem: FileSystem, directory: str, segment_bytes: int) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._segments: list[Segment] = []
        self._directory_changed = False
        self._generation = 0
        self.end_offset = 0
        self.epochs = EpochCheckpoint(filesystem, directory)

    @classmethod
    def open(
        cls,
        filesystem: FileSystem,
        directory: str,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
    ) -> tuple["MetadataLog", list[Batch]]:
        """Recover the log of a directory, made if absent, and return it with its batches.

        Raises:
            CorruptLogError: damage that no crash of ours leaves.
        """
        if not filesystem.exists(directory):
            filesystem.make_directory(directory)
            filesystem.fsync_directory(parent(directory))
        log = cls(filesystem, directory, segment_bytes)
        return log, log._recover()

    def append(self, batch: Batch) -> None:
        """Write a batch at the end; it is durable after the next flush."""
        assert batch.base_offset == self.end_offset, "an append leaves no gap"
        data = encode_batch(batch)
        last = self._segments[-1]
        if last.size and last.size + len(data) > self._segment_bytes:
            last = self._roll()
        last.append(batch, data)
        self.end_offset = batch.next_offset
        self.epochs.appended(batch)

    def start_flush(self) -> Callable[[], None]:
        """Return the call that makes durable all appends until now; any thread may make it.

        The call does nothing once the log has been truncated: what it vouched for may be gone.
        """
        generation = self._generation
        fsync = self._segments[-1].start_fsync()
        directory = self._directory if self._directory_changed else None
        self._directory_changed = False

        def flush() -> None:
            if generation != self._generation:
                return
            fsync()
            if directory is not None:
                self._filesystem.fsync_directory(directory)

        return flush

    def truncate(self, end_offset: int) -> None:
        """Drop every batch at or above `end_offset`, durably; no flush may be running.

        Later segments go first and one by one, so that a crash leaves a log without a gap.
        """
        self._generation += 1
        while len(self._segments) > 1 and self._segments[-1].base_offset >= end_offset:
            segment = self._segments.pop()
            segment.close()
            self._filesystem.remove(segment.path)
            self._filesystem.fsync_directory(self._directory)
        self._segments[-1].truncate_to(end_offset)
        self.end_offset = min(self.end_offset, end_offset)
        self.epochs.truncated(end_offset)

    def close(self) -> None:
        """Let go of all files; what was not flushed stays at risk."""
        for segment in self._segments:
            segment.close()

    def _roll(self) -> Segment:
        """Begin a new segment; the old one must be durable before the new one can be found."""
        self._segments[-1].start_fsync()()
        return self._add_segment(self.end_offset)

    def _add_segment(self, base_offset: int) -> Segment:
        segment = Segment(self._filesystem, self._directory, base_offset)
        self._segments.append(segment)
        self._directory_changed = True
        return segment

    def _recover(self) -> list[Batch]:
        offsets = segment_offsets(self._filesystem.list_directory(self._directory)) or [0]
        batches: list[Batch] = []
        for index, base_offset in enumerate(offsets):
            segment = self._add_segment(base_offset)
            if base_offset != self.end_offset:
                raise CorruptLogError(
                    segment.path, 0, f"the log before it ends at {self.end_offset}"
                )
            is_last = index == len(offsets) - 1
            batches += recover_segment(self._filesystem, segment, is_last=is_last)
            self.end_offset = segment.end_offset
        self._make_durable()
        self.epochs.rebuild(batches)
        return batches

    def _make_durable(self) -> None:
        """What recovery has read counts as flushed, so it must not be at risk any more."""
        self._segments[-1].start_fsync()()
        self._filesystem.fsync_directory(self._directory)
        self._directory_changed = False
