"""The invariant of Fetches of another epoch goes red at one that is served."""

import pytest

from kraftproof.cluster.simulated.invariants.elections import FetchesAreFenced
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

CONSUMER = -1


def asked(epoch):
    partition = fetch_request.FetchPartition(current_leader_epoch=epoch)
    return fetch_request.FetchRequest(topics=(fetch_request.FetchTopic(partitions=(partition,)),))


def answered(epoch, error):
    partition = fetch_response.PartitionData(
        error_code=error, current_leader=fetch_response.LeaderIdAndEpoch(leader_epoch=epoch)
    )
    topic = fetch_response.FetchableTopicResponse(partitions=(partition,))
    return fetch_response.FetchResponse(responses=(topic,))


@pytest.mark.parametrize(
    ("epoch", "error", "reported"),
    [
        (4, ErrorCode.NONE, 0),
        (3, ErrorCode.FENCED_LEADER_EPOCH, 0),
        (CONSUMER, ErrorCode.NONE, 0),
        (3, ErrorCode.NONE, 1),
        (5, ErrorCode.NONE, 1),
    ],
)
def test_a_fetch_of_some_epoch_at_the_leader_of_epoch_4(epoch, error, reported):
    harness = MonitorHarness(FetchesAreFenced())
    process = harness.process(1)
    process.replies(process.receives(asked(epoch)), answered(4, error))
    assert len(harness.reported) == reported


def test_a_fetch_that_is_refused_as_a_whole():
    harness = MonitorHarness(FetchesAreFenced())
    process = harness.process(1)
    refusal = fetch_response.FetchResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    process.replies(process.receives(asked(3)), refusal)
    assert harness.reported == []


@pytest.mark.parametrize(
    ("epoch", "leader", "error", "reported"),
    [
        (4, 1, ErrorCode.NONE, 0),
        (4, 2, ErrorCode.NOT_LEADER_OR_FOLLOWER, 0),
        (4, 2, ErrorCode.NONE, 1),
        (3, 1, ErrorCode.NONE, 1),
        (CONSUMER, 1, ErrorCode.NONE, 1),
    ],
)
def test_a_slice_of_a_snapshot_comes_from_the_leader_of_the_epoch(epoch, leader, error, reported):
    asking = fetch_snapshot_request.PartitionSnapshot(current_leader_epoch=epoch)
    topic = fetch_snapshot_request.TopicSnapshot(partitions=(asking,))
    answering = fetch_snapshot_response.PartitionSnapshot(
        error_code=error,
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(leader_id=leader, leader_epoch=4),
    )
    answers = fetch_snapshot_response.TopicSnapshot(partitions=(answering,))
    harness = MonitorHarness(FetchesAreFenced())
    process = harness.process(1)
    request = fetch_snapshot_request.FetchSnapshotRequest(topics=(topic,))
    answer = fetch_snapshot_response.FetchSnapshotResponse(topics=(answers,))
    process.replies(process.receives(request), answer)
    assert len(harness.reported) == reported
