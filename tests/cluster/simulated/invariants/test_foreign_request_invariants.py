"""The invariant of requests that name another cluster goes red at one that is not refused."""

from dataclasses import replace

import pytest

from kraftproof.cluster.simulated.invariants.foreign_requests import ForeignClusterIdRefused
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    fetch_request,
    fetch_response,
    vote_request,
    vote_response,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness


@pytest.mark.parametrize(
    ("cluster_id", "error", "reported"),
    [
        ("ours", ErrorCode.NONE, 0),
        (None, ErrorCode.NONE, 0),
        ("theirs", ErrorCode.INCONSISTENT_CLUSTER_ID, 0),
        ("theirs", ErrorCode.NONE, 1),
    ],
)
def test_a_request_that_names_a_cluster(cluster_id, error, reported):
    harness = MonitorHarness(ForeignClusterIdRefused(replace(CONFIG, cluster_id="ours")))
    process = harness.process(1)
    event = process.receives(vote_request.VoteRequest(cluster_id=cluster_id))
    process.replies(event, vote_response.VoteResponse(error_code=error))
    assert len(harness.reported) == reported


def test_a_fetch_of_topics_may_name_any_cluster():
    """Seed 201058: a broker's own listener ignores the id, as Kafka's brokers do."""
    harness = MonitorHarness(ForeignClusterIdRefused(replace(CONFIG, cluster_id="ours")))
    process = harness.process(4)
    request = fetch_request.FetchRequest(cluster_id="theirs")
    event = process.receives(request, on_controller_listener=False)
    process.replies(event, fetch_response.FetchResponse())
    assert harness.reported == []
