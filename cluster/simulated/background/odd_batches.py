"""Batches of every codec, with times, and batches with one mistake each and the error for it.

The rules are those of Kafka's LogValidator and of `ProduceRequest` (KIP-98, KIP-110, KIP-937); a
drawer is a function of the topic's settings. See dated_topic.py for the clients.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.cluster.simulated.background.client_batches import (
    CONTROL,
    GZIP,
    TRANSACTIONAL,
    ClientRecord,
    Header,
    encode_batch,
)
from kraftproof.node.wire.errors import ErrorCode

OLDEST, NEWEST = 3, 12
"""Versions of Produce that name topics."""
ZSTD: Final = 4
ZSTD_FROM: Final = 7
CODECS: Final = (0, 0, 0, 0, GZIP, GZIP, 2, 3, ZSTD)
NEAR_MS: Final = 60_000
"""Largest distance of a record's time from the present."""
FAR_MS: Final = 10 * 3_600_000
"""Distance of a time that the settings of the topic refuse."""
MOST_RECORDS: Final = 4
NO_TIME: Final = -1
KNOWN_SHARE: Final = 0.4
"""Share of the look-ups of the newest time of an appended batch, or of a millisecond later."""
_HEADER_BYTES: Final = 61


class TopicRules(Struct, frozen=True, kw_only=True):
    """The settings of a topic that its batches must respect."""

    uses_append_time: bool
    is_compacted: bool
    segment_bytes: int
    largest_bytes: int


class OddBatch(Struct, frozen=True, kw_only=True):
    """The records of a partition in a Produce, and the errors of which one must be the answer."""

    data: bytes | None
    expected: frozenset[int]
    about: str
    wrong_records: tuple[int, ...] = ()
    """Indexes of the records that the answer must name."""
    versions: tuple[int, int] = (ZSTD_FROM, NEWEST)
    """The versions of Produce with this answer."""
    precedes_acks: bool = False
    """Whether the broker finds the mistake before a wrong number of acknowledgements."""
    newest_ms: int = NO_TIME
    """The newest time of the records of a right batch."""


