"""Answers to Fetches go red for batches that do not follow, and for Fetches that wait too long."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.fetch_answers import (
    FetchReturnsNextBatches,
    NoFetchWaitsWithData,
)
from kraftproof.node.wire.messages import fetch_response
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
