"""Keep the last batches of each producer when their segments are removed (KIP-98).

`<first offset>.snapshot`, in Kafka's format of version 1, holds the last batch of each producer
below the first stored offset. Without the file, a restarted node would take a retried batch twice
after its segment was removed.
"""

import struct
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from crc32c import crc32c
from msgspec.structs import replace

from kraftproof.node.core.events import PRODUCER_BATCHES
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.storage.segments.segment import NAME_DIGITS
from kraftproof.node.wire.records.raw_batch import NO_PRODUCER, RawBatch

SUFFIX: Final = ".snapshot"
EXPIRATION_MS: Final = 86_400_000
"""The default of producer.id.expiration.ms: the age at which a producer is forgotten."""
_VERSION: Final = 1
_HEAD: Final = struct.Struct(">hI")  # version, CRC of the rest
_COUNT: Final = struct.Struct(">i")
# producer id and epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, and
# the first offset of the open transaction
_ENTRY: Final = struct.Struct(">qhiqiqiq")
_SEQUENCES: Final = 1 << 31


class RecentProducers:
    """The last batches of each producer of one log, without data."""

    __slots__ = ("_batches", "_most")

    def __init__(self, batches: Iterable[RawBatch] = (), most: int = PRODUCER_BATCHES) -> None:
        self._batches: dict[int, deque[RawBatch]] = {}
        self._most = most
        for batch in batches:
            self.note(batch)

    def note(self, batch: RawBatch) -> None:
        """Add the next batch of the log."""
        if batch.producer_id == NO_PRODUCER:
            return
        header = replace(batch, data=b"") if batch.data else batch
        known = self._batches.get(batch.producer_id)
        if known is None:
            known = self._batches[batch.producer_id] = deque(maxlen=self._most)
        known.append(header)

    def batches(self) -> tuple[RawBatch, ...]:
        """Return the batches in the order of the log."""
        every = [batch for known in self._batches.values() for batch in known]
        return tuple(sorted(every, key=lambda batch: batch.base_offset))

    def last_below(self, offset: int, newest_ms: int) -> tuple[RawBatch, ...]:
        """Return each producer's last batch below an offset, but for expired producers.

        Args:
            offset: The end of the batches.
            newest_ms: The newest timestamp of the log, from which the age counts.
        """
        found: dict[int, RawBatch] = {}
        for batch in self.batches():
            is_fresh = batch.max_timestamp_ms >= newest_ms - EXPIRATION_MS
            if batch.next_offset <= offset and is_fresh:
                found[batch.producer_id] = batch
        return tuple(found.values())


def write_producers(
    filesystem: FileSystem, directory: str, first_offset: int, batches: Iterable[RawBatch]
) -> None:
    """Write the file for a first stored offset, durably."""
    entries = [
        _ENTRY.pack(
            batch.producer_id,
            batch.producer_epoch,
            (batch.base_sequence + batch.last_offset_delta) % _SEQUENCES,
            batch.last_offset,
            batch.last_offset_delta,
            batch.max_timestamp_ms,
            -1,
            -1,
        )
        for batch in batches
    ]
    body = _COUNT.pack(len(entries)) + b"".join(entries)
    content = _HEAD.pack(_VERSION, crc32c(body)) + body
    replace_durably(filesystem, join(directory, _name(first_offset)), content)


def read_producers_file(
    filesystem: FileSystem, directory: str, first_offset: int
) -> tuple[RawBatch, ...]:
    """Return the batches of the file for a first stored offset; none for no or a broken file."""
    path = join(directory, _name(first_offset))
    if not filesystem.exists(path):
        return ()
    content = filesystem.read(path)
    body = content[_HEAD.size :]
    if len(body) < _COUNT.size or _HEAD.unpack_from(content) != (_VERSION, crc32c(body)):
        return ()
    return tuple(_entries(body))


def remove_other_files(filesystem: FileSystem, directory: str, first_offset: int) -> None:
    """Remove the files for other first offsets."""
    for name in filesystem.list_directory(directory):
        if name.endswith(SUFFIX) and name != _name(first_offset):
            filesystem.remove(join(directory, name))


def _name(offset: int) -> str:
    return f"{offset:0{NAME_DIGITS}d}{SUFFIX}"


def _entries(body: bytes) -> Iterator[RawBatch]:
    for position in range(_COUNT.size, len(body) - _ENTRY.size + 1, _ENTRY.size):
        producer, epoch, sequence, offset, delta, time_ms, *_ = _ENTRY.unpack_from(body, position)
        yield RawBatch(
            base_offset=offset - delta,
            last_offset_delta=delta,
            epoch=-1,
            attributes=0,
            base_timestamp_ms=time_ms,
            max_timestamp_ms=time_ms,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=(sequence - delta) % _SEQUENCES,
            count=delta + 1,
            data=b"",
        )
