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
from kraftproof.node.storage.segments.segment import Segment, segment_offsets
from kraftproof.node.storage.segments.segmented_log import SegmentedLog
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import BatchHeader, TornTailError, scan_batches

DIRECTORY_NAME = "__cluster_metadata-0"
DEFAULT_SEGMENT_BYTES = 1024 * 1024 * 1024


class MetadataLog(SegmentedLog):
    """The segments of the metadata log; the last segment is open for appends."""

    __slots__ = ("_codec", "start")

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        segment_bytes: int,
        codec: BatchCodec = PLAIN,
    ) -> None:
        super().__init__(
            filesystem, directory, segment_bytes, EpochCheckpoint(filesystem, directory)
        )
        self._codec = codec
        self.start = LOG_BEGIN
        """The end of the snapshot before the log, or LOG_BEGIN for a complete log."""

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
        self._append(data, batch.base_offset, batch.next_offset, batch.epoch, batch.timestamp_ms)

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
        self.start = start
        self._restart(start.end_offset)
        self.epochs.reset()

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
        starts = ((batch.epoch, batch.base_offset) for batch in batches)
        self.epochs.rebuild(starts, self._segments[-1].base_offset)
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


def recover_segment(
    filesystem: FileSystem,
    segment: Segment,
    decode: Callable[[memoryview], Batch],
    *,
    epoch_before: int,
    is_last: bool,
) -> list[Batch]:
    """Read a segment's batches, and cut an incomplete write off the end of the log.

    Args:
        filesystem: The disk.
        segment: The segment, still empty in memory.
        decode: The decoder of a batch.
        epoch_before: The epoch of the batch before the segment.
        is_last: Whether the segment is the last of the log.

    Raises:
        CorruptLogError: the damage cannot come from a crash of the node.
    """
    data = memoryview(filesystem.read(segment.path))
    batches: list[Batch] = []
    try:
        for position, length, header in scan_batches(data):
            _check_order(segment, position, header, batches[-1].epoch if batches else epoch_before)
            try:
                batch = decode(data[position : position + length])
            except WireError as error:
                raise CorruptLogError(segment.path, position, str(error)) from error
            batches.append(batch)
            segment.add(batch.base_offset, batch.next_offset, batch.timestamp_ms, length)
    except TornTailError as error:
        if not is_last:
            raise CorruptLogError(segment.path, error.position, str(error)) from error
        segment.cut(error.position)
    except WireError as error:
        raise CorruptLogError(segment.path, segment.size, str(error)) from error
    return batches


def _check_order(segment: Segment, position: int, header: BatchHeader, last_epoch: int) -> None:
    """Check offset and epoch by order, since the CRC does not cover them."""
    if header.base_offset != segment.end_offset:
        reason = f"offset {header.base_offset} instead of {segment.end_offset}"
        raise CorruptLogError(segment.path, position, reason)
    if header.epoch < last_epoch:
        reason = f"epoch {header.epoch} after {last_epoch}: one of the two is wrong"
        raise CorruptLogError(segment.path, position, reason)
