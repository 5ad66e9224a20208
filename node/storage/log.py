"""Store the metadata log as segments of batches, `__cluster_metadata-0` (KIP-595, 631-08).

`append` only buffers; a flush makes durable the appends before `start_flush`; `truncate` is durable
on return. The log starts at offset 0 or at the end of a snapshot, and segments below the start are
removed (KIP-630). The core holds the decoded batches.

Simplifications: the log has no offset or time index, and recovery reads every segment. A crash is
assumed to leave a prefix of the written bytes of each file: a damaged batch before other batches is
refused as corruption, and never repaired.
"""

from collections.abc import Callable, Sequence

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SNAPSHOTS_KEPT, SnapshotId
from kraftproof.node.storage.batch_codec import PLAIN, BatchCodec
from kraftproof.node.storage.epochs import EpochCheckpoint
from kraftproof.node.storage.errors import CorruptLogError, StorageError
from kraftproof.node.storage.filesystem import FileSystem, parent
from kraftproof.node.storage.segment import Segment, recover_segment, segment_offsets
from kraftproof.node.wire.records.batch import Batch

DIRECTORY_NAME = "__cluster_metadata-0"
DEFAULT_SEGMENT_BYTES = 1024 * 1024 * 1024


class MetadataLog:
    """The segments of the metadata log; the last segment is open for appends."""

    __slots__ = (
        "_codec",
        "_directory",
        "_directory_changed",
        "_filesystem",
        "_generation",
        "_segment_bytes",
        "_segments",
        "end_offset",
        "epochs",
        "start",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        segment_bytes: int,
        codec: BatchCodec = PLAIN,
    ) -> None:
        self._codec = codec
        self._filesystem = filesystem
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._segments: list[Segment] = []
        self._directory_changed = False
        self._generation = 0
        self.start = LOG_BEGIN
        """The end of the snapshot before the log, or LOG_BEGIN for a complete log."""
        self.end_offset = 0
        self.epochs = EpochCheckpoint(filesystem, directory)

    @classmethod
    def open(
        cls,
        filesystem: FileSystem,
        directory: str,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        snapshots: Sequence[SnapshotId] = (),
        durable_end: int = 0,
        codec: BatchCodec = PLAIN,
    ) -> tuple["MetadataLog", list[Batch]]:
        """Recover the log of a directory, created if missing, and return the log with its batches.

        Args:
            filesystem: The disk.
            directory: The directory of the segments.
            segment_bytes: Maximum size of a segment.
            snapshots: The complete snapshots, oldest first. If the newest is ahead of the log, a
                crash came between the installed download and the reset of the log.
            durable_end: The end of the log that is known to be durable; readable bytes may not be.
            codec: The encoding of batches.

        Raises:
            CorruptLogError: the damage cannot come from a crash of the node.
        """
        if not filesystem.exists(directory):
            filesystem.make_directory(directory)
            filesystem.fsync_directory(parent(directory))
        log = cls(filesystem, directory, segment_bytes, codec)
        return log, log._recover(snapshots, durable_end)

    def append(self, batch: Batch) -> None:
        """Append a batch, durable after the next flush."""
        assert batch.base_offset == self.end_offset, "an append leaves no gap"
        data = self._codec.encode(batch)
        last = self._segments[-1]
        if last.size and last.size + len(data) > self._segment_bytes:
            last = self._roll()
        last.append(batch, data)
        self.end_offset = last.end_offset
        self.epochs.appended(batch)

    def start_flush(self) -> Callable[[], None]:
        """Return a function, for any thread, that makes durable the appends before this call.

        After a truncation the function does nothing, since the appended batches may be gone.
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
        """Remove every batch at or above `end_offset`, durably; no flush may be running.

        Segments are removed from the last to the first, so that a crash leaves no gap.
        """
        self._generation += 1
        while len(self._segments) > 1 and self._segments[-1].base_offset >= end_offset:
            self._remove(self._segments.pop())
        self._segments[-1].truncate_to(end_offset)
        self.end_offset = min(self.end_offset, end_offset)
        self.epochs.truncated(end_offset)

    def clean(self, start: SnapshotId) -> None:
        """Start the log at the end of a snapshot; no flush may be running.

        A new segment begins here, so that a later call can remove the old segment as a whole.
        """
        if start == self.start:
            return
        self.start = start
        if self._segments[-1].size:
            self._roll()
        self._remove_below(start.end_offset)
        self.epochs.cleaned(start.end_offset)

    def reset(self, start: SnapshotId) -> None:
        """Restart the log at the end of a snapshot, durably; no flush may be running.

        The snapshot exists before, and the last segment is removed first. A crash leaves a log that
        ends below the snapshot, and recovery repeats the reset.
        """
        self._generation += 1
        while self._segments:
            self._remove(self._segments.pop())
        self.start = start
        self.end_offset = start.end_offset
        self._add_segment(start.end_offset)
        self._make_durable()
        self.epochs.reset()

    def close(self) -> None:
        """Close the files; unflushed batches may still be lost."""
        for segment in self._segments:
            segment.close()

    def _roll(self) -> Segment:
        """Begin a new segment after the old segment is durable."""
        self._segments[-1].start_fsync()()
        return self._add_segment(self.end_offset)

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

    def _recover(self, snapshots: Sequence[SnapshotId], durable_end: int) -> list[Batch]:
        offsets = segment_offsets(self._filesystem.list_directory(self._directory))
        first = offsets[0] if offsets else 0
        # Older snapshots are left over from a log that another snapshot has replaced.
        snapshots = [snapshot for snapshot in snapshots if snapshot.end_offset >= first]
        is_whole = bool(offsets) and first == 0 and len(snapshots) < SNAPSHOTS_KEPT
        if snapshots and not is_whole:
            self.start = snapshots[0]
        batches = self._read_segments(offsets or [self.start.end_offset])
        last_epoch = batches[-1].epoch if batches else self.start.epoch
        newest = snapshots[-1] if snapshots else LOG_BEGIN
        if (newest.epoch, newest.end_offset) > (last_epoch, self.end_offset):
            self.reset(newest)
            return []
        self._check_start(snapshots, batches)
        self._remove_below(self.start.end_offset)
        if self.end_offset > durable_end:
            # After a failed fsync, a system may treat lost pages as written, and a second fsync
            # does nothing. Only a rewritten file is certainly durable.
            self._segments[-1].write_again()
        self._make_durable()
        batches = [batch for batch in batches if batch.base_offset >= self.start.end_offset]
        self.epochs.rebuild(batches, self._segments[-1].base_offset)
        return batches

    def _read_segments(self, offsets: list[int]) -> list[Batch]:
        batches: list[Batch] = []
        self.end_offset = offsets[0]
        for index, base_offset in enumerate(offsets):
            segment = self._add_segment(base_offset)
            if base_offset != self.end_offset:
                raise CorruptLogError(
                    segment.path, 0, f"the previous segment ends at {self.end_offset}"
                )
            is_last = index == len(offsets) - 1
            batches += recover_segment(
                self._filesystem,
                segment,
                self._codec.decode,
                epoch_before=batches[-1].epoch if batches else 0,
                is_last=is_last,
            )
            self.end_offset = segment.end_offset
        return batches

    def _check_start(self, snapshots: Sequence[SnapshotId], batches: list[Batch]) -> None:
        """Check for a gap before the log, and for snapshots that end inside a batch."""
        first = self._segments[0]
        if first.base_offset > self.start.end_offset:
            raise StorageError(
                f"{first.path}: the log begins at offset {first.base_offset}, and no whole snapshot"
                " holds the earlier records; restore the snapshot, or clear the node's metadata"
                " directory if other voters are whole"
            )
        ends = {batch.next_offset: batch.epoch for batch in batches}
        for snapshot in snapshots:
            if snapshot.end_offset <= first.base_offset:
                continue
            if ends.get(snapshot.end_offset) != snapshot.epoch:
                raise StorageError(
                    f"{self._directory}: the snapshot that ends at offset {snapshot.end_offset} of"
                    f" epoch {snapshot.epoch} does not belong to this log; remove it"
                )

    def _make_durable(self) -> None:
        """Make the recovered batches durable, since the core counts them as flushed."""
        self._segments[-1].start_fsync()()
        self._filesystem.fsync_directory(self._directory)
        self._directory_changed = False
