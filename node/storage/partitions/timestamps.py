"""Find the first record with a timestamp, record by record (KIP-79, KIP-734).

A look-up runs in a worker beside appends and truncations. The caller repeats the look-up if the
log has begun another generation meanwhile.
"""

from collections.abc import Generator, Sequence

from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.events import TimestampFound
from kraftproof.node.core.log_effects import MAX_TIMESTAMP, FindTimestamp
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.segments.headers import PlacedHeader
from kraftproof.node.storage.segments.segment import Segment
from kraftproof.node.wire.records.raw_batch import RawBatch, parse_batch
from kraftproof.node.wire.records.raw_records import read_records

Place = tuple[Segment, PlacedHeader]


def not_found(token: int, *, has_failed: bool = False) -> TimestampFound:
    """Return the answer for a log without such a record, or for an unreadable log."""
    return TimestampFound(
        token=token,
        offset=Offset(-1),
        timestamp_ms=-1,
        epoch=Epoch(-1),
        has_failed=has_failed,
    )


def find_timestamp(
    filesystem: FileSystem, segments: Sequence[Segment], effect: FindTimestamp
) -> Generator[None, None, TimestampFound]:
    """Return the steps of a look-up, one segment or one batch a step.

    Raises:
        WireError: a file no longer holds what was written.
        FileNotFoundError: the log was deleted meanwhile.
    """
    if effect.timestamp_ms == MAX_TIMESTAMP:
        return (yield from _find_newest(filesystem, segments, effect))
    for segment in segments:
        if segment.newest_ms >= effect.timestamp_ms:
            for batch in segment.headers_of_time(effect.timestamp_ms):
                if batch.header.base_offset >= effect.end_offset:
                    return not_found(effect.token)
                if batch.header.max_timestamp_ms >= effect.timestamp_ms:
                    found = _first_in(filesystem, (segment, batch), effect, effect.timestamp_ms)
                    if found is not None:
                        return found
                    yield
        yield
    return not_found(effect.token)


def _find_newest(
    filesystem: FileSystem, segments: Sequence[Segment], effect: FindTimestamp
) -> Generator[None, None, TimestampFound]:
    newest: Place | None = None
    newest_ms = -1
    for segment in segments:
        if segment.newest_ms > newest_ms:
            for batch in segment.headers():
                header = batch.header
                is_above = header.next_offset > effect.start_offset
                is_within = is_above and header.next_offset <= effect.end_offset
                if is_within and header.max_timestamp_ms > newest_ms:
                    newest, newest_ms = (segment, batch), header.max_timestamp_ms
        yield
    if newest is None:
        return not_found(effect.token)
    return _first_in(filesystem, newest, effect, newest_ms) or not_found(effect.token)


def _first_in(
    filesystem: FileSystem, place: Place, effect: FindTimestamp, timestamp_ms: int
) -> TimestampFound | None:
    """Return the first record of a batch that is new enough, and within the wanted offsets."""
    segment, batch = place
    raw = parse_batch(filesystem.read_slice(segment.path, batch.position, batch.length))
    for offset, time_ms in _times(raw):
        if time_ms >= timestamp_ms and effect.start_offset <= offset < effect.end_offset:
            return TimestampFound(
                token=effect.token,
                offset=Offset(offset),
                timestamp_ms=time_ms,
                epoch=Epoch(raw.epoch),
            )
    return None


def _times(raw: RawBatch) -> list[tuple[int, int]]:
    """Return offset and timestamp of each record.

    Without a library for the codec, the batch's newest timestamp counts for its first record.
    """
    if raw.is_log_append_time:
        offsets = range(raw.base_offset, raw.next_offset)
        return [(offset, raw.max_timestamp_ms) for offset in offsets]
    records = read_records(raw)
    if records is None:
        return [(raw.base_offset, raw.max_timestamp_ms)]
    return [(raw.base_offset + delta, record.timestamp_ms) for delta, record in enumerate(records)]
