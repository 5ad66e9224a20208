"""The log in memory that begins at a snapshot's end, and who is sent to a snapshot."""

import pytest

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.log.log import EpochEnd, Log
from kraftproof.node.core.raft.fetch_rpc import FetchParams
from kraftproof.node.core.raft.serving import _needs_snapshot
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord

EPOCHS = (1, 1, 3, 3, 3, 7)
"""Of offsets 0 to 5."""


def batch(offset, epoch):
    return Batch(base_offset=offset, epoch=epoch, timestamp_ms=0, records=(NoOpRecord(),))


def log(start=LOG_BEGIN, end=6):
    batches = [batch(offset, EPOCHS[offset]) for offset in range(start.end_offset, end)]
    return Log(batches, start)


def ends(one):
    return [one.end_offset_for_epoch(epoch) for epoch in range(9)]


STARTS = [SnapshotId(end, EPOCHS[end - 1]) for end in range(1, len(EPOCHS) + 1)]


@pytest.mark.requirement("631-31")
@pytest.mark.requirement("595-10")
@pytest.mark.parametrize("start", STARTS)
def test_a_cleaned_log_is_the_one_that_recovery_reads(start):
    cleaned = log()
    cleaned.clean(start)
    read = log(start)
    assert (cleaned.start, cleaned.end_offset, cleaned.last_epoch) == (start, 6, 7)
    assert ends(cleaned) == ends(read)
    whole = ends(log())
    for epoch in range(start.epoch, 9):
        assert ends(cleaned)[epoch] == EpochEnd(
            whole[epoch].epoch, max(whole[epoch].end_offset, start.end_offset)
        )
    assert cleaned.generation == 0, "what was flushed still is"


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("end", range(1, 7))
def test_a_cleaned_log_is_cut_as_a_whole_one_but_not_below_its_start(start, end):
    if end < start.end_offset:
        end = start.end_offset
    cut = log()
    cut.clean(start)
    assert cut.truncate(end) == end
    assert ends(cut) == ends(log(start, end))
    assert cut.last_epoch == EPOCHS[end - 1]
    cut.append(batch(end, 8))
    assert cut.end_offset_for_epoch(8) == EpochEnd(8, end + 1)
    assert cut.end_offset_for_epoch(7).end_offset == end


def test_cleaning_twice_is_cleaning_once():
    twice, once = log(), log()
    twice.clean(STARTS[1])
    twice.clean(STARTS[3])
    once.clean(STARTS[3])
    assert ends(twice) == ends(once)
    assert list(twice.batches(0, 99)) == list(once.batches(0, 99))


@pytest.mark.requirement("631-34")
def test_a_log_that_a_snapshot_replaces_is_empty_and_another_generation():
    one = log()
    one.reset(SnapshotId(40, 9))
    assert (one.start_offset, one.end_offset, one.last_epoch) == (40, 40, 9)
    assert one.generation == 1
    assert one.read(40, 99) == ()
    one.append(batch(40, 9))
    assert one.end_offset_for_epoch(9) == EpochEnd(9, 41)


@pytest.mark.requirement("631-34")
@pytest.mark.parametrize(
    ("offset", "epoch", "needs"),
    [
        (0, 0, True),
        (2, 1, True),
        (3, 3, False),
        (3, 1, True),
        (3, 7, True),
        (4, 3, False),
        (4, 1, True),
        (9, 7, False),
    ],
)
def test_a_replica_below_the_logs_start_or_epoch_needs_a_snapshot(offset, epoch, needs):
    cleaned = log()
    cleaned.clean(SnapshotId(3, 3))
    fetch = FetchParams(
        replica_id=2,
        epoch=7,
        offset=offset,
        last_fetched_epoch=epoch,
        log_start=0,
        max_bytes=1,
        max_wait_ms=0,
        high_watermark=0,
    )
    assert _needs_snapshot(cleaned, fetch) == needs
    assert not _needs_snapshot(log(), fetch)
