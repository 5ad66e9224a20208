"""Look-ups in a log: the first record with a timestamp, the last batches of producers."""

import pytest

from kraftproof.node.core.log_effects import (
    MAX_TIMESTAMP,
    DeleteLog,
    FindTimestamp,
    ReadProducers,
)
from tests.support.node.partition_disk import (
    LOG,
    chain,
    created,
    run,
)
from tests.support.node.raw_batches import GZIP, raw


@pytest.mark.parametrize("compression", [0, GZIP])
def test_a_timestamp_is_found_record_by_record(compression):
    times = [[10, 50, 30], [20, 20, 20], [70, 60, 90]]
    batches = [
        raw(3 * index, *[b"v" * 90] * 3, timestamps=each, compression=compression)
        for index, each in enumerate(times)
    ]
    node = created(*batches, segment_bytes=1)
    every = [time for each in times for time in each]
    for wanted in range(100):
        expected = next((o for o, time in enumerate(every) if time >= wanted), -1)
        found = node.find(wanted)
        assert (found.token, found.offset) == (7, expected)
        assert found.timestamp_ms == (every[expected] if expected >= 0 else -1)
        assert found.epoch == (1 if expected >= 0 else -1)
    assert node.find(40, start=2).offset == 6
    assert node.find(60, end=7).offset == 6
    assert node.find(80, end=8).offset == -1
    assert node.find(MAX_TIMESTAMP).offset == 8
    assert node.find(MAX_TIMESTAMP, end=6).offset == 1
    assert node.find(MAX_TIMESTAMP, start=9).offset == -1


def test_log_append_time_is_that_of_each_record():
    node = created(raw(0, b"a", b"b").stamped(500))
    found = node.find(400, start=1)
    assert (found.offset, found.timestamp_ms) == (1, 500)


def test_a_look_up_survives_a_truncation_and_a_deletion():
    node = created(*chain(9), segment_bytes=200)
    effect_steps = node.logs.find_timestamp(_find(1000))
    next(effect_steps, None)
    node.truncate(0)
    assert run(node.logs.find_timestamp(_find(1000))).offset == -1
    node.append(*chain(9, start=0, epoch=3))
    steps = node.logs.find_timestamp(_find(5000))
    next(steps)
    run(node.logs.delete(DeleteLog(log=LOG)))
    assert run(steps).offset == -1


def _find(timestamp_ms):
    return FindTimestamp(
        token=1, log=LOG, timestamp_ms=timestamp_ms, start_offset=0, end_offset=1 << 40
    )


def test_the_last_five_batches_of_each_producer_are_read():
    batches = [
        raw(o, b"v", producer_id=o % 2, producer_epoch=0, base_sequence=o // 2) for o in range(20)
    ]
    node = created(*batches, raw(20, b"without"), segment_bytes=300)
    effect = ReadProducers(log=LOG, generation=4, end_offset=17)
    read = run(node.logs.read_producers(effect))
    assert (read.log, read.generation, read.end_offset) == (LOG, 4, 17)
    assert [batch.base_offset for batch in read.batches] == list(range(7, 17))
    assert [(b.producer_id, b.base_sequence) for b in read.batches][-1] == (0, 8)


def test_a_start_knows_the_last_five_committed_batches_and_every_later_batch():
    batches = [
        raw(o, b"v", producer_id=o % 2, producer_epoch=0, base_sequence=o // 2) for o in range(30)
    ]
    node = created(*batches, segment_bytes=300)
    (found,) = node.kill()
    assert [batch.base_offset for batch in found.producer_batches] == list(range(30))
    node.checkpoint(20)
    (found,) = node.kill()
    assert [batch.base_offset for batch in found.producer_batches] == list(range(10, 30))


def test_a_look_up_begins_again_when_its_segments_are_removed():
    node = created(*chain(9), segment_bytes=200)
    steps = node.logs.find_timestamp(_find(MAX_TIMESTAMP))
    next(steps)
    node.raise_start(8)
    found = run(steps)
    newest = node.find(MAX_TIMESTAMP)
    assert not found.has_failed
    assert (found.offset, found.timestamp_ms) == (newest.offset, newest.timestamp_ms)
