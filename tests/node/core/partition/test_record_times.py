"""Times of records in produced batches: true headers, LogAppendTime, and every faulty record."""

import gzip

import pytest
from msgspec.structs import replace

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.raw_batch import RawBatch, parse_batch
from tests.node.core.partition.test_validation import (
    HOUR_MS,
    NOW_MS,
    checked,
    error_of,
    in_time,
    refused,
)
from tests.support.node.client_batches import raw_batch, records_bytes

APPEND_TIME = 0x08
TIMED = records_bytes([(b"k", b"v")] * 3, deltas_ms=[0, 7, 5])


@pytest.mark.parametrize("codec", [0, 1])
@pytest.mark.parametrize("newest_ms", [-1, 0, NOW_MS, NOW_MS + 8, NOW_MS + 10 * HOUR_MS])
def test_a_wrong_time_in_the_header_becomes_that_of_the_records(codec, newest_ms):
    """Retention and look-ups by time read the header alone."""
    content = gzip.compress(TIMED) if codec else TIMED
    wrong = in_time(3, content=content, attributes=codec, max_timestamp_ms=newest_ms)
    found = checked(wrong)
    right = in_time(3, content=content, attributes=codec, max_timestamp_ms=NOW_MS + 7)
    assert found == right
    assert found == parse_batch(right.data), "the CRC fits"
    assert checked(wrong, uses_append_time=True) is wrong, "the leader stamps the header"


@pytest.mark.parametrize("newest_ms", [0, NOW_MS, NOW_MS + HOUR_MS])
def test_each_record_of_a_stamped_batch_has_the_time_of_the_header(newest_ms):
    batch = in_time(3, content=TIMED, attributes=APPEND_TIME, max_timestamp_ms=newest_ms)
    assert checked(batch) == in_time(3, content=TIMED, max_timestamp_ms=newest_ms)
    late = replace(batch, base_timestamp_ms=NOW_MS + 9 * HOUR_MS)
    assert error_of(late) is None


@pytest.mark.parametrize(
    ("newest_ms", "changes"),
    [(-1, {}), (NOW_MS + HOUR_MS + 1, {}), (NOW_MS, {"uses_append_time": True})],
)
def test_a_client_cannot_stamp_its_batch(newest_ms, changes):
    batch = in_time(2, attributes=APPEND_TIME, max_timestamp_ms=newest_ms)
    found = refused(batch, **changes)
    assert found is not None
    assert found.error == ErrorCode.INVALID_TIMESTAMP
    assert [record.index for record in found.records] == [0, 1]


def test_every_fault_of_the_records_is_named_and_one_wrong_time_gives_the_error():
    keys = [(None, b"v"), (b"k", b"v"), (None, b"v"), (b"k", b"v")]
    deltas = [-2 * HOUR_MS, 0, 0, -2 * HOUR_MS]
    batch = in_time(4, content=records_bytes(keys, deltas_ms=deltas))
    found = refused(batch, is_compacted=True, timestamp_before_max_ms=HOUR_MS)
    assert found is not None
    assert found.error == ErrorCode.INVALID_TIMESTAMP
    assert [record.index for record in found.records] == [0, 2, 3]
    assert "key" in found.records[0].message
    assert "timestamp" in found.records[2].message


@pytest.mark.parametrize("timestamp_ms", [NOW_MS, -1, 0])
def test_a_true_header_stays_as_it_is(timestamp_ms):
    batch = raw_batch(2, timestamp_ms=timestamp_ms)
    assert checked(batch) is batch


def test_the_newest_time_fits_into_the_header():
    largest = (1 << 63) - 1
    content = records_bytes([(b"k", b"v")] * 2, deltas_ms=[0, 5])
    late = raw_batch(2, content=content, timestamp_ms=largest, max_timestamp_ms=0)
    found = checked(late, timestamp_after_max_ms=1 << 63)
    assert isinstance(found, RawBatch)
    assert found.max_timestamp_ms == largest
    early = raw_batch(2, content=content, timestamp_ms=-9, max_timestamp_ms=0)
    assert checked(early) == raw_batch(2, content=content, timestamp_ms=-9, max_timestamp_ms=-1)
