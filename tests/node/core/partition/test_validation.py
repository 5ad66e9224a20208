"""Validation of produced batches: the error of each fault, hostile bytes, and compression."""

import gzip
import random
import struct

import pyarrow
import pytest
from crc32c import crc32c
from msgspec.structs import replace

from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.partition.settings import TopicSettings, topic_settings
from kraftproof.node.core.partition.validation import Refusal, check_content, parse_produced
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import compression
from kraftproof.node.wire.records.raw_batch import RawBatch, parse_sent_batch
from tests.support.node.client_batches import batch_bytes, raw_batch, records_bytes

HOUR_MS = 3_600_000
NOW_MS = 10 * HOUR_MS
SETTINGS = topic_settings(EMPTY_IMAGE, "t", 1)
RECORDS = [(b"key", b"value" * 20)] * 50


def settings(**changes) -> TopicSettings:
    return replace(SETTINGS, **changes)


def checked(batch: RawBatch, **changes) -> RawBatch | Refusal:
    return check_content(batch, settings(**changes), NOW_MS * 1_000_000)


def refused(batch: RawBatch, **changes) -> Refusal | None:
    found = checked(batch, **changes)
    return found if isinstance(found, Refusal) else None


def error_of(batch: RawBatch, **changes) -> int | None:
    found = refused(batch, **changes)
    return None if found is None else found.error


def test_the_defaults_are_those_of_kafka():
    assert (SETTINGS.min_isr, SETTINGS.max_message_bytes) == (1, 1_048_588)
    assert (SETTINGS.retention_ms, SETTINGS.retention_bytes) == (604_800_000, -1)
    flags = (SETTINGS.is_deleted, SETTINGS.is_compacted, SETTINGS.uses_append_time)
    assert flags == (True, False, False)
    assert not SETTINGS.flushes_each_append


def test_one_batch_of_magic_2_is_read():
    assert parse_produced(batch_bytes(3), 9) == raw_batch(3)


def of_magic(magic: int) -> bytes:
    return batch_bytes()[:16] + bytes([magic]) + batch_bytes()[17:]


