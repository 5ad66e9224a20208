"""A Fetch that comes too early or too late after a failure goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.cluster.simulated.invariants.quorum.fetch_pace import FetchesBackOff
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import fetch_response
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, fetch

CONFIG = ClusterConfig(
    voters=(1, 2, 3),
    timeouts=Timeouts(
        fetch_ns=milliseconds(1000),
        election_ns=milliseconds(500),
        request_ns=milliseconds(1000),
        retry_backoff_ns=milliseconds(20),
        retry_backoff_max_ns=milliseconds(1000),
    ),
)
FETCH = fetch(4, 0, epoch=1)
SERVED = fetch_response.FetchResponse(
    responses=(fetch_response.FetchableTopicResponse(partitions=(fetch_response.PartitionData(),)),)
)
REFUSED = fetch_response.FetchResponse(error_code=-1)
OTHER_LEADER = fetch_response.FetchResponse(
    responses=(
        fetch_response.FetchableTopicResponse(
            partitions=(fetch_response.PartitionData(error_code=6),)
        ),
    )
)
LOST = None


def node(node_id=4):
    harness = MonitorHarness(FetchesBackOff(CONFIG))
    process = harness.process(node_id)
    process.moves(role="observer", epoch=1, leader=2)
    process.sends(FETCH)
    return harness, process


def ends(harness, process, answer, after_ms=1):
    harness.now_ns += milliseconds(after_ms)
    if answer is LOST:
        process.loses()
    else:
        process.hears(2, FETCH, answer)


def fetches(harness, process, after_ms, to=2):
    """Send the next Fetch, whose step leaves the leadership as it is."""
    harness.now_ns += milliseconds(after_ms)
    process.sends(FETCH, to=to)
    process.hears(to, FETCH, SERVED)


@pytest.mark.parametrize(
    ("answer", "took_ms", "wait_ms", "to", "is_right"),
    [
        (SERVED, 1, 0, 2, True),
        (LOST, 1, 20, 2, True),
        (LOST, 1, 10, 2, False),
        (LOST, 1, 0, 3, True),
        (REFUSED, 1, 10, 2, False),
        (REFUSED, 1, 25, 2, True),
        (OTHER_LEADER, 1, 10, 3, False),
        (OTHER_LEADER, 1, 20, 3, True),
        (LOST, 1200, 600, 2, False),
        (LOST, 1200, 1000, 2, True),
        (LOST, 12_000, 1000, 2, True),
        (LOST, 12_000, 12_000, 2, False),
        (SERVED, 1, 1000, 2, True),
        (SERVED, 1, 1200, 2, False),
        (LOST, 1, 1200, 2, False),
    ],
)
def test_the_next_fetch_comes_in_time(answer, took_ms, wait_ms, to, is_right) -> None:
    harness, process = node()
    ends(harness, process, answer, took_ms)
    fetches(harness, process, wait_ms, to)
    assert (harness.reported == []) == is_right


@pytest.mark.parametrize("answer", [OTHER_LEADER, REFUSED], ids=["90011", "90114"])
def test_after_the_load_of_a_snapshot_a_fetch_comes_at_once(answer) -> None:
    """The simulation showed both answers at these seeds."""
    harness, process = node()
    ends(harness, process, answer)
    later = fetch(4, 7, epoch=1)
    process.sends(later)
    process.hears(2, later, SERVED)
    assert harness.reported == []


def test_the_back_off_doubles() -> None:
    harness, process = node()
    for wait_ms in (20, 40, 80):
        ends(harness, process, LOST)
        harness.now_ns += milliseconds(wait_ms)
        process.sends(FETCH)
    ends(harness, process, LOST)
    assert harness.reported == []
    fetches(harness, process, 100)
    [fault] = harness.reported
    assert "after 4 failures" in fault


@pytest.mark.parametrize("changes", [{"epoch": 2}, {"leader": 3}, {"epoch": 2, "leader": -1}])
def test_a_change_of_the_leadership_ends_each_wait(changes) -> None:
    harness, process = node()
    ends(harness, process, LOST)
    process.sends(FETCH)
    process.moves(**changes)
    process.hears(2, FETCH, SERVED)
    assert harness.reported == []


def test_a_restart_and_a_voter_that_flushes_may_take_any_time() -> None:
    harness, process = node()
    ends(harness, process, LOST)
    process.restarts([])
    fetches(harness, process, 0)
    harness, process = node(1)
    ends(harness, process, SERVED)
    fetches(harness, process, 5_000)
    assert harness.reported == []


def test_a_late_answer_to_an_earlier_fetch_ends_the_wait() -> None:
    """Seed 200364: the voter answered a Fetch that a later Fetch had superseded."""
    harness, process = node()
    ends(harness, process, LOST)
    process.hears(2, FETCH, OTHER_LEADER, correlation=0)
    fetches(harness, process, 0)
    assert harness.reported == []


def test_a_clock_that_drifts_within_a_wait_shortens_the_wait() -> None:
    """Seed 200909: the drift began after the failure, and before the next Fetch."""
    harness, process = node()
    ends(harness, process, LOST)
    harness.monitor.rate_error = 0.4
    fetches(harness, process, 15)
    assert harness.reported == []
