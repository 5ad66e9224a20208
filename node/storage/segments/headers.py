"""Read the headers of consecutive batches from a file, in chunks of bounded size."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.wire.records.raw_batch import (
    HEADER_BYTES,
    IncompleteBatchError,
    RawBatch,
    batch_length,
    batch_span,
    parse_batch,
    parse_header,
)

CHUNK_BYTES: Final = 16 * 1024
CHECKED_CHUNK_BYTES: Final = 1024 * 1024


class PlacedHeader(Struct, frozen=True, gc=False):
    """The header of a batch, and the place of the batch in its file."""

    position: int
    length: int
    header: RawBatch

    @property
    def end(self) -> int:
        """Return the position after the batch."""
        return self.position + self.length


def read_headers(
    filesystem: FileSystem, path: str, position: int, end: int, *, check_crc: bool = False
) -> Iterator[PlacedHeader]:
    """Yield the batches between two positions of a file.

    Args:
        filesystem: The disk.
        path: The file.
        position: The begin of the first batch.
        end: The end of the last batch.
        check_crc: Whether to read and check the content of each batch.

    Raises:
        WireError: the bytes are no complete, sound batch.
    """
    chunk, begin = b"", position
    chunk_bytes = CHECKED_CHUNK_BYTES if check_crc else CHUNK_BYTES
    while position < end:
        if position + HEADER_BYTES > begin + len(chunk):
            chunk = filesystem.read_slice(path, position, min(chunk_bytes, end - position))
            begin = position
        length = batch_length(chunk, position - begin)
        header = parse_header(chunk, position - begin)
        if position + length > end:
            raise IncompleteBatchError(f"only {end - position} bytes of a batch are there")
        if check_crc:
            if position + length > begin + len(chunk):
                chunk = filesystem.read_slice(path, position, max(length, chunk_bytes))
                begin = position
            parse_batch(memoryview(chunk)[position - begin : position - begin + length])
        yield PlacedHeader(position, length, header)
        position += length


def whole_batches(data: bytes, end_offset: int, max_bytes: int) -> tuple[int, int]:
    """Return the length of the whole batches in `data`, and the offset after the last batch.

    Only batches that end at or below `end_offset` and within `max_bytes` count.

    Raises:
        WireError: the bytes are no batches.
    """
    position, next_offset = 0, -1
    while position + HEADER_BYTES <= len(data):
        length, after = batch_span(data, position)
        if after > end_offset or position + length > min(len(data), max_bytes):
            break
        position += length
        next_offset = after
    return position, next_offset