@pytest.mark.parametrize("rest", [b"", b"\0" * 11, batch_bytes()[:-1]])
def test_an_incomplete_batch_after_the_batch_is_ignored(rest):
    assert parse_produced(batch_bytes() + rest, 9) == raw_batch()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (batch_bytes() + batch_bytes(), ErrorCode.INVALID_RECORD),
        (batch_bytes()[:-1], ErrorCode.INVALID_RECORD),
        (b"\0" * 11, ErrorCode.INVALID_RECORD),
        (b"\0" * 20, ErrorCode.CORRUPT_MESSAGE),
        (struct.pack(">qi", 0, 13), ErrorCode.CORRUPT_MESSAGE),
        (batch_bytes()[:61], ErrorCode.INVALID_RECORD),
        (struct.pack(">qi", 0, 1 << 30), ErrorCode.INVALID_RECORD),
        (of_magic(0), ErrorCode.INVALID_RECORD),
        (of_magic(1), ErrorCode.INVALID_RECORD),
        (of_magic(3), ErrorCode.CORRUPT_MESSAGE),
        (of_magic(255), ErrorCode.CORRUPT_MESSAGE),
        (batch_bytes() + bytes(20), ErrorCode.CORRUPT_MESSAGE),
        (batch_bytes() + of_magic(1), ErrorCode.INVALID_RECORD),
        (batch_bytes() + of_magic(3), ErrorCode.CORRUPT_MESSAGE),
        (struct.pack(">qi", 0, 48) + batch_bytes()[12:60], ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_what_is_no_single_batch_is_refused(data, error):
    found = parse_produced(data, 9)
    assert isinstance(found, Refusal)
    assert found.error == error


def test_zstd_needs_version_7():
    found = parse_produced(batch_bytes(attributes=4), 6)
    assert isinstance(found, Refusal)
    assert found.error == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert isinstance(parse_produced(batch_bytes(attributes=4), 7), RawBatch)


def in_time(count=1, **fields):
    return raw_batch(count, **({"timestamp_ms": NOW_MS} | fields))


def test_a_sound_batch_is_accepted():
    assert refused(in_time(5)) is None
    assert refused(in_time(producer=(7, 0, 0))) is None


def sent(**fields):
    return parse_sent_batch(batch_bytes(timestamp_ms=NOW_MS, **fields))


def damaged(**fields):
    data = bytearray(batch_bytes(timestamp_ms=NOW_MS, **fields))
    data[-2] ^= 1
    return parse_sent_batch(bytes(data))


def test_the_first_fault_in_kafkas_order_is_named():
    assert error_of(damaged(base_offset=5), max_message_bytes=10) == ErrorCode.INVALID_RECORD
    assert error_of(damaged(header_count=0), max_message_bytes=10) == ErrorCode.MESSAGE_TOO_LARGE
    assert error_of(damaged(attributes=5)) == ErrorCode.CORRUPT_MESSAGE
    assert error_of(sent(attributes=5, header_count=0)) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert error_of(sent(attributes=0x20), segment_bytes=10) == ErrorCode.INVALID_RECORD
    late = in_time(max_timestamp_ms=0)
    assert error_of(late, segment_bytes=10) == ErrorCode.RECORD_LIST_TOO_LARGE
    far = raw_batch(timestamp_ms=NOW_MS + 2 * HOUR_MS)
    assert error_of(far, segment_bytes=10) == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize(
    ("batch", "error"),
    [
        (damaged(), ErrorCode.CORRUPT_MESSAGE),
        (sent(header_count=0, content=b""), ErrorCode.INVALID_RECORD),
        (sent(header_count=-1), ErrorCode.INVALID_RECORD),
        (sent(header_count=2), ErrorCode.INVALID_RECORD),
        (sent(last_delta=-1), ErrorCode.INVALID_RECORD),
        (sent(last_delta=-2), ErrorCode.INVALID_RECORD),
        (sent(base_offset=5), ErrorCode.INVALID_RECORD),
        (sent(base_offset=-1), ErrorCode.INVALID_RECORD),
        (in_time(2, header_count=1), ErrorCode.INVALID_RECORD),
        (in_time(attributes=0x20), ErrorCode.INVALID_RECORD),
        (in_time(attributes=0x10, producer=(7, 0, 0)), ErrorCode.INVALID_RECORD),
        (in_time(producer=(7, 0, -1)), ErrorCode.INVALID_RECORD),
        (in_time(producer=(7, -1, 0)), ErrorCode.INVALID_RECORD),
        (in_time(producer=(-2, 0, 0)), ErrorCode.INVALID_RECORD),
        (in_time(attributes=5), ErrorCode.UNKNOWN_SERVER_ERROR),
        (in_time(attributes=6), ErrorCode.UNKNOWN_SERVER_ERROR),
        (in_time(attributes=7), ErrorCode.UNKNOWN_SERVER_ERROR),
        (in_time(content=b"\xff" * 20), ErrorCode.INVALID_RECORD),
        (in_time(content=records_bytes([(b"k", b"v")] * 2)), ErrorCode.INVALID_RECORD),
        (in_time(1000, content=b"\0" * 100), ErrorCode.INVALID_RECORD),
        (in_time(timestamp_ms=NOW_MS + HOUR_MS + 1), ErrorCode.INVALID_TIMESTAMP),
    ],
)
def test_each_fault_has_its_error(batch, error):
    assert error_of(batch) == error


def test_sizes_are_bounded_by_the_settings_of_the_topic():
    batch = in_time()
    assert error_of(batch, max_message_bytes=batch.size) is None
    assert error_of(batch, max_message_bytes=batch.size - 1) == ErrorCode.MESSAGE_TOO_LARGE
    assert error_of(batch, segment_bytes=batch.size - 1) == ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_compacted_topic_names_its_records_without_keys():
    content = records_bytes([(b"k", b"v"), (None, b"v"), (b"", None), (None, None)])
    batch = in_time(4, content=content)
    assert error_of(batch) is None
    found = refused(batch, is_compacted=True)
    assert found is not None
    assert found.error == ErrorCode.INVALID_RECORD
    assert [record.index for record in found.records] == [1, 3]


def test_each_record_has_its_own_timestamp():
    content = records_bytes([(b"k", b"v")] * 3, deltas_ms=[0, -2 * HOUR_MS, 5])
    batch = in_time(3, content=content)
    assert error_of(batch) is None
    found = refused(batch, timestamp_before_max_ms=HOUR_MS)
    assert found is not None
    assert [record.index for record in found.records] == [1]
    assert error_of(batch, timestamp_before_max_ms=HOUR_MS, uses_append_time=True) is None


def snappy(data: bytes) -> bytes:
    return pyarrow.Codec("snappy").compress(data, asbytes=True)


def xerial(data: bytes) -> bytes:
    blocks = [snappy(data[at : at + 700]) for at in range(0, len(data), 700)]
    framed = b"".join(len(block).to_bytes(4, "big") + block for block in blocks)
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + framed


def arrow(codec: str):
    def compress(data: bytes) -> bytes:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, codec) as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()

    return compress


