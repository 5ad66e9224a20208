"""Store a segment of a log: a file of batches, whose name is the offset of the first record.

See segmented_log.py for the whole log.
"""

from collections.abc import Callable, Iterator
from typing import Final

from kraftproof.node.storage.filesystem import AppendHandle, FileSystem, join, rewrite_durably
from kraftproof.node.storage.segments.headers import PlacedHeader, read_headers, whole_batches
from kraftproof.node.storage.segments.sparse_index import NO_TIMESTAMP, SparseIndex
from kraftproof.node.wire.records.raw_batch import IncompleteBatchError

SUFFIX: Final = ".log"
NAME_DIGITS: Final = 20
MOST_READ_ENDS: Final = 16
"""Number of ends of reads of a segment whose positions are remembered."""


def segment_name(base_offset: int) -> str:
    """Return the file name of a segment."""
    return f"{base_offset:0{NAME_DIGITS}d}{SUFFIX}"


def segment_offsets(names: list[str]) -> list[int]:
    """Return the base offsets of the segments in a directory, in ascending order."""
    stems = [name[: -len(SUFFIX)] for name in names if name.endswith(SUFFIX)]
    return sorted(int(stem) for stem in stems if len(stem) == NAME_DIGITS and stem.isdecimal())


class Segment:
    """A segment with its index in memory."""

    __slots__ = (
        "_directory",
        "_filesystem",
        "_handle",
        "_index",
        "_read_ends",
        "base_offset",
        "end_offset",
        "newest_ms",
        "size",
    )

    def __init__(self, filesystem: FileSystem, directory: str, base_offset: int) -> None:
        self._filesystem = filesystem
        self.base_offset = base_offset
        self.end_offset = base_offset
        self._directory = directory
        self.size = 0
        self.newest_ms = NO_TIMESTAMP
        """The largest timestamp of a batch."""
        self._handle: AppendHandle | None = filesystem.append_to(self.path)
        self._index = SparseIndex()
        self._read_ends: dict[int, int] = {}
        """The positions after recent reads by offset: each of the readers goes on there."""

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return join(self._directory, segment_name(self.base_offset))

    def append(self, data: bytes, base_offset: int, next_offset: int, newest_ms: int) -> None:
        """Append a batch; not yet durable."""
        self._writer().write(data)
        self.add(base_offset, next_offset, newest_ms, len(data))

    def add(self, base_offset: int, next_offset: int, newest_ms: int, length: int) -> None:
        """Index a batch at the end of the file."""
        self._index.add(base_offset, self.size, self.newest_ms)
        self.newest_ms = max(self.newest_ms, newest_ms)
        self.end_offset = next_offset
        self.size += length

    def start_fsync(self) -> Callable[[], None]:
        """Return a function that makes durable the bytes written before this call."""
        return self._writer().start_fsync()

    def read(self, offset: int, end_offset: int, max_bytes: int, *, may_exceed: bool) -> bytes:
        """Return the whole batches from the batch that holds `offset`.

        Args:
            offset: An offset of this segment.
            end_offset: The largest offset after a returned batch.
            max_bytes: The maximum size.
            may_exceed: Whether a single larger batch is returned, if it is the first.

        Raises:
            WireError: the file no longer holds what was written.
        """
        position = self._read_ends.get(offset)
        if position is None:
            found = self._batch_of(offset)
            if found is None:
                return b""
            position = found.position
        length = min(max_bytes, self.size - position)
        data = self._filesystem.read_slice(self.path, position, length)
        whole, next_offset = whole_batches(data, end_offset, max_bytes)
        if whole == 0 and may_exceed:
            first = next(self.headers(position), None)  # none behind a gap before a cut
            if first is None or first.header.next_offset > end_offset:
                return b""
            data = self._filesystem.read_slice(self.path, position, first.length)
            if len(data) < first.length:
                raise IncompleteBatchError(f"{self.path}: the file ends amid a batch")
            whole, next_offset = first.length, first.header.next_offset
        if whole:
            self._remember(next_offset, position + whole)
        return data[:whole]

    def headers(self, position: int = 0) -> Iterator[PlacedHeader]:
        """Yield the batches from the batch at `position` on."""
        return read_headers(self._filesystem, self.path, position, self.size)

    def headers_of_time(self, timestamp_ms: int) -> Iterator[PlacedHeader]:
        """Yield the batches from a position on, below which no record is that new."""
        return self.headers(self._index.floor_of_time(timestamp_ms))

    def truncate_to(self, end_offset: int) -> None:
        """Remove the batches from `end_offset` on, durably."""
        if end_offset >= self.end_offset:
            return
        position, newest_ms = self._index.floor(end_offset)
        for batch in self.headers(position):
            if batch.header.base_offset >= end_offset:
                assert batch.header.base_offset == end_offset, "a log is cut between batches"
                self.cut(batch.position)
                break
            assert batch.header.next_offset <= end_offset, "a log is cut between batches"
            newest_ms = max(newest_ms, batch.header.max_timestamp_ms)
        self.newest_ms = newest_ms
        self.end_offset = end_offset

    def cut(self, size: int) -> None:
        """Truncate the file to `size` bytes, durably."""
        self._writer().truncate(size)
        self._writer().start_fsync()()
        self.size = size
        self._index.truncate(size)
        self._read_ends.clear()

    def write_again(self) -> None:
        """Replace the file by a copy with the same content, durably."""
        self.close()
        rewrite_durably(self._filesystem, self.path)

    def close(self) -> None:
        """Close the file; a later append opens the file again."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def _writer(self) -> AppendHandle:
        if self._handle is None:
            self._handle = self._filesystem.append_to(self.path)
        return self._handle

    def _batch_of(self, offset: int) -> PlacedHeader | None:
        """Return the first batch that ends above an offset."""
        for batch in self.headers(self._index.floor(offset)[0]):
            if batch.header.next_offset > offset:
                return batch
        return None

    def _remember(self, offset: int, position: int) -> None:
        self._read_ends.pop(offset, None)  # the newest comes last
        self._read_ends[offset] = position
        if len(self._read_ends) > MOST_READ_ENDS:
            del self._read_ends[next(iter(self._read_ends))]
