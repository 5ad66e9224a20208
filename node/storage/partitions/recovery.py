"""Recover the log of a partition from its directory, as Kafka's LogLoader does.

After a clean stop the headers are read. After an unclean stop the segments above the recovery point
are checked batch by batch: the log ends before the first batch that is damaged or out of order, and
the leader, or the other replicas of a new leader, have the rest. Damage below the recovery point
cannot come from a crash: the log is refused in one line, and stays as it is.
"""

from collections.abc import Iterator

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.events import MOST_UNCOMMITTED
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.storage.errors import DamagedPartitionError
from kraftproof.node.storage.filesystem import FileSystem, join
from kraftproof.node.storage.partitions.partition_log import PartitionLog
from kraftproof.node.storage.partitions.producer_files import RecentProducers
from kraftproof.node.storage.segments.headers import PlacedHeader, read_headers
from kraftproof.node.storage.segments.segment import Segment, segment_offsets
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid


class LogCheckpoints(Struct, frozen=True, kw_only=True):
    """The offsets of a log from the checkpoint files of its log directory."""

    is_clean: bool
    """Whether the node ended in order, so that the whole log is durable."""
    start_offset: int = 0
    recovery_point: int = 0
    high_watermark: int = 0


class _Recovery:
    """One pass over the segments of a log."""

    def __init__(
        self, filesystem: FileSystem, log: PartitionLog, checkpoints: LogCheckpoints
    ) -> None:
        self._filesystem = filesystem
        self._log = log
        self._checkpoints = checkpoints
        self._last_epoch = -1
        names = filesystem.list_directory(log.directory)
        self._offsets = segment_offsets(names)
        first = self._offsets[0] if self._offsets else 0
        log.producers.recover(first)
        self._committed = RecentProducers(log.producers.batches())
        self._uncommitted = RecentProducers(most=MOST_UNCOMMITTED)
        self.epoch_starts: list[tuple[int, int]] = []

    def read(self) -> Iterator[Segment]:
        """Yield the sound segments in their order, each opened and indexed."""
        offsets = self._offsets
        for index, base_offset in enumerate(offsets):
            end = offsets[index + 1] if index + 1 < len(offsets) else None
            is_durable = self._checkpoints.is_clean or (
                end is not None and end <= self._checkpoints.recovery_point
            )
            segment = Segment(self._filesystem, self._log.directory, base_offset)
            segment.close()
            damage = self._read_segment(segment, check_crc=not is_durable)
            if damage is None and end is not None and end != segment.end_offset:
                damage = (
                    f"the segment ends at offset {segment.end_offset}, the next begins at {end}"
                )
            if damage is None:
                yield segment
                continue
            if is_durable:
                raise DamagedPartitionError(
                    f"{segment.path}: corrupt at byte {segment.size} ({damage}), where a crash can"
                    " damage nothing; restore the file, or remove the partition's directory if"
                    " other replicas are whole"
                )
            self._cut(segment, offsets[index + 1 :])
            yield segment
            return

    def _read_segment(self, segment: Segment, *, check_crc: bool) -> str | None:
        """Index the sound batches of a segment; return the damage after them, if any."""
        size = self._filesystem.size(segment.path)
        try:
            for batch in read_headers(self._filesystem, segment.path, 0, size, check_crc=check_crc):
                damage = self._note(segment, batch)
                if damage is not None:
                    return damage
        except WireError as error:
            return str(error)
        return None

    def _note(self, segment: Segment, batch: PlacedHeader) -> str | None:
        header = batch.header
        if header.base_offset < segment.end_offset:
            return f"offset {header.base_offset} after {segment.end_offset}"
        if header.epoch < self._last_epoch:
            return f"epoch {header.epoch} after {self._last_epoch}"
        if header.epoch > self._last_epoch:
            self._last_epoch = header.epoch
            self.epoch_starts.append((header.epoch, header.base_offset))
        self._log.producers.note(header)
        is_committed = header.next_offset <= self._checkpoints.high_watermark
        (self._committed if is_committed else self._uncommitted).note(header)
        segment.add(header.base_offset, header.next_offset, header.max_timestamp_ms, batch.length)
        return None

    def producer_batches(self) -> tuple[RawBatch, ...]:
        """Return the last committed batches of each producer, and the batches after them.

        The leader may have other batches above the high watermark: a truncation then needs the
        committed batches, which may be older than the last few.
        """
        return (*self._committed.batches(), *self._uncommitted.batches())

    def _cut(self, segment: Segment, later: list[int]) -> None:
        """Remove the damaged end of the log, the last segment first."""
        for base_offset in reversed(later):
            after = Segment(self._filesystem, self._log.directory, base_offset)
            after.close()
            self._filesystem.remove(after.path)
            self._filesystem.fsync_directory(self._log.directory)
        segment.cut(segment.size)


def recover_log(
    filesystem: FileSystem,
    directory: str,
    log: LogId,
    topic: str,
    directory_id: Uuid,
    *,
    segment_bytes: int,
    checkpoints: LogCheckpoints,
) -> tuple[PartitionLog, RecoveredLog]:
    """Open the log of a directory, and return the log with its description.

    After an unclean stop, the segments above the recovery point are written again: after a failed
    fsync, a system may treat lost pages as written, and a second fsync does nothing.

    Raises:
        DamagedPartitionError: the log is damaged where a crash damages nothing.
    """
    for name in filesystem.list_directory(directory):
        if name.endswith(".tmp"):
            filesystem.remove(join(directory, name))
    found = PartitionLog(
        filesystem,
        directory,
        log,
        topic,
        segment_bytes=segment_bytes,
        is_new=not checkpoints.is_clean,
    )
    recovery = _Recovery(filesystem, found, checkpoints)
    for segment in recovery.read():
        found.adopt(segment)
        if not checkpoints.is_clean and segment.end_offset > checkpoints.recovery_point:
            segment.write_again()
    start = max(checkpoints.start_offset, found.first_offset)
    is_whole = found.has_segments and found.end_offset >= start
    if not is_whole:
        found.restart(start)
    found.recovered(start)
    found.epochs.recovered(recovery.epoch_starts, found.end_offset)
    found.epochs.cleaned(start)
    if not checkpoints.is_clean:
        found.start_flush()()
    found.close()
    high_watermark = min(max(checkpoints.high_watermark, start), found.end_offset)
    return found, RecoveredLog(
        log=log,
        topic=topic,
        directory=directory_id,
        start_offset=Offset(start),
        end_offset=Offset(found.end_offset),
        high_watermark=Offset(high_watermark),
        epochs=tuple((Epoch(epoch), Offset(begin)) for epoch, begin in found.epochs.entries),
        spans=found.spans(),
        size=found.size,
        producer_batches=recovery.producer_batches() if is_whole else (),
    )


def recent_producers(log: PartitionLog, end_offset: int) -> tuple[RawBatch, ...]:
    """Return the last batches of each producer below an offset; see ReadProducers."""
    return log.producers.below(log.headers(), end_offset)
