"""Answers between replicas go red for what the wire shows."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.peer_answers import (
    FetchersDoNotLead,
    ResponsesMatchRequests,
)
from kraftproof.node.core.raft.fetch_rpc import TOPIC_ID
from kraftproof.node.core.raft.rpc import TOPIC
from kraftproof.node.wire.messages import (
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness


def fetch(epoch=7):
    partition = fetch_request.FetchPartition(partition=0, current_leader_epoch=epoch)
    topic = fetch_request.FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=(partition,))
    return fetch_request.FetchRequest(topics=(topic,))


def fetched(epoch=7, *, partition=0, error=0, **topic):
    one = fetch_response.PartitionData(
        partition_index=partition,
        error_code=error,
        current_leader=fetch_response.LeaderIdAndEpoch(leader_id=1, leader_epoch=epoch),
    )
    named = {"topic": TOPIC, "topic_id": TOPIC_ID, **topic}
    answer = fetch_response.FetchableTopicResponse(partitions=(one,), **named)
    return fetch_response.FetchResponse(responses=(answer,))


def sliced(size, data, *, name=TOPIC):
    one = fetch_snapshot_response.PartitionSnapshot(size=size, unaligned_records=data)
    topic = fetch_snapshot_response.TopicSnapshot(name=name, partitions=(one,))
    return fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))


def slice_request():
    one = fetch_snapshot_request.PartitionSnapshot()
    topic = fetch_snapshot_request.TopicSnapshot(name=TOPIC, partitions=(one,))
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
    harness = MonitorHarness(ResponsesMatchRequests())
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
