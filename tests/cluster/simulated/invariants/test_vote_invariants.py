"""Each invariant of a voter's votes goes red at what it forbids, and only then."""

import pytest

from kraftproof.cluster.simulated.invariants.votes import (
    OneVoteAnEpoch,
    QuorumStateIsKept,
    RolesFitVotes,
    VotesAreRefusedForAReason,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.wire.errors import ErrorCode
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    MonitorHarness,
    granted,
    vote,
)

OBSERVER = 9


def test_a_second_vote_in_an_epoch():
    harness = MonitorHarness(OneVoteAnEpoch(CONFIG))
    harness.process(1).persists(epoch=4, voted_for=2)
    again = harness.process(1, incarnation=2, durable=QuorumState(epoch=4, voted_for=2))
    again.persists(epoch=4, voted_for=2)
    assert harness.reported == []
    again.persists(epoch=4, voted_for=3)
    assert harness.reported == ["epoch 4: voted for 2 and for 3"]


def test_a_vote_that_a_known_leader_makes_the_disk_forget():
    harness = MonitorHarness(OneVoteAnEpoch(CONFIG))
    process = harness.process(1)
    process.persists(epoch=4, voted_for=2)
    process.persists(epoch=4, voted_for=2, leader=2)
    process.persists(epoch=5, leader=3)
    assert harness.reported == []
    process.persists(epoch=6, voted_for=2)
    process.persists(epoch=6, leader=2)
    assert harness.reported == ["epoch 6: its disk forgets the vote for 2"]


def test_a_vote_that_is_told_before_it_is_durable():
    harness = MonitorHarness(OneVoteAnEpoch(CONFIG))
    process = harness.process(1)
    process.persists(epoch=4, voted_for=2)
    process.replies(process.receives(vote(2, 4)), granted())
    assert harness.reported == []
    process.replies(process.receives(vote(3, 5)), granted())
    assert "sends its vote for 3 in epoch 5" in harness.reported[0]


def test_a_candidacy_that_is_told_before_it_is_durable():
    harness = MonitorHarness(OneVoteAnEpoch(CONFIG))
    process = harness.process(1)
    process.persists(epoch=4, voted_for=1)
    process.sends(vote(1, 4))
    assert harness.reported == []
    process.sends(vote(1, 5))
    assert len(harness.reported) == 1


def test_a_vote_against_the_leader_that_is_known():
    harness = MonitorHarness(OneVoteAnEpoch(CONFIG))
    process = harness.process(1)
    process.persists(epoch=4, leader=2)
    process.persists(epoch=4, voted_for=3)
    assert harness.reported == ["epoch 4: voted for 3 after it knew leader 2"]


def test_a_start_that_finds_another_vote_than_was_written():
    harness = MonitorHarness(QuorumStateIsKept(CONFIG))
    process = harness.process(1)
    process.persists(epoch=4, voted_for=2)
    process.restarts([], durable=QuorumState(epoch=4, voted_for=2))
    assert harness.reported == []
    process.restarts([], durable=QuorumState(epoch=4))
    assert len(harness.reported) == 1


def test_a_broker_may_be_given_another_disk():
    harness = MonitorHarness(QuorumStateIsKept(CONFIG))
    broker = harness.process(OBSERVER)
    broker.persists(epoch=4, leader=2)
    broker.restarts([])
    assert harness.reported == []


class Asked:
    """Voter 1 with a log of one record of epoch 3, whom a candidate asks in epoch 4."""

    def __init__(self, **state):
        self.harness = MonitorHarness(VotesAreRefusedForAReason(CONFIG))
        self.process = self.harness.process(1)
        self.process.appends(epoch=3)
        self.process.persists(epoch=4, **state)

    def refuses(self, candidate=2, epoch=4, *, last=(3, 1), error=0):
        event = self.process.receives(vote(candidate, epoch, *last))
        self.process.replies(event, granted(4, is_granted=False, error=error))
        return self.harness.reported


def test_a_vote_that_was_given_is_not_confirmed():
    assert len(Asked(voted_for=2).refuses()) == 1


def test_a_vote_that_is_free_is_not_given():
    assert len(Asked().refuses()) == 1


def test_an_answer_that_grants_the_vote_again():
    asked = Asked(voted_for=2)
    asked.process.replies(asked.process.receives(vote(2, 4, 3, 1)), granted(4))
    assert asked.harness.reported == []


@pytest.mark.parametrize(
    ("state", "request_", "why"),
    [
        ({"voted_for": 3}, {}, "another has it"),
        ({"leader": 3}, {}, "the epoch has a leader"),
        ({}, {"last": (2, 9)}, "the candidate's log is of an older epoch"),
        ({}, {"last": (3, 0)}, "the candidate's log is shorter"),
        ({"voted_for": 2}, {"epoch": 3}, "the candidate's epoch is over"),
        ({"voted_for": 2}, {"error": ErrorCode.INCONSISTENT_VOTER_SET}, "the request is wrong"),
    ],
)
def test_a_reason_to_refuse(state, request_, why):
    assert Asked(**state).refuses(**request_) == [], why


ROLES = ("unattached", "voted", "follower", "candidate", "leader", "resigned")


@pytest.mark.parametrize(
    ("state", "roles"),
    [
        ({}, {"unattached"}),
        ({"leader": 2}, {"unattached", "follower"}),
        ({"voted_for": 2}, {"voted"}),
        ({"voted_for": 2, "leader": 2}, {"voted", "follower"}),
        ({"voted_for": 1}, {"voted", "candidate"}),
        ({"voted_for": 1, "leader": 1}, {"voted", "leader", "resigned"}),
    ],
)
def test_a_role_that_the_disk_does_not_allow(state, roles):
    allowed = set()
    for role in ROLES:
        harness = MonitorHarness(RolesFitVotes(CONFIG))
        process = harness.process(1)
        process.persists(epoch=4, **state)
        process.moves(role=role, epoch=4, voted_for=state.get("voted_for", -1))
        if not harness.reported:
            allowed.add(role)
    assert allowed == roles


def test_a_vote_that_is_forgotten_in_memory():
    harness = MonitorHarness(RolesFitVotes(CONFIG))
    process = harness.process(1, durable=QuorumState(epoch=4, voted_for=2, leader=2))
    process.moves(role="follower", epoch=4, voted_for=2)
    assert harness.reported == []
    process.moves(role="follower", epoch=4, voted_for=-1)
    assert len(harness.reported) == 1


def test_observers_have_no_vote_to_forget():
    harness = MonitorHarness(RolesFitVotes(CONFIG))
    harness.process(OBSERVER).moves(role="observer", epoch=7)
    assert harness.reported == []
