"""Answers to Fetches go red for batches that do not follow, and for wrong waits."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.fetch_answers import (
    FetchesWait,
    FetchReturnsNextBatches,
    NoFetchWaitsWithData,
)
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import fetch_request, fetch_response
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness, batch_of
from tests.cluster.simulated.invariants.quorum.test_high_watermark_invariants import fetch

VERSION = 17
FIRST, SECOND, THIRD = batch_of(0, 7), batch_of(1, 7), batch_of(2, 7)
FOREIGN = batch_of(1, 6)


def fetched(*batches, error=0):
    one = fetch_response.PartitionData(partition_index=0, error_code=error, records=batches)
    topic = fetch_response.FetchableTopicResponse(partitions=(one,))
    return fetch_response.FetchResponse(responses=(topic,))


@pytest.mark.parametrize(
    ("asked", "answer", "is_right"),
    [
        (fetch(1), fetched(SECOND, THIRD), True),
        (fetch(3), fetched(), True),
        (fetch(1, replica=9), fetched(), True),
        (fetch(1), fetched(error=6), True),
        (fetch(1), fetched(THIRD), False),
        (fetch(3), fetched(THIRD), False),
        (fetch(0), fetched(FIRST, THIRD), False),
        (fetch(1), fetched(FOREIGN), False),
        (fetch(1), fetched(), False),
    ],
)
def test_batches_follow_the_offset(asked, answer, is_right):
    harness = MonitorHarness(FetchReturnsNextBatches(CONFIG))
    leader = harness.process(1)
    for batch in (FIRST, SECOND, THIRD):
        leader.appends_batch(batch)
    leader.replies(leader.receives(asked, version=VERSION), answer)
    assert (harness.reported == []) == is_right


@pytest.mark.parametrize(("is_answered", "violations"), [(True, 0), (False, 1)])
def test_a_waiting_fetch_is_answered_in_the_step_of_an_append(is_answered, violations):
    harness = MonitorHarness(NoFetchWaitsWithData(CONFIG))
    leader = harness.process(1)
    leader.appends_batch(FIRST)
    leader.leads(7)
    event = leader.receives(fetch(1), version=VERSION)
    leader.steps()
    assert harness.reported == []
    batch = leader.appends_batch(SECOND)
    if is_answered:
        leader.replies(event, fetched(batch))
    leader.steps()
    assert len(harness.reported) == violations


def waiting_fetch(replica, *, high_watermark=1, max_wait_ms=400):
    asked = fetch_request.FetchPartition(fetch_offset=1, high_watermark=high_watermark)
    return fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        max_wait_ms=max_wait_ms,
        topics=(fetch_request.FetchTopic(partitions=(asked,)),),
    )


@pytest.mark.parametrize(
    ("replica", "known", "version", "epoch", "is_right"),
    [
        (2, 1, 18, 7, False),
        (9, 1, 18, 7, False),
        (2, 2, 18, 7, True),
        (2, 1, 17, 7, True),
        (2, 1, 18, 8, True),
    ],
)
def test_a_waiting_fetch_is_answered_in_the_step_of_a_commit(
    replica, known, version, epoch, is_right
):
    harness = MonitorHarness(NoFetchWaitsWithData(CONFIG))
    leader = harness.process(1)
    for batch in (FIRST, SECOND):
        leader.appends_batch(batch)
    leader.leads(epoch, high_watermark=1)
    asked = fetch_request.FetchPartition(fetch_offset=2, high_watermark=known)
    leader.receives(
        fetch_request.FetchRequest(
            replica_state=fetch_request.ReplicaState(replica_id=replica),
            topics=(fetch_request.FetchTopic(partitions=(asked,)),),
        ),
        version=version,
    )
    leader.steps()
    assert harness.reported == []
    leader.leads(epoch, high_watermark=2)
    leader.steps()
    assert (harness.reported == []) == is_right


def told(high_watermark, *batches, error=0):
    one = fetch_response.PartitionData(
        high_watermark=high_watermark, records=batches, error_code=error
    )
    topic = fetch_response.FetchableTopicResponse(partitions=(one,))
    return fetch_response.FetchResponse(responses=(topic,))


@pytest.mark.parametrize(
    ("asked", "waited_ms", "answer", "is_right"),
    [
        (waiting_fetch(2), 400, told(1), True),
        (waiting_fetch(2), 100, told(1), False),
        (waiting_fetch(9), 100, told(1), False),
        (waiting_fetch(-1), 100, told(1), True),
        (waiting_fetch(2), 100, told(2), True),
        (waiting_fetch(2, high_watermark=3), 100, told(2), False),
        (waiting_fetch(2), 100, told(1, SECOND), True),
        (waiting_fetch(2), 100, told(1, error=6), True),
        (waiting_fetch(2, max_wait_ms=9_000), 500, told(1), True),
        (waiting_fetch(2, max_wait_ms=9_000), 400, told(1), False),
        (waiting_fetch(2, max_wait_ms=0), 0, told(1), True),
        (waiting_fetch(2, max_wait_ms=-5), 0, told(1), True),
    ],
)
def test_a_fetch_without_news_waits(asked, waited_ms, answer, is_right):
    harness = MonitorHarness(FetchesWait())
    leader = harness.process(1)
    event = leader.receives(asked, version=18)
    harness.now_ns += milliseconds(waited_ms)
    leader.replies(event, answer)
    assert (harness.reported == []) == is_right


def test_another_fetch_of_the_replica_ends_the_wait():
    harness = MonitorHarness(FetchesWait())
    leader = harness.process(1)
    first = leader.receives(waiting_fetch(2), version=18)
    leader.receives(waiting_fetch(2), version=18)
    leader.replies(first, told(1))
    assert harness.reported == []


@pytest.mark.parametrize(
    ("max_bytes", "batches", "is_right"),
    [(1, (FIRST,), True), (1, (FIRST, SECOND), False), (1000, (FIRST, SECOND), True)],
)
def test_a_fetch_of_a_byte_gets_one_batch(max_bytes, batches, is_right):
    harness = MonitorHarness(FetchReturnsNextBatches(CONFIG))
    leader = harness.process(1)
    for batch in (FIRST, SECOND, THIRD):
        leader.appends_batch(batch)
    asked = fetch_request.FetchPartition(fetch_offset=0, partition_max_bytes=max_bytes)
    request = fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=2),
        topics=(fetch_request.FetchTopic(partitions=(asked,)),),
    )
    leader.replies(leader.receives(request, version=VERSION), fetched(*batches))
    assert (harness.reported == []) == is_right
