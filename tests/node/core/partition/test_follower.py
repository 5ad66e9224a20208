"""Decisions of a follower: where to truncate, and which batches to append."""

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.partition.follower import (
    UnfitAnswerError,
    fetched_batches,
    has_no_common_part,
    truncation_offset,
)
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.messages.generated.fetch_response import PartitionData
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.types import Uuid
from tests.support.node.client_batches import batch_bytes


def log(*epochs, start=0):
    """An index with one record per epoch number."""
    index = LogIndex(LogId(Uuid(b"t" * 16), 0), start_offset=start)
    for offset, epoch in enumerate(epochs, start=start):
        index.append(offset, offset + 1, epoch, 80, 0)
    return index


@pytest.mark.parametrize(
    ("start", "end", "leaders_start", "expected"),
    [(0, 0, 0, False), (0, 3, 0, False), (0, 3, 2, False), (0, 3, 3, True), (2, 2, 0, True)],
)
def test_a_common_part_that_ends_at_a_start_is_empty(start, end, leaders_start, expected):
    """Log seed 1710173: the leader's start was within a batch of the follower, which was cut."""
    assert has_no_common_part(log(1, 1, 1, 1, start=start), end, leaders_start) is expected


@pytest.mark.parametrize(
    ("epochs", "leaders", "expected"),
    [
        ((1, 1, 1, 2, 2), (2, 4), 4),
        ((1, 1, 1, 2, 2), (2, 9), 5),
        ((1, 1, 1, 2, 2), (1, 2), 2),
        ((1, 1, 1, 3, 3), (2, 4), 3),
        ((2, 2, 2), (1, 1), 0),
        ((2, 2, 2), (1, 0), 0),
        ((2, 2, 2), (5, 2), 2),
    ],
)
def test_the_common_part_ends_with_the_leaders_epoch_in_both_logs(epochs, leaders, expected):
    assert truncation_offset(log(*epochs), *leaders) == expected


def test_a_truncation_never_goes_below_the_start_of_the_log():
    assert truncation_offset(log(3, 3, start=10), 1, 4) == 10
    assert truncation_offset(log(start=10), 1, 4) == 10


def answer(*batches):
    return PartitionData(records=b"".join(batches))


def test_batches_that_continue_the_log_are_taken_and_a_cut_one_is_left():
    index = log(1, 1)
    whole = [batch_bytes(2, base_offset=2, epoch=1), batch_bytes(1, base_offset=4, epoch=3)]
    taken = fetched_batches(index, 3, answer(*whole, batch_bytes(base_offset=5)[:-3]))
    assert [batch.data for batch in taken] == whole
    assert fetched_batches(index, 3, PartitionData(records=None)) == []


@pytest.mark.parametrize(
    "data",
    [
        batch_bytes(base_offset=3, epoch=1),
        batch_bytes(base_offset=1, epoch=1),
        batch_bytes(base_offset=2, epoch=0),
        batch_bytes(base_offset=2, epoch=4),
        batch_bytes(base_offset=2, epoch=1) + batch_bytes(base_offset=2, epoch=1),
        batch_bytes(base_offset=2, epoch=2) + batch_bytes(base_offset=3, epoch=1),
        batch_bytes(base_offset=2, epoch=1)[:-1] + b"\1",
        b"\0" * 80,
    ],
)
def test_a_gap_an_older_epoch_a_newer_one_and_damage_are_refused(data):
    with pytest.raises(UnfitAnswerError):
        fetched_batches(log(1, 1), 3, answer(data))


def test_decoded_batches_are_no_answer_about_a_topic():
    batch = Batch(base_offset=2, epoch=1, timestamp_ms=0, records=(NoOpRecord(),))
    with pytest.raises(UnfitAnswerError):
        fetched_batches(log(1, 1), 3, PartitionData(records=(batch,)))


def test_an_empty_log_takes_the_batch_in_whose_middle_it_starts():
    """DeleteRecords may raise the leader's start into a batch, and leaders send whole batches."""
    held = batch_bytes(3, base_offset=4, epoch=1)
    assert [batch.data for batch in fetched_batches(log(start=5), 1, answer(held))] == [held]
    with pytest.raises(UnfitAnswerError):
        fetched_batches(log(start=9), 1, answer(held))
    with pytest.raises(UnfitAnswerError):
        fetched_batches(log(1, start=5), 1, answer(held))


def test_a_log_takes_the_batch_of_its_end_if_the_leader_has_deleted_its_records():
    """The logs differ below the leader's start, and the Fetches go on."""
    held = batch_bytes(3, base_offset=6, epoch=8)
    deleted = PartitionData(records=held, log_start_offset=7)
    assert [batch.data for batch in fetched_batches(log(1, 1, 5, start=4), 9, deleted)] == [held]


@pytest.mark.parametrize("leaders_start", [-1, 6])
def test_a_batch_below_the_end_of_a_log_that_the_leader_still_has_is_refused(leaders_start):
    held = batch_bytes(3, base_offset=6, epoch=8)
    data = PartitionData(records=held, log_start_offset=leaders_start)
    with pytest.raises(UnfitAnswerError):
        fetched_batches(log(1, 1, 5, start=4), 9, data)
