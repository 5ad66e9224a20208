"""Compare batches of partitions, as clients send them, with the reference: whole, cut, damaged."""

from random import Random
from typing import Final

from msgspec.structs import asdict, replace

from kraftproof.cluster.simulated.differential.difference import (
    Refusal,
    attempt,
    check,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.wire.reference_batches import (
    CRC_FROM,
    HEADER_BYTES,
    ReferenceBatch,
    ReferenceRecord,
)
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import raw_batch

LOG_APPEND_TIME: Final = 8
DAY_MS: Final = 86_400_000


def draw_record(random: Random) -> ReferenceRecord:
    """Return a record, with or without key, value and headers."""
    fields = (None, b"", b"a", random.randbytes(130))
    return ReferenceRecord(
        key=random.choice(fields),
        value=random.choice(fields),
        timestamp_delta=random.choice((0, 1, -1, 64, DAY_MS, -DAY_MS)),
        headers=tuple(
            (random.choice((b"", b"h")), random.choice(fields))
            for _ in range(random.choice((0, 0, 1, 3)))
        ),
    )


def draw_raw(random: Random, base_offset: int | None = None) -> ReferenceBatch:
    """Return a batch of a client or of a leader, without compression."""
    records = tuple(draw_record(random) for _ in range(random.choice((1, 1, 2, 5))))
    base_ms = random.choice((-1, 0, 1 << 41))
    has_producer = random.random() < 0.3
    return ReferenceBatch(
        base_offset=random.choice((0, 1, 1 << 40)) if base_offset is None else base_offset,
        epoch=random.choice((-1, 0, 7)),
        attributes=random.choice((0, 0, LOG_APPEND_TIME, 0x10, 0x20)),
        base_timestamp_ms=base_ms,
        max_timestamp_ms=base_ms + max(record.timestamp_delta for record in records),
        producer_id=random.randrange(1 << 40) if has_producer else -1,
        producer_epoch=random.randrange(1 << 15) if has_producer else -1,
        base_sequence=random.randrange(1 << 31) if has_producer else -1,
        records=records,
        last_offset_delta=len(records) + 2 if random.random() < 0.1 else None,
    )


def draw_produced(random: Random, offset: int, now_ms: int) -> ReferenceBatch:
    """Return a batch of one of few producers, or of none, with times about the present."""
    one = draw_raw(random, offset)
    records = tuple(
        replace(record, timestamp_delta=random.choice((0, 0, 1, -1, 5))) for record in one.records
    )
    return replace(
        one,
        records=records,
        base_timestamp_ms=now_ms,
        max_timestamp_ms=now_ms + max(record.timestamp_delta for record in records),
        producer_id=one.producer_id if one.producer_id == -1 else one.producer_id % 3,
    )


def compare_raw_batches(random: Random) -> None:
    """Parse, move, stamp, cut and damage batches.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    for _ in range(3):
        one = draw_raw(random)
        _compare_parsed(one, random)
        _compare_damaged(one, random)
    _compare_several(random)
    _compare_headers(random)


def expected_batch(one: ReferenceBatch) -> raw_batch.RawBatch:
    """Return a batch as the node must see it."""
    count = len(one.records) if one.count is None else one.count
    delta = len(one.records) - 1 if one.last_offset_delta is None else one.last_offset_delta
    return raw_batch.RawBatch(
        base_offset=one.base_offset,
        last_offset_delta=delta,
        epoch=one.epoch,
        attributes=one.attributes,
        base_timestamp_ms=one.base_timestamp_ms,
        max_timestamp_ms=one.max_timestamp_ms,
        producer_id=one.producer_id,
        producer_epoch=one.producer_epoch,
        base_sequence=one.base_sequence,
        count=count,
        data=one.data,
    )


def _compare_parsed(one: ReferenceBatch, random: Random) -> None:
    data, expected = one.data, expected_batch(one)
    found = raw_batch.parse_batch(data)
    same("a parsed batch", found, expected)
    padding = random.randbytes(random.randrange(5))
    header = raw_batch.parse_header(padding + data, len(padding))
    same("a parsed header", header, replace(expected, data=b""))
    length = raw_batch.batch_length(padding + data, len(padding))
    same("the length of a batch", length, len(data))
    last = one.base_offset + expected.last_offset_delta
    same("the last offset", (found.last_offset, found.next_offset), (last, last + 1))
    flags = found.compression, found.is_log_append_time, found.is_transactional, found.is_control
    bits = tuple(bool(one.attributes & bit) for bit in (LOG_APPEND_TIME, 0x10, 0x20))
    same("the flags of a batch", (found.size, *flags), (len(data), one.attributes & 7, *bits))
    offset, epoch = random.choice((0, 5, 1 << 50)), random.choice((0, 9))
    moved = replace(one, base_offset=offset, epoch=epoch)
    same("a moved batch", asdict(found.moved(offset, epoch)), asdict(expected_batch(moved)))
    time_ms = random.choice((0, 1 << 41))
    attributes = one.attributes | LOG_APPEND_TIME
    stamped = replace(one, attributes=attributes, max_timestamp_ms=time_ms)
    same("a stamped batch", asdict(found.stamped(time_ms)), asdict(expected_batch(stamped)))


def _compare_damaged(one: ReferenceBatch, random: Random) -> None:
    data = one.data
    cuts = {0, 11, 12, 16, 17, 60, 61, len(data) - 1, random.randrange(len(data))}
    for kept in sorted(cut for cut in cuts if cut < len(data)):
        _refused_as("IncompleteBatchError", data[:kept], f"{kept} bytes of {len(data)}")
    longer = data + random.randbytes(random.randint(1, 3))
    text = _refused_as("WireError", longer, "a batch with rest")
    named("a batch with rest", text, f"{len(longer) - len(data)} bytes", f"{len(data)} bytes")
    at = random.choice((CRC_FROM - 4, len(data) - 1, random.randrange(CRC_FROM + 4, len(data))))
    damaged = bytearray(data)
    damaged[at] ^= 1 << random.randrange(8)
    found = attempt(WireError, raw_batch.parse_batch, bytes(damaged))
    check(f"a flipped bit in byte {at}", isinstance(found, Refusal))
    if isinstance(found, Refusal) and at >= HEADER_BYTES:
        same(f"damage in byte {at}", found.kind, "CorruptRawBatchError")
        named("a batch without its CRC", found.text, f"offset {one.base_offset}")
        unchecked = raw_batch.parse_batch(bytes(damaged), check_crc=False)
        same("a batch that is not checked", unchecked.data, bytes(damaged))


def _refused_as(kind: str, data: bytes, what: str) -> str:
    found = attempt(WireError, raw_batch.parse_batch, data)
    same(what, found.kind if isinstance(found, Refusal) else found, kind)
    return found.text if isinstance(found, Refusal) else ""


def _compare_several(random: Random) -> None:
    """Parse batches behind each other; the bytes end anywhere."""
    drawn = [draw_raw(random) for _ in range(random.randint(1, 3))]
    parts = [one.data for one in drawn]
    data, expected = b"".join(parts), [expected_batch(one) for one in drawn]
    ends = [sum(map(len, parts[:count])) for count in range(len(parts) + 1)]
    for end in ends:
        begun = {min(end + more, len(data)) for more in (0, 1, 11, 12)}
        for kept in sorted({*begun, len(data) - 1}):
            whole = max(count for count, one in enumerate(ends) if one <= kept)
            part = data[:kept]
            found = raw_batch.parse_batches(part, allow_partial=True)
            same(f"{kept} bytes of batches", list(found), expected[:whole])
            if kept not in ends:
                text = refused(
                    f"{kept} bytes of batches",
                    raw_batch.IncompleteBatchError,
                    list,
                    raw_batch.parse_batches(part),
                )
                named("cut batches", text, f"byte {ends[whole]}")
    damaged = data[:-1] + bytes([data[-1] ^ 1])
    same(
        "unchecked batches",
        len(list(raw_batch.parse_batches(damaged, check_crc=False))),
        len(parts),
    )
    refused("a damaged batch", WireError, list, raw_batch.parse_batches(damaged))


def _compare_headers(random: Random) -> None:
    """Parse headers at the limits of their fields."""
    one = draw_raw(random)
    count = len(one.records)
    cases = (
        (replace(one, base_offset=-1), "WireError"),
        (replace(one, base_offset=0), None),
        (replace(one, last_offset_delta=-1, count=0), "WireError"),
        (replace(one, last_offset_delta=0, count=0), None),
        (replace(one, last_offset_delta=0, count=1), None),
        (replace(one, last_offset_delta=count, count=-1), "WireError"),
        (replace(one, last_offset_delta=count - 1, count=count), None),
        (replace(one, last_offset_delta=count, count=count), None),
        (replace(one, last_offset_delta=count - 1, count=count + 1), "WireError"),
        (replace(one, magic=0), "UnsupportedMagicError"),
        (replace(one, magic=1), "UnsupportedMagicError"),
        (replace(one, magic=3), "UnsupportedMagicError"),
    )
    for case, kind in cases:
        data = case.data
        found = attempt(WireError, raw_batch.parse_batch, data)
        what = f"a header with magic {case.magic}, {case.count} records, {case.last_offset_delta}"
        same(what, found.kind if isinstance(found, Refusal) else None, kind)
        if kind == "UnsupportedMagicError" and isinstance(found, Refusal):
            named(what, found.text, f"magic {case.magic};", "magic 2")
            cut = data[:20]
            again = attempt(WireError, raw_batch.parse_header, cut)
            same("an old batch, cut off", isinstance(again, Refusal) and again.kind, kind)
    for length in (HEADER_BYTES - 1, HEADER_BYTES, 0):
        short = bytearray(one.data)
        short[8:12] = (length - 12).to_bytes(4, "big", signed=True)
        found_length = attempt(WireError, raw_batch.batch_length, bytes(short), 0)
        same(f"a length of {length}", isinstance(found_length, Refusal), length < HEADER_BYTES)
    places = raw_batch.NO_PRODUCER, raw_batch.NO_TIMESTAMP, raw_batch.HEADER_BYTES
    same(
        "the constants of batches", (*places, raw_batch.CRC_BEGIN), (-1, -1, HEADER_BYTES, CRC_FROM)
    )
