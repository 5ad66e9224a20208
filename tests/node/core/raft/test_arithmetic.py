"""The quorum's arithmetic, the log and the repeated requests, each alone."""

from itertools import combinations

import pytest

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.log.log import EpochEnd, Log
from kraftproof.node.core.raft.peer_retries import PeerRetries, retry_backoff_ns
from kraftproof.node.core.raft.quorum import (
    VoteResult,
    majority,
    majority_contact,
    majority_offset,
    vote_result,
)
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord


def batch(base, epoch, records=1):
    return Batch(base_offset=base, epoch=epoch, timestamp_ms=0, records=(NoOpRecord(),) * records)


def log_of(*epochs):
    return Log([batch(offset, epoch) for offset, epoch in enumerate(epochs)])


@pytest.mark.requirement("595-12")
@pytest.mark.parametrize("voters", range(1, 8))
def test_two_majorities_share_a_voter(voters):
    majorities = [set(each) for each in combinations(range(voters), majority(voters))]
    assert majorities
    assert all(one & other for one in majorities for other in majorities)


@pytest.mark.requirement("595-16")
@pytest.mark.requirement("595-24")
@pytest.mark.parametrize(
    ("voters", "granted", "refused", "result"),
    [
        (1, 1, 0, VoteResult.WON),
        (2, 1, 0, VoteResult.PENDING),
        (2, 1, 1, VoteResult.LOST),
        (2, 2, 0, VoteResult.WON),
        (3, 1, 1, VoteResult.PENDING),
        (3, 2, 0, VoteResult.WON),
        (3, 1, 2, VoteResult.LOST),
        (5, 2, 2, VoteResult.PENDING),
        (5, 3, 2, VoteResult.WON),
        (5, 2, 3, VoteResult.LOST),
    ],
)
def test_votes(voters, granted, refused, result):
    assert vote_result(voters, granted, refused) is result


@pytest.mark.requirement("595-27")
@pytest.mark.parametrize(
    ("flushed", "offset"),
    [
        ([7], 7),
        ([7, 3], 3),
        ([7, 3, 5], 5),
        ([9, 9, 1], 9),
        ([4, 3, 2, 1], 2),
        ([5, 5, 5, 9, 9], 5),
    ],
)
def test_the_high_watermark_is_what_a_majority_has_flushed(flushed, offset):
    assert majority_offset(flushed) == offset
    assert majority_contact(flushed) == offset


@pytest.mark.requirement("595-10")
@pytest.mark.requirement("595-48")
@pytest.mark.parametrize(
    ("asked", "epoch", "end"),
    [(0, 0, 0), (1, 1, 2), (2, 1, 2), (3, 3, 3), (4, 3, 3), (5, 5, 6), (9, 5, 6)],
)
def test_the_end_of_the_largest_epoch_at_most_the_one_asked(asked, epoch, end):
    assert log_of(1, 1, 3, 5, 5, 5).end_offset_for_epoch(asked) == EpochEnd(epoch, end)


@pytest.mark.requirement("595-10")
def test_truncation_cuts_the_epochs_too_and_makes_another_log():
    log = log_of(1, 1, 3, 5)
    assert log.truncate(2) == 2
    assert (log.end_offset, log.last_epoch, log.generation) == (2, 1, 1)
    assert log.end_offset_for_epoch(9) == EpochEnd(1, 2)
    log.append(batch(2, 4))
    assert log.end_offset_for_epoch(3) == EpochEnd(1, 2)
    assert log.end_offset_for_epoch(4) == EpochEnd(4, 3)


def test_truncation_drops_a_batch_that_reaches_past_the_end():
    log = Log([batch(0, 1, 2), batch(2, 1, 3)])
    assert log.truncate(4) == 2
    assert log.truncate(2) == 2
    assert log.truncate(0) == 0
    assert log.last_epoch == 0


def test_a_read_gives_whole_batches_of_one_epoch_at_least_one():
    log = Log([batch(0, 1, 2), batch(2, 1, 2), batch(4, 2, 2)])
    assert [b.base_offset for b in log.read(0, 1_000_000)] == [0, 2]
    assert [b.base_offset for b in log.read(0, 0)] == [0]
    assert [b.base_offset for b in log.read(3, 0)] == [2]
    assert [b.base_offset for b in log.read(4, 1_000_000)] == [4]
    assert log.read(6, 1_000_000) == ()


def test_batches_between_offsets():
    log = Log([batch(0, 1, 2), batch(2, 1, 2), batch(4, 2, 2)])
    assert [b.base_offset for b in log.batches(2, 6)] == [2, 4]
    assert [b.base_offset for b in log.batches(0, 5)] == [0, 2]


@pytest.mark.requirement("595-57")
def test_backoff_doubles_up_to_its_bound():
    timeouts = Timeouts()
    waits = [retry_backoff_ns(timeouts, attempt) for attempt in range(1, 9)]
    assert waits == [milliseconds(n) for n in (20, 40, 80, 160, 320, 640, 1000, 1000)]
    assert retry_backoff_ns(timeouts, 1_000_000) == milliseconds(1000)


@pytest.mark.requirement("595-33")
def test_a_campaign_asks_each_peer_once_until_lost_or_settled():
    timeouts = Timeouts()
    retries = PeerRetries([3, 2], 0)
    assert retries.take_due(0) == [2, 3]
    assert retries.take_due(0) == []
    assert retries.deadline() is None
    retries.retry_later(2, timeouts, 0)
    retries.done(3)
    assert retries.deadline() == milliseconds(20)
    assert retries.take_due(milliseconds(20)) == [2]
    retries.done(2)
    retries.retry_later(2, timeouts, 0)
    assert retries.deadline() is None
