"""A leader that resigns although a majority is in contact goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.cluster.simulated.invariants.quorum.leaderships import NoNeedlessResignation
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Stop
from kraftproof.node.wire.messages import fetch_snapshot_request
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, fetch

FETCH_MS = 1000
TIMEOUTS = Timeouts(fetch_ns=milliseconds(FETCH_MS))


def slice_of(replica_id: int, epoch: int) -> fetch_snapshot_request.FetchSnapshotRequest:
    partition = fetch_snapshot_request.PartitionSnapshot(current_leader_epoch=epoch)
    topic = fetch_snapshot_request.TopicSnapshot(partitions=(partition,))
    return fetch_snapshot_request.FetchSnapshotRequest(replica_id=replica_id, topics=(topic,))


def leader(voters=(1, 2, 3)):
    harness = MonitorHarness(NoNeedlessResignation(ClusterConfig(voters=voters, timeouts=TIMEOUTS)))
    process = harness.process(1)
    process.leads(7)
    harness.now_ns += milliseconds(5000)
    return harness, process


@pytest.mark.parametrize("request_of", [fetch, slice_of], ids=["Fetch", "FetchSnapshot"])
@pytest.mark.parametrize(("wait_ms", "is_right"), [(900, False), (FETCH_MS, True)])
def test_a_contact_keeps_the_leader_for_a_fetch_timeout(request_of, wait_ms, is_right) -> None:
    harness, process = leader()
    process.receives(fetch(2, 0) if request_of is fetch else slice_of(2, 7))
    harness.now_ns += milliseconds(wait_ms)
    process.moves(role="resigned")
    assert (harness.reported == []) == is_right


def test_a_majority_of_five_needs_two_others() -> None:
    harness, process = leader(voters=(1, 2, 3, 4, 5))
    process.receives(fetch(2, 0))
    harness.now_ns += milliseconds(10)
    process.moves(role="resigned")
    assert harness.reported == []
    harness, process = leader(voters=(1, 2, 3, 4, 5))
    process.receives(fetch(2, 0))
    process.receives(fetch(5, 0))
    harness.now_ns += milliseconds(10)
    process.moves(role="resigned")
    [fault] = harness.reported
    assert "10 ms" in fault


@pytest.mark.parametrize(
    "asked", [fetch(2, 0, epoch=6), slice_of(2, 6), fetch(9, 0), slice_of(9, 7)]
)
def test_other_epochs_and_other_replicas_are_no_contact(asked) -> None:
    harness, process = leader()
    process.receives(asked)
    harness.now_ns += milliseconds(10)
    process.moves(role="resigned")
    assert harness.reported == []


def test_a_step_counts_the_contacts_before_it() -> None:
    harness, process = leader()
    process.receives(fetch(2, 0))
    process.moves(role="resigned")
    assert harness.reported == []


@pytest.mark.parametrize("changes", [{"role": "follower", "epoch": 8, "leader": 2}, {"epoch": 8}])
def test_a_newer_epoch_ends_a_leadership_at_once(changes) -> None:
    harness, process = leader()
    process.receives(fetch(2, 0))
    harness.now_ns += milliseconds(10)
    process.moves(**changes)
    assert harness.reported == []


def test_a_stopping_leader_resigns_at_once() -> None:
    harness, process = leader()
    process.receives(fetch(2, 0))
    harness.now_ns += milliseconds(10)
    process.event = Stop()
    process.moves(role="resigned")
    assert harness.reported == []


def test_the_step_that_wins_may_have_waited_for_its_disk() -> None:
    harness = MonitorHarness(
        NoNeedlessResignation(ClusterConfig(voters=(1, 2, 3), timeouts=TIMEOUTS))
    )
    process = harness.process(1)
    process.moves(role="candidate", epoch=7)
    process.sleeps(milliseconds(1500))
    process.leads(7)
    process.moves(role="resigned")
    assert harness.reported == []
    process.moves(role="candidate", epoch=8)
    process.leads(8)
    process.moves(role="resigned")
    assert len(harness.reported) == 1
