"""Store a segment of the metadata log: a file of encoded batches, with their positions.

The file's name is the offset of the first record. See node/storage/log.py for the whole log.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable

from kraftproof.node.storage.errors import CorruptLogError
from kraftproof.node.storage.filesystem import AppendHandle, FileSystem, join, replace_durably
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import BatchHeader, TornTailError, scan_batches

SUFFIX = ".log"
NAME_DIGITS = 20


def segment_name(base_offset: int) -> str:
    """Return the file name of a segment."""
    return f"{base_offset:0{NAME_DIGITS}d}{SUFFIX}"


def segment_offsets(names: list[str]) -> list[int]:
    """Return the base offsets of the segments in a directory, in ascending order."""
    stems = [name[: -len(SUFFIX)] for name in names if name.endswith(SUFFIX)]
    return sorted(int(stem) for stem in stems if len(stem) == NAME_DIGITS and stem.isdecimal())


class Segment:
    """An open segment with the position of each batch, 16 bytes for a batch."""

    __slots__ = (
        "_filesystem",
        "_handle",
        "_offsets",
        "_positions",
        "base_offset",
        "end_offset",
        "path",
        "size",
    )

    def __init__(self, filesystem: FileSystem, directory: str, base_offset: int) -> None:
        self._filesystem = filesystem
        self.base_offset = base_offset
        self.end_offset = base_offset
        self.path = join(directory, segment_name(base_offset))
        self.size = 0
        self._handle: AppendHandle = filesystem.append_to(self.path)
        self._offsets = array("q")
        self._positions = array("q")

    def append(self, batch: Batch, data: bytes) -> None:
        """Append an encoded batch; not yet durable."""
        self._handle.write(data)
        self.index(batch, len(data))

    def index(self, batch: Batch, length: int) -> None:
        """Add the position of a batch at the end."""
        self._offsets.append(batch.base_offset)
        self._positions.append(self.size)
        self.end_offset = batch.next_offset
        self.size += length

    def start_fsync(self) -> Callable[[], None]:
        """Return a function that makes durable the bytes written before this call."""
        return self._handle.start_fsync()

    def truncate_to(self, end_offset: int) -> None:
        """Remove the batches from `end_offset` on, durably."""
        if end_offset >= self.end_offset:
            return
        kept = bisect_left(self._offsets, end_offset)
        is_between = kept < len(self._offsets) and self._offsets[kept] == end_offset
        assert is_between, "a log is cut between batches"
        self.cut(self._positions[kept])
        del self._offsets[kept:]
        del self._positions[kept:]
        self.end_offset = end_offset

    def cut(self, size: int) -> None:
        """Truncate the file to `size` bytes, durably."""
        self._handle.truncate(size)
        self._handle.start_fsync()()
        self.size = size

    def write_again(self) -> None:
        """Replace the file by a copy with the same content, durably."""
        self._handle.close()
        replace_durably(self._filesystem, self.path, self._filesystem.read(self.path))
        self._handle = self._filesystem.append_to(self.path)

    def close(self) -> None:
        """Close the file."""
        self._handle.close()


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
            segment.index(batch, length)
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
