"""VersionsCarryRequests objects to versions that do not exist or lose a field."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum import request_versions
from kraftproof.cluster.simulated.invariants.quorum.request_versions import VersionsCarryRequests
from kraftproof.node.core.effects import Send
from kraftproof.node.wire.messages import fetch_request, vote_request
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

Fetch = fetch_request.FetchRequest
STATE = fetch_request.ReplicaState(replica_id=2)


@pytest.mark.parametrize(
    ("message", "version", "is_carried"),
    [
        (Fetch(cluster_id="c", replica_state=STATE), 17, True),
        (Fetch(cluster_id="c", replica_state=STATE), 15, True),
        (Fetch(cluster_id="c", replica_state=STATE), 14, False),
        (Fetch(cluster_id="c"), 11, False),
        (Fetch(), Fetch.MAX_VERSION + 1, False),
        (Fetch(), -1, False),
        (vote_request.VoteRequest(cluster_id="c", voter_id=3), 1, True),
        (vote_request.VoteRequest(cluster_id="c", voter_id=3), 0, False),
    ],
)
@pytest.mark.parametrize("hook", ["on_sent", "on_data_sent"])
def test_a_version_carries_each_field_of_a_request(message, version, is_carried, hook):
    harness = MonitorHarness(VersionsCarryRequests())
    send = Send(destination=2, correlation=1, message=message, version=version, timeout_ns=1)
    for sent in getattr(harness.monitor, hook)[type(message)]:
        sent(harness.process(1), send)
    assert bool(harness.reported) != is_carried


def test_the_first_requests_of_a_kind_are_read_again(monkeypatch):
    monkeypatch.setattr(request_versions, "COMPARED", 2)
    harness = MonitorHarness(VersionsCarryRequests())
    process = harness.process(1)
    for message in (Fetch(), Fetch(), Fetch(cluster_id="c")):
        send = Send(destination=2, correlation=1, message=message, version=11, timeout_ns=1)
        for sent in harness.monitor.on_sent[Fetch]:
            sent(process, send)
    assert not harness.reported
