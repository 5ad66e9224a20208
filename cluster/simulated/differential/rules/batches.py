"""Compare the judgement of produced batches with the rules of Kafka, at and beside each bound."""

from dataclasses import dataclass
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.background.client_batches import (
    CONTROL,
    GZIP,
    TRANSACTIONAL,
    ClientRecord,
    Header,
    encode_batch,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.types import WallClock, milliseconds
from kraftproof.node.core.partition.settings import TopicSettings
from kraftproof.node.core.partition.validation import Refusal, check_content, parse_produced
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.raw_batch import RawBatch

BATCHES: Final = 60
NOW_MS: Final = 1_700_000_000_000
BEFORE_MS, AFTER_MS = 5_000, 300
MOST_NAMED: Final = 100
NO_TIME: Final = -1
ZSTD_FROM: Final = 7
PRODUCERS: Final = (
    ((-1, -1, -1), True),
    ((0, 0, 0), True),
    ((7, 3, 20), True),
    ((0, -1, 0), False),
    ((7, -1, 0), False),
    ((0, 0, -1), False),
    ((7, 0, -1), False),
    ((-2, 0, 0), False),
)
"""Id, epoch and first sequence number of a producer, and whether Kafka accepts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A batch with the reason against it."""

    data: bytes
    error: ErrorCode = ErrorCode.NONE
    indexes: tuple[int, ...] = ()
    """The records that the answer names."""
    error_of_bytes: ErrorCode = ErrorCode.NONE
    """The error before the settings of the topic count."""


def compare_batches(random: Random) -> None:
    """Judge drawn batches: sound batches, and batches with one fault.

    Raises:
        DifferenceError: a batch has another judgement than by the rules.
    """
    for _ in range(BATCHES):
        settings = _draw_settings(random)
        version = random.choice((3, ZSTD_FROM - 1, ZSTD_FROM, 11))
        settings, case = _draw(random, settings, version)
        found = parse_produced(case.data, version)
        if case.error_of_bytes:
            check("a batch with wrong bytes is refused", isinstance(found, Refusal))
            assert isinstance(found, Refusal), "checked"
            same("the error of the bytes", found.error, case.error_of_bytes)
            continue
        check("the bytes are a batch", isinstance(found, RawBatch))
        assert isinstance(found, RawBatch), "checked"
        checked = check_content(found, settings, WallClock(milliseconds(NOW_MS) + 999_999))
        refusal = checked if isinstance(checked, Refusal) else None
        error = ErrorCode.NONE if refusal is None else refusal.error
        same("the error of a batch", error, case.error)
        if refusal is not None:
            check("a refusal has a reason", refusal.message)
            named = tuple(one.index for one in refusal.records)
            same("the records of a refusal", named, case.indexes[:MOST_NAMED])


def _draw_settings(random: Random) -> TopicSettings:
    return TopicSettings(
        min_isr=1,
        max_message_bytes=1 << 20,
        segment_bytes=1 << 20,
        retention_ms=-1,
        retention_bytes=-1,
        is_compacted=random.random() < 0.4,
        is_deleted=True,
        uses_append_time=random.random() < 0.2,
        timestamp_before_max_ms=BEFORE_MS,
        timestamp_after_max_ms=AFTER_MS,
        flush_messages=1 << 40,
    )


def _records(random: Random, count: int, key: bytes | None) -> list[ClientRecord]:
    return [
        ClientRecord(b"v" * random.choice((0, 1, 30)), NOW_MS - random.choice((0, 7)), key)
        for _ in range(count)
    ]


def _draw(random: Random, settings: TopicSettings, version: int) -> tuple[TopicSettings, _Case]:
    count = random.choice((1, 2, 3, 120))
    sound = _records(random, count, b"k")
    producer, is_right = random.choice(PRODUCERS)
    codec = random.choice((0, 0, GZIP))
    header = Header(producer=producer, codec=codec)
    kind = random.randrange(9)
    if kind < 3 or not is_right:
        error = ErrorCode.NONE if is_right else ErrorCode.INVALID_RECORD
        return settings, _Case(data=encode_batch(sound, header), error=error)
    match kind:
        case 3:
            return settings, _outside(random, sound, settings, header)
        case 4:
            return settings, _keyless(random, sound, settings, header)
        case 5:
            return _large(random, encode_batch(sound, header), settings)
        case 6:
            return settings, _miscounted(random, sound, header)
        case 7:
            return settings, _damaged(random, encode_batch(sound, header))
        case _:
            return settings, _of_codec(random, sound, settings, version)


def _outside(
    random: Random, sound: list[ClientRecord], settings: TopicSettings, header: Header
) -> _Case:
    """Return a batch with times at and beside the bounds."""
    bounds = (NOW_MS - BEFORE_MS, NOW_MS + AFTER_MS)
    times = [
        random.choice((*bounds, bounds[0] - 1, bounds[1] + 1, bounds[0] + 1, NO_TIME, NOW_MS))
        for _ in sound
    ]
    if NO_TIME in times:
        times = [NO_TIME] * len(times)
    records = [replace(one, timestamp_ms=at) for one, at in zip(sound, times, strict=True)]
    late = tuple(
        index
        for index, at in enumerate(times)
        if at != NO_TIME and not bounds[0] <= at <= bounds[1]
    )
    is_wrong = bool(late) and not settings.uses_append_time
    error = ErrorCode.INVALID_TIMESTAMP if is_wrong else ErrorCode.NONE
    return _Case(data=encode_batch(records, header), error=error, indexes=late if is_wrong else ())


def _keyless(
    random: Random, sound: list[ClientRecord], settings: TopicSettings, header: Header
) -> _Case:
    keys = [random.choice((None, None, b"", b"k")) for _ in sound]
    records = [replace(one, key=key) for one, key in zip(sound, keys, strict=True)]
    lacking = tuple(index for index, key in enumerate(keys) if key is None)
    is_wrong = bool(lacking) and settings.is_compacted
    error = ErrorCode.INVALID_RECORD if is_wrong else ErrorCode.NONE
    return _Case(
        data=encode_batch(records, header), error=error, indexes=lacking if is_wrong else ()
    )


def _large(random: Random, data: bytes, settings: TopicSettings) -> tuple[TopicSettings, _Case]:
    """Return a topic whose limits are at or beside the size of a batch."""
    most, segment = random.choice(((0, 1), (-1, 1), (1, 0), (1, -1), (-1, -1)))
    size = len(data)
    settings = replace(settings, max_message_bytes=size + most, segment_bytes=size + segment)
    if most < 0:
        return settings, _Case(data=data, error=ErrorCode.MESSAGE_TOO_LARGE)
    error = ErrorCode.RECORD_LIST_TOO_LARGE if segment < 0 else ErrorCode.NONE
    return settings, _Case(data=data, error=error)


def _miscounted(random: Random, sound: list[ClientRecord], header: Header) -> _Case:
    """Return a batch with a wrong count, or with the bits of a control or transactional batch."""
    if random.random() < 0.3:
        none = Header(producer=header.producer, count=random.choice((0, -1)))
        return _Case(data=encode_batch(sound, none), error=ErrorCode.INVALID_RECORD)
    wrong = random.choice(
        (
            Header(producer=header.producer, count=len(sound) + 1),
            Header(producer=header.producer, count=len(sound) + 5),
            Header(producer=header.producer, flags=CONTROL),
            Header(producer=header.producer, flags=TRANSACTIONAL),
        )
    )
    return _Case(data=encode_batch(sound, wrong), error=ErrorCode.INVALID_RECORD)


def _damaged(random: Random, data: bytes) -> _Case:
    kind = random.randrange(6)
    if kind == 4:
        wrong = random.choice((1, 70)).to_bytes(8, "big") + data[8:-1] + b"\0"
        return _Case(data=wrong, error=ErrorCode.INVALID_RECORD)
    if kind == 5:
        return _Case(data=data + data[: random.choice((1, 12, 60))])
    if kind == 0:
        wrong = data[:-1] + bytes([data[-1] ^ 1])
        return _Case(data=wrong, error=ErrorCode.CORRUPT_MESSAGE)
    if kind == 1:
        magic, error = random.choice(
            ((1, ErrorCode.INVALID_RECORD), (3, ErrorCode.CORRUPT_MESSAGE))
        )
        wrong = data[:16] + bytes([magic]) + data[17:]
        return _Case(data=wrong, error_of_bytes=error)
    if kind == 2:
        return _Case(data=data + data, error_of_bytes=ErrorCode.INVALID_RECORD)
    return _Case(data=b"", error_of_bytes=ErrorCode.INVALID_RECORD)


def _of_codec(
    random: Random, sound: list[ClientRecord], settings: TopicSettings, version: int
) -> _Case:
    """Return a batch of zstd, which old versions lack, or of a codec that nobody has."""
    codec = random.choice((4, 5, 7))
    payload = None if codec == 4 else b"x"
    data = encode_batch(sound, Header(codec=codec), payload)
    if codec == 4:
        is_old = version < ZSTD_FROM
        if is_old:
            return _Case(data=data, error_of_bytes=ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        return _opaque(random, settings)
    return _Case(data=data, error=ErrorCode.UNKNOWN_SERVER_ERROR)


def _opaque(random: Random, settings: TopicSettings) -> _Case:
    """Return a batch whose records the broker does not read: the times of its header count."""
    base = NOW_MS + random.choice((-BEFORE_MS, -BEFORE_MS - 1, 0))
    newest = NOW_MS + random.choice((AFTER_MS, AFTER_MS + 1, 0))
    records = [ClientRecord(b"v", base, b"k"), ClientRecord(b"v", newest, b"k")]
    late = [base < NOW_MS - BEFORE_MS, newest > NOW_MS + AFTER_MS]
    indexes = tuple(index for index, is_late in enumerate(late) if is_late)
    is_wrong = bool(indexes) and not settings.uses_append_time
    return _Case(
        data=encode_batch(records, Header(codec=4)),
        error=ErrorCode.INVALID_TIMESTAMP if is_wrong else ErrorCode.NONE,
        indexes=indexes if is_wrong else (),
    )
