"""Batches of a topic as bytes: headers, the leader's changes, damage of every kind."""

import random

import pytest

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.raw_batch import (
    HEADER_BYTES,
    NO_PRODUCER,
    CorruptRawBatchError,
    IncompleteBatchError,
    UnsupportedMagicError,
    parse_batch,
    parse_batches,
    parse_header,
)
from tests.support.node.raw_batches import GZIP, DefaultRecordBatch, produced, raw


def test_a_header_is_read_as_kafka_python_wrote_it():
    data = produced(
        [b"a" * 100, b"b" * 100, b"c" * 100],
        timestamps=[70, 90, 80],
        compression=GZIP,
        producer_id=1 << 40,
        producer_epoch=7,
        base_sequence=123,
    )
    batch = parse_batch(data)
    assert batch.data == data
    assert batch.size == len(data)
    assert (batch.base_offset, batch.last_offset, batch.next_offset, batch.count) == (0, 2, 3, 3)
    assert (batch.base_timestamp_ms, batch.max_timestamp_ms) == (70, 90)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (1 << 40, 7, 123)
    assert batch.compression == GZIP
    assert not batch.is_control
    assert not batch.is_transactional
    assert not batch.is_log_append_time
    assert parse_batch(produced([b"a"])).producer_id == NO_PRODUCER


def test_the_leader_moves_a_batch_and_its_crc_still_holds():
    moved = raw(4000, b"a", b"b", epoch=9)
    assert (moved.base_offset, moved.next_offset, moved.epoch) == (4000, 4002, 9)
    assert parse_batch(moved.data) == moved
    theirs = DefaultRecordBatch(moved.data)
    assert theirs.validate_crc()
    assert [(record.offset, record.value) for record in theirs] == [(4000, b"a"), (4001, b"b")]
    assert moved.data[HEADER_BYTES:] == produced([b"a", b"b"])[HEADER_BYTES:]


def test_log_append_time_is_the_time_of_each_record():
    stamped = raw(3, b"a", b"b", timestamps=[5, 6]).stamped(99)
    assert parse_batch(stamped.data) == stamped
    assert stamped.is_log_append_time
    theirs = DefaultRecordBatch(stamped.data)
    assert theirs.validate_crc()
    assert [(record.timestamp, record.timestamp_type) for record in theirs] == [(99, 1), (99, 1)]


def test_every_flipped_bit_that_the_crc_covers_is_found():
    data = raw(0, b"value").data
    for position in range(21, len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 1 << (position % 8)
        with pytest.raises(WireError):
            parse_batch(bytes(damaged))
    with pytest.raises(CorruptRawBatchError, match="the batch at offset 0 fails its CRC"):
        parse_batch(data[:-1] + bytes([data[-1] ^ 1]))


def test_an_older_magic_is_told_from_damage():
    data = bytearray(raw(0).data)
    data[16] = 1
    with pytest.raises(UnsupportedMagicError, match="magic 1"):
        parse_batch(bytes(data))


def test_batches_end_before_an_incomplete_batch_if_that_is_allowed():
    first, second = raw(0, b"a"), raw(1, b"b", b"c")
    data = first.data + second.data
    assert list(parse_batches(data)) == [first, second]
    for end in range(len(data)):
        whole = [] if end < first.size else [first]
        assert list(parse_batches(data[:end], allow_partial=True)) == whole
        if end not in (0, first.size):
            with pytest.raises(IncompleteBatchError):
                list(parse_batches(data[:end]))
        if end > first.size:
            with pytest.raises(WireError, match="after a batch"):
                parse_batch(data[:end])


def test_an_impossible_length_or_count_is_refused_before_the_data_is_read():
    data = raw(0).data
    for length in (-(1 << 31), -1, 0, 48):
        with pytest.raises(WireError, match="the header has more"):
            parse_batch(data[:8] + length.to_bytes(4, "big", signed=True) + data[12:])
    with pytest.raises(IncompleteBatchError):
        parse_batch(data[:8] + (1 << 30).to_bytes(4, "big") + data[12:])
    with pytest.raises(WireError, match="counts 1073741824 records up to delta 0"):
        parse_header(data[:57] + (1 << 30).to_bytes(4, "big") + data[61:])


def test_random_bytes_are_no_batch():
    chance = random.Random(5)
    for _ in range(2000):
        with pytest.raises(WireError):
            parse_batch(chance.randbytes(chance.randrange(1, 200)))