def members(data: bytes) -> bytes:
    return gzip.compress(data[:9]) + gzip.compress(data[9:])


CODECS = [
    pytest.param(1, gzip.compress, id="gzip"),
    pytest.param(1, members, id="gzip-members"),
    pytest.param(2, snappy, id="snappy"),
    pytest.param(2, xerial, id="snappy-java"),
    pytest.param(3, arrow("lz4"), id="lz4"),
    pytest.param(4, arrow("zstd"), id="zstd"),
]


@pytest.mark.parametrize(("codec", "compress"), CODECS)
def test_compressed_records_are_checked_as_others(codec, compress):
    batch = in_time(50, attributes=codec, content=compress(records_bytes(RECORDS)))
    assert refused(batch) is None
    keyless = compress(records_bytes([(None, b"v")]))
    bad = in_time(attributes=codec, content=keyless)
    assert error_of(bad, is_compacted=True) == ErrorCode.INVALID_RECORD
    more = in_time(51, attributes=codec, content=compress(records_bytes(RECORDS)))
    assert error_of(more) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(("codec", "compress"), CODECS)
def test_damaged_and_excessive_output_is_refused(codec, compress, monkeypatch):
    whole = compress(records_bytes(RECORDS))
    chance = random.Random(codec)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data = data[: chance.choice((len(data), chance.randrange(len(data))))]
        found = refused(in_time(50, attributes=codec, content=bytes(data)))
        assert found is None or found.error == ErrorCode.INVALID_RECORD
    monkeypatch.setattr(compression, "LARGEST_BYTES", 1000)
    found = refused(in_time(50, attributes=codec, content=whole))
    assert found is not None
    assert "more than 1000 bytes" in (found.message or "")


@pytest.mark.parametrize("piece", [1, 7, 64])
def test_members_may_end_anywhere_in_a_piece(piece, monkeypatch):
    monkeypatch.setattr(compression, "_PIECE_BYTES", piece)
    data = records_bytes(RECORDS)
    parts = [data[place : place + 11] for place in range(0, len(data), 11)]
    many = b"".join(map(gzip.compress, [b"", *parts, b""]))
    for content in (many, many + bytes(9)):
        assert compression.decompress(1, memoryview(content)) == data
    assert refused(in_time(50, attributes=1, content=many[:-1])) is not None


def test_only_the_first_frame_of_lz4_counts():
    """A consumer reads one frame, so that records of a second frame would be lost."""
    compress, data = arrow("lz4"), records_bytes(RECORDS)
    first, rest = compress(data), compress(data[9:])
    for after in (rest, bytes(9)):
        batch = in_time(50, attributes=3, content=first + after)
        assert refused(batch) is None
    parted = in_time(50, attributes=3, content=compress(data[:9]) + rest)
    assert error_of(parted) == ErrorCode.INVALID_RECORD


def test_without_a_library_the_records_of_its_codecs_stay_opaque(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    batch = in_time(50, attributes=4, content=b"opaque", max_timestamp_ms=NOW_MS + 5)
    assert checked(batch) is batch
    late = in_time(50, attributes=4, content=b"opaque", max_timestamp_ms=NOW_MS + 2 * HOUR_MS)
    assert error_of(late) == ErrorCode.INVALID_TIMESTAMP


def test_random_bytes_never_raise():
    chance = random.Random(4)
    sound = batch_bytes(3, timestamp_ms=NOW_MS)
    for _ in range(3000):
        data = bytearray(sound)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.choice((0, 255, chance.randrange(256)))
        data[17:21] = crc32c(data[21:]).to_bytes(4, "big")  # so that later checks see the damage
        found = parse_produced(bytes(data), 9)
        if isinstance(found, RawBatch):
            refused(found)
