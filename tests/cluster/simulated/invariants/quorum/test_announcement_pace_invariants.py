"""A BeginQuorumEpoch that is repeated too early or not at all goes red, and so do successors."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.cluster.simulated.invariants.quorum.announcement_pace import (
    BEGIN,
    END,
    BeginQuorumEpochIsRepeated,
    SuccessorsElectInOrder,
)
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    fetch_snapshot_request,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, fetch

CONFIG = ClusterConfig(
    voters=(1, 2, 3),
    timeouts=Timeouts(retry_backoff_ns=milliseconds(20), retry_backoff_max_ns=milliseconds(1000)),
)


def begun(error: int = 0, partition_error: int = 0):
    partition = begin_quorum_epoch_response.PartitionData(error_code=partition_error)
    topic = begin_quorum_epoch_response.TopicData(partitions=(partition,))
    return begin_quorum_epoch_response.BeginQuorumEpochResponse(error_code=error, topics=(topic,))


def leader():
    harness = MonitorHarness(BeginQuorumEpochIsRepeated(CONFIG))
    process = harness.process(1)
    process.leads(5)
    process.sends(BEGIN(), to=2)
    return harness, process


FAILURES = {
    "lost": lambda process: process.loses(),
    "refused": lambda process: process.hears(2, BEGIN(), begun(error=-1)),
    "refused partition": lambda process: process.hears(2, BEGIN(), begun(partition_error=74)),
    "empty": lambda process: process.hears(
        2, BEGIN(), begin_quorum_epoch_response.BeginQuorumEpochResponse()
    ),
}


@pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize(("wait_ms", "is_right"), [(10, False), (20, True), (900, True)])
def test_a_failed_announcement_is_repeated_later(fail, wait_ms, is_right) -> None:
    harness, process = leader()
    fail(process)
    harness.now_ns += milliseconds(wait_ms)
    process.sends(BEGIN(), to=2)
    assert (harness.reported == []) == is_right


@pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES)
def test_a_failed_announcement_that_is_not_repeated_is_found(fail) -> None:
    harness, process = leader()
    fail(process)
    harness.now_ns += milliseconds(1000)
    process.receives(fetch(3, 0))
    assert harness.reported == []
    harness.now_ns += milliseconds(200)
    process.receives(fetch(3, 0))
    [fault] = harness.reported
    assert "voter 2" in fault


ENDINGS = {
    "endorsed": lambda process: process.hears(2, BEGIN(), begun()),
    "fetched": lambda process: process.receives(fetch(2, 0)),
    "copies a snapshot": lambda process: process.receives(
        fetch_snapshot_request.FetchSnapshotRequest(replica_id=2)
    ),
    "resigned": lambda process: process.moves(role="resigned"),
    "restarted": lambda process: (setattr(process, "status", None), process.moves(role="voted")),
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("is_lost_before", [False, True])
def test_nothing_has_to_be_repeated_after_the_end(end, is_lost_before) -> None:
    harness, process = leader()
    if is_lost_before:
        process.loses()
    end(process)
    process.loses()
    harness.now_ns += milliseconds(2000)
    process.receives(fetch(3, 0))
    assert harness.reported == []


def ended(successors, *, version=1, leader_id=2):
    named = tuple(end_quorum_epoch_request.ReplicaInfo(candidate_id=one) for one in successors)
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=leader_id,
        leader_epoch=5,
        preferred_candidates=named if version else (),
        preferred_successors=() if version else successors,
    )
    topic = end_quorum_epoch_request.TopicData(partitions=(partition,))
    return END(topics=(topic,))


def candidate_after(message, wait_ms):
    harness = MonitorHarness(SuccessorsElectInOrder(CONFIG))
    process = harness.process(1)
    process.moves(role="follower", epoch=5, leader=2)
    process.receives(message)
    harness.now_ns += milliseconds(wait_ms)
    process.moves(role="candidate", epoch=6, leader=-1)
    return harness.reported


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("successors", "wait_ms", "fault"),
    [
        ((1, 3), 0, None),
        ((3, 1), 20, None),
        ((3, 1), 0, "too early"),
        ((3, 1), 200, "too late"),
        ((3, 4, 1), 40, None),
        ((3, 4, 1), 25, "too early"),
    ],
)
def test_successors_wait_for_their_turn(successors, wait_ms, fault, version) -> None:
    reported = candidate_after(ended(successors, version=version), wait_ms)
    assert (fault is None and not reported) or fault in reported[0]


def test_only_the_leader_of_the_epoch_ends_it() -> None:
    assert candidate_after(ended((3, 1), leader_id=3), 0) == []
    assert candidate_after(END(), 0) == []
