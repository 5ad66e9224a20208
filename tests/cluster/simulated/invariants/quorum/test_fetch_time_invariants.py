"""The times of DescribeQuorum go red wherever they differ from the Fetches that arrived."""

import pytest
from msgspec.structs import replace as changed

from kraftproof.node.core.raft.fetch_rpc import FETCH_VERSION
from tests.cluster.simulated.invariants.invariant_harness import fetch
from tests.cluster.simulated.invariants.quorum.quorum_answer_case import (
    COMMITTED,
    LOG_END,
    TOLD,
    UNHEARD,
    Controller,
    quorum,
    replica,
)


@pytest.mark.requirement("595-64")
@pytest.mark.parametrize(
    ("ours", "times", "reported"),
    [
        ((100, 100), (100, 100), 0),
        ((100, 100), (100, -1), 1),
        ((100, 100), (99, 100), 1),
        ((100, 99), (100, 100), 1),
        ((-1, -1), (100, 100), 1),
    ],
)
def test_the_times_are_those_of_the_last_fetches(ours, times, reported):
    controller = Controller().leads()
    controller.process.receives(fetch(2, LOG_END, epoch=7), version=FETCH_VERSION)
    voters = (replica(1, LOG_END, *ours), replica(2, LOG_END, *times), UNHEARD)
    told = changed(TOLD, current_voters=voters)
    assert len(controller.says(quorum(told), version=1)) == reported


@pytest.mark.requirement("595-64")
@pytest.mark.parametrize(("times", "reported"), [((107, 100), 0), ((107, 107), 1)])
def test_a_fetch_without_the_whole_log_does_not_catch_up(times, reported):
    controller = Controller().leads()
    controller.process.receives(fetch(2, LOG_END, epoch=7), version=FETCH_VERSION)
    controller.appends(1).harness.now_ns += 7_000_000
    controller.process.receives(fetch(2, LOG_END, epoch=7), version=FETCH_VERSION)
    voters = (replica(1, LOG_END + 1, 107, 107), replica(2, LOG_END, *times), UNHEARD)
    told = changed(TOLD, current_voters=voters)
    controller.process.leads(7, high_watermark=COMMITTED, log_end=LOG_END + 1)
    assert len(controller.says(quorum(told), version=1)) == reported
