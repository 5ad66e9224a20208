"""Answers between replicas, and the bounds of snapshots, go red for what the wire shows."""

import pytest

from kraftproof.cluster.simulated.invariants.bounds import (
    COPIES,
    MOST_SNAPSHOTS,
    SnapshotIsCopiedOnce,
    SnapshotsAreFew,
)
from kraftproof.cluster.simulated.invariants.quorum.peer_answers import (
    AnswersNameWhatWasAsked,
    FetchersDoNotLead,
)
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.wire.messages import (
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

LOG = Uuid(b"m" * 16)


def fetch(epoch=7):
    partition = fetch_request.FetchPartition(partition=0, current_leader_epoch=epoch)
    topic = fetch_request.FetchTopic(topic="metadata", topic_id=LOG, partitions=(partition,))
    return fetch_request.FetchRequest(topics=(topic,))


def fetched(epoch=7, *, partition=0, error=0, **topic):
    one = fetch_response.PartitionData(
        partition_index=partition,
        error_code=error,
        current_leader=fetch_response.LeaderIdAndEpoch(leader_id=1, leader_epoch=epoch),
    )
    named = {"topic": "metadata", "topic_id": LOG, **topic}
    answer = fetch_response.FetchableTopicResponse(partitions=(one,), **named)
    return fetch_response.FetchResponse(responses=(answer,))


def sliced(size, data, *, name="metadata"):
    one = fetch_snapshot_response.PartitionSnapshot(size=size, unaligned_records=data)
    topic = fetch_snapshot_response.TopicSnapshot(name=name, partitions=(one,))
    return fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))


def slice_request():
    one = fetch_snapshot_request.PartitionSnapshot()
    topic = fetch_snapshot_request.TopicSnapshot(name="metadata", partitions=(one,))
    return fetch_snapshot_request.FetchSnapshotRequest(topics=(topic,))


@pytest.mark.parametrize(
    ("request_", "answer", "version", "is_named"),
    [
        (fetch(), fetched(), 17, True),
        (fetch(), fetched(topic=""), 17, True),
        (fetch(), fetched(topic_id=Uuid(bytes(16))), 17, False),
        (fetch(), fetched(topic_id=Uuid(bytes(16))), 12, True),
        (fetch(), fetched(topic=""), 12, False),
        (fetch(), fetched(partition=1), 17, False),
        (fetch(), fetch_response.FetchResponse(error_code=3), 17, True),
        (slice_request(), sliced(9, b"x"), 1, True),
        (slice_request(), sliced(9, b"x", name=""), 1, False),
    ],
)
def test_an_answer_names_what_was_asked(request_, answer, version, is_named):
    harness = MonitorHarness(AnswersNameWhatWasAsked())
    process = harness.process(1)
    process.replies(process.receives(request_, version=version), answer)
    assert (harness.reported == []) == is_named


def test_a_follower_fetches_and_leads_a_later_epoch():
    harness = MonitorHarness(FetchersDoNotLead())
    process = harness.process(1)
    process.sends(fetch(7))
    process.persists(epoch=8, leader=1, voted_for=1)
    process.replies(process.receives(fetch(8)), fetched(8))
    process.sends(fetch(8))  # it has resigned
    process.replies(process.receives(fetch(8)), fetched(8, error=6))
    assert harness.reported == []


def test_a_candidate_that_fetched_must_not_win():
    harness = MonitorHarness(FetchersDoNotLead())
    process = harness.process(1)
    process.sends(fetch(8))
    process.persists(epoch=8, leader=1, voted_for=1)
    assert len(harness.reported) == 1


def test_a_leader_that_fetched_must_not_serve():
    harness = MonitorHarness(FetchersDoNotLead())
    process = harness.process(1)
    process.persists(epoch=8, leader=1, voted_for=1)
    process.sends(fetch(8))
    process.replies(process.receives(fetch(8)), fetched(8))
    assert len(harness.reported) == 1


def test_snapshots_are_few():
    harness = MonitorHarness(SnapshotsAreFew())
    process = harness.process(1)
    process.log.snapshots = [SnapshotId(end, 1) for end in range(MOST_SNAPSHOTS)]
    process.cleans()
    assert harness.reported == []
    process.log.snapshots.append(SnapshotId(99, 1))
    process.cleans()
    assert len(harness.reported) == 1


def test_a_snapshot_is_not_copied_again_and_again():
    harness = MonitorHarness(SnapshotIsCopiedOnce())
    process = harness.process(2)
    for _ in range(COPIES):
        process.hears(1, slice_request(), sliced(4, b"abcd"))
    assert harness.reported == []
    process.hears(1, slice_request(), sliced(4, b"a"))
    assert len(harness.reported) == 1