class KnownTimes:
    """The newest times of appended batches, for look-ups at the edge of a batch or a segment."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._times_ms: list[int] = []

    def note(self, batch: OddBatch, stamped_ms: int) -> None:
        """Add the time of an appended batch, or the time that the leader has stamped."""
        newest_ms = stamped_ms if stamped_ms >= 0 else batch.newest_ms
        if newest_ms != NO_TIME:
            self._times_ms.append(newest_ms)

    def draw(self, otherwise_ms: int) -> int:
        """Return a time for a look-up."""
        if not self._times_ms or self._random.random() >= KNOWN_SHARE:
            return otherwise_ms
        return self._random.choice(self._times_ms) + self._random.choice((0, 0, 1))


Drawer = Callable[[Random, TopicRules, int], OddBatch]


def draw_batch(random: Random, rules: TopicRules, now_ms: int, odd_share: float) -> OddBatch:
    """Return a right batch, or in a share of the draws a batch with a mistake."""
    if random.random() < odd_share:
        return random.choice(_MISTAKES)(random, rules, now_ms)
    header = Header(codec=random.choice(CODECS))
    records = _records(random, rules, now_ms)
    return OddBatch(
        data=encode_batch(records, header),
        expected=frozenset({ErrorCode.NONE}),
        about=f"a right batch of codec {header.codec}",
        versions=(ZSTD_FROM if header.codec == ZSTD else OLDEST, NEWEST),
        newest_ms=max(record.timestamp_ms for record in records),
    )


def _records(random: Random, rules: TopicRules, now_ms: int) -> list[ClientRecord]:
    has_keys = rules.is_compacted or random.random() < 0.3
    return [
        ClientRecord(
            value=b"%d" % random.randrange(1 << 30) * random.randint(1, 3),
            timestamp_ms=now_ms + random.randint(-NEAR_MS, NEAR_MS),
            key=b"%d" % random.randrange(9) if has_keys else None,
        )
        for _ in range(random.randint(1, MOST_RECORDS))
    ]


def _wrong(
    data: bytes | None,
    about: str,
    *errors: ErrorCode,
    records: Sequence[int] = (),
    precedes_acks: bool = False,
) -> OddBatch:
    return OddBatch(
        data=data,
        expected=frozenset(errors),
        about=about,
        wrong_records=tuple(records),
        precedes_acks=precedes_acks,
    )


def _framing(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    data = encode_batch(_records(random, rules, now_ms), Header())
    drawn = random.randrange(4)
    if drawn == 0:
        two = data + data
        return _wrong(two, "two batches", ErrorCode.INVALID_RECORD, precedes_acks=True)
    if drawn == 1:
        cut = data[: -random.randint(1, 5)]
        return _wrong(cut, "a cut batch", ErrorCode.INVALID_RECORD, precedes_acks=True)
    if drawn == 2:
        none = random.choice((None, b""))
        return _wrong(none, "no batch", ErrorCode.INVALID_RECORD, precedes_acks=True)
    old = encode_batch(_records(random, rules, now_ms), Header(magic=random.choice((0, 1))))
    return _wrong(old, "an old format", ErrorCode.INVALID_RECORD, precedes_acks=True)


def _flipped(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    header = Header(codec=random.choice(CODECS))
    data = bytearray(encode_batch(_records(random, rules, now_ms), header))
    data[random.randrange(_HEADER_BYTES, len(data))] ^= 1 << random.randrange(8)
    return _wrong(bytes(data), "a flipped bit", ErrorCode.CORRUPT_MESSAGE)


def _zstd_early(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    data = encode_batch(_records(random, rules, now_ms), Header(codec=ZSTD))
    early = _wrong(data, "zstd in an old version", ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return replace(early, versions=(OLDEST, ZSTD_FROM - 1), precedes_acks=True)


def _header(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    records = _records(random, rules, now_ms) + _records(random, rules, now_ms)
    wrong, about = random.choice(
        (
            (Header(flags=CONTROL), "a control batch"),
            (Header(flags=TRANSACTIONAL, producer=(5, 0, 0)), "a transactional batch"),
            (Header(producer=(5, 0, -1)), "a producer without a sequence number"),
            (Header(producer=(5, -1, 0)), "a producer without an epoch"),
            (Header(producer=(-2, 0, 0)), "a negative producer id"),
            (Header(count=len(records) + 1), "one record too few"),
            (Header(count=len(records) - 1), "one record too many"),
        )
    )
    return _wrong(encode_batch(records, wrong), about, ErrorCode.INVALID_RECORD)


def _codec(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    records = _records(random, rules, now_ms)
    if random.random() < 0.5:
        strange = encode_batch(records, Header(codec=random.choice((5, 6, 7))))
        return _wrong(strange, "an unknown codec", ErrorCode.UNKNOWN_SERVER_ERROR)
    header, noise = Header(codec=random.choice((GZIP, 2, 3))), random.randbytes(40)
    damaged = encode_batch(records, header, payload=noise)
    return _wrong(damaged, f"damage in codec {header.codec}", ErrorCode.INVALID_RECORD)


def _size(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    key = b"k" if rules.is_compacted else None
    if random.random() < 0.5:
        record = ClientRecord(b"x" * rules.largest_bytes, now_ms, key)
        data, error = encode_batch([record], Header()), ErrorCode.MESSAGE_TOO_LARGE
    else:
        record = ClientRecord(b"x" * rules.segment_bytes, now_ms, key)
        data, error = encode_batch([record], Header()), ErrorCode.RECORD_LIST_TOO_LARGE
    return _wrong(data, f"{len(data)} bytes", error)


def _edge(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    """Return a batch of exactly the largest size of a segment, or of a byte more."""
    key = b"k" if rules.is_compacted else None
    excess = random.randrange(2)
    wanted, value = rules.segment_bytes + excess, b"x"
    while True:
        data = encode_batch([ClientRecord(value, now_ms, key)], Header())
        if len(data) >= wanted:
            break
        value += b"x" * max((wanted - len(data)) // 2, 1)
    is_small = len(data) <= rules.segment_bytes
    error = ErrorCode.NONE if is_small else ErrorCode.RECORD_LIST_TOO_LARGE
    return _wrong(data, f"{len(data)} of {rules.segment_bytes} bytes", error)


def _time(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    records = _records(random, rules, now_ms)
    place = random.randrange(len(records))
    wrong = records[place].timestamp_ms + random.choice((-FAR_MS, FAR_MS))
    records[place] = replace(records[place], timestamp_ms=wrong)
    data = encode_batch(records, Header(codec=random.choice((0, GZIP))))
    if rules.uses_append_time:
        return _wrong(data, "a time that the leader replaces", ErrorCode.NONE)
    return _wrong(data, "a far time", ErrorCode.INVALID_TIMESTAMP, records=(place,))


def _key(random: Random, rules: TopicRules, now_ms: int) -> OddBatch:
    records = _records(random, rules, now_ms)
    place = random.randrange(len(records))
    records[place] = replace(records[place], key=None)
    data = encode_batch(records, Header(codec=random.choice((0, GZIP))))
    if not rules.is_compacted:
        return _wrong(data, "a record without a key", ErrorCode.NONE)
    return _wrong(data, "a missing key", ErrorCode.INVALID_RECORD, records=(place,))


_MISTAKES: Final[tuple[Drawer, ...]] = (
    *(_framing, _flipped, _zstd_early, _header, _header, _codec),
    *(_size, _edge, _time, _time, _key),
)
ERRORS: Final = frozenset(
    (
        ErrorCode.NONE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    )
)
"""The answers that the drawn batches get."""
