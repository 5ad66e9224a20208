"""Each invariant of the words between voters goes red at what it forbids, and only then."""

import pytest

from kraftproof.cluster.simulated.invariants.announcements import (
    EndQuorumEpochOnShutdown,
    OlderEpochsAreRefused,
    PreferredSuccessorIsCaughtUp,
    QuorumEpochRequestsAccepted,
)
from kraftproof.node.core.events import Stop, Tick
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    MonitorHarness,
    granted,
    vote,
)


def begins(epoch):
    partition = begin_quorum_epoch_request.PartitionData(leader_id=2, leader_epoch=epoch)
    topic = begin_quorum_epoch_request.TopicData(partitions=(partition,))
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(topics=(topic,))


def begun(error):
    partition = begin_quorum_epoch_response.PartitionData(error_code=error)
    topic = begin_quorum_epoch_response.TopicData(partitions=(partition,))
    return begin_quorum_epoch_response.BeginQuorumEpochResponse(topics=(topic,))


def ends(epoch, *, successors=(), candidates=()):
    infos = tuple(end_quorum_epoch_request.ReplicaInfo(candidate_id=one) for one in candidates)
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=1,
        leader_epoch=epoch,
        preferred_successors=successors,
        preferred_candidates=infos,
    )
    topic = end_quorum_epoch_request.TopicData(partitions=(partition,))
    return end_quorum_epoch_request.EndQuorumEpochRequest(topics=(topic,))


def ended(error):
    partition = end_quorum_epoch_response.PartitionData(error_code=error)
    topic = end_quorum_epoch_response.TopicData(partitions=(partition,))
    return end_quorum_epoch_response.EndQuorumEpochResponse(topics=(topic,))


def asks_slice(epoch):
    partition = fetch_snapshot_request.PartitionSnapshot(current_leader_epoch=epoch)
    topic = fetch_snapshot_request.TopicSnapshot(partitions=(partition,))
    return fetch_snapshot_request.FetchSnapshotRequest(topics=(topic,))


def given_slice(error):
    partition = fetch_snapshot_response.PartitionSnapshot(error_code=error)
    topic = fetch_snapshot_response.TopicSnapshot(partitions=(partition,))
    return fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))


def voted(error):
    return granted(7, is_granted=not error, error=error)


@pytest.mark.parametrize(
    ("asks", "answers", "name"),
    [
        (begins, begun, "BeginQuorumEpochRequest"),
        (ends, ended, "EndQuorumEpochRequest"),
        (asks_slice, given_slice, "FetchSnapshotRequest"),
        (lambda epoch: vote(2, epoch), voted, "VoteRequest"),
    ],
)
def test_a_word_from_an_epoch_that_is_over(asks, answers, name):
    harness = MonitorHarness(OlderEpochsAreRefused())
    process = harness.process(1)
    process.moves(epoch=7)
    process.replies(process.receives(asks(7)), answers(ErrorCode.NONE))
    process.replies(process.receives(asks(6)), answers(ErrorCode.FENCED_LEADER_EPOCH))
    assert harness.reported == []
    process.replies(process.receives(asks(6)), answers(ErrorCode.NONE))
    assert harness.reported == [f"grants a {name} of epoch 6 in epoch 7"]


class Stopping:
    """Leader 1 of epoch 2 has committed two records; voter 2 holds both, voter 3 one of them."""

    def __init__(self, *, epoch=2):
        self.harness = MonitorHarness(PreferredSuccessorIsCaughtUp())
        self.leader, *others = (self.harness.process(node_id) for node_id in (1, 2, 3))
        for process, count in ((self.leader, 2), (others[0], 2), (others[1], 1)):
            for _ in range(count):
                process.appends(epoch=epoch)
        self.leader.leads(2, high_watermark=2)

    def prefers(self, *voters, **options):
        self.leader.sends(ends(2, **(options or {"successors": voters})))
        return self.harness.reported


def test_the_successor_that_is_preferred_is_not_behind():
    stopping = Stopping()
    assert stopping.prefers(2, 3) == []
    assert stopping.prefers(3, 2) == [
        "the log of the preferred successor 3 ends at 1, below the high watermark 2"
    ]


def test_newer_versions_name_candidates():
    assert len(Stopping().prefers(candidates=(3, 2))) == 1


def test_a_leader_that_has_committed_nothing_of_its_own_may_know_no_better():
    assert Stopping(epoch=1).prefers(3, 2) == []


def test_a_leader_without_voters_besides_names_nobody():
    assert Stopping().prefers() == []


class Stops:
    """Leader 1 of epoch 2, in a step of its own."""

    def __init__(self, event):
        self.harness = MonitorHarness(EndQuorumEpochOnShutdown(CONFIG))
        self.leader = self.harness.process(1)
        self.leader.leads(2)
        self.leader.event = event

    def tells(self, *voters):
        for voter in voters:
            self.leader.sends(ends(2, successors=(2, 3)), to=voter)

    def resigns(self):
        self.leader.moves(role="resigned")
        self.leader.steps()
        return self.harness.reported


def test_a_leader_that_stops_tells_everyone():
    stops = Stops(Stop())
    stops.tells(2, 3)
    assert stops.resigns() == []


def test_a_leader_that_stops_and_leaves_one_out():
    stops = Stops(Stop())
    stops.tells(3)
    assert stops.resigns() == ["resigns epoch 2 without EndQuorumEpoch to [2]"]


def test_a_leader_that_stops_and_just_leaves():
    stops = Stops(Stop())
    stops.leader.exits()
    assert stops.harness.reported == ["resigns epoch 2 without EndQuorumEpoch to [2, 3]"]


def test_a_leader_that_resigns_for_another_reason_says_nothing():
    assert Stops(Tick()).resigns() == []


@pytest.mark.parametrize(
    ("message", "answer", "epoch", "is_right"),
    [
        (begins(8), begun(ErrorCode.NONE), 8, True),
        (begins(8), begun(ErrorCode.INVALID_REQUEST), 7, False),
        (ends(8, candidates=(2, 3)), ended(ErrorCode.INVALID_REQUEST), 8, False),
        (ends(8, candidates=(2, 3)), ended(ErrorCode.NONE), 8, False),
        (ends(8, candidates=(2, 3)), ended(ErrorCode.NONE), 9, True),
        (ends(8, candidates=(3, 2)), ended(ErrorCode.NONE), 8, True),
    ],
)
def test_a_leader_is_heeded(message, answer, epoch, is_right):
    harness = MonitorHarness(QuorumEpochRequestsAccepted())
    leader, voter = harness.process(1), harness.process(2)
    voter.moves(epoch=8)
    leader.sends(message)
    event = voter.receives(message)
    voter.moves(epoch=max(8, epoch))
    voter.replies(event, answer)
    assert (harness.reported == []) == is_right


def test_a_request_that_no_leader_sent_may_be_refused():
    harness = MonitorHarness(QuorumEpochRequestsAccepted())
    voter = harness.process(2)
    voter.moves(epoch=8)
    voter.replies(voter.receives(begins(8)), begun(ErrorCode.INVALID_REQUEST))
    assert harness.reported == []


def test_a_stopping_successor_stands_no_more():
    harness = MonitorHarness(QuorumEpochRequestsAccepted())
    leader, voter = harness.process(1), harness.process(2)
    voter.event = Stop()
    voter.moves(epoch=8)
    leader.sends(ends(8, candidates=(2, 3)))
    voter.replies(voter.receives(ends(8, candidates=(2, 3))), ended(ErrorCode.NONE))
    assert harness.reported == []
