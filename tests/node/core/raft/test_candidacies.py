"""When voters stand, and how their waits spread and grow (KIP-595 "Vote", 595-13, 595-14)."""

import pytest

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from tests.node.core.raft.messages import elected, reply_to, vote
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline

TIMEOUTS = Timeouts()
SEEDS = 100
FIRST_BOUND = TIMEOUTS.election_backoff_max_ns // 4


def led(seed):
    """A quorum that node 1 leads, whose followers have drawn their patience from the seed."""
    quorum = Quorum(3, seed=seed)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.quiesce()
    quorum.now = role_deadline(quorum.members[1])
    quorum.tick(1)
    quorum.quiesce()
    return quorum


@pytest.mark.requirement("595-13")
@pytest.mark.requirement("595-14")
def test_followers_of_one_leader_seldom_stand_together():
    together = 0
    for seed in range(SEEDS):
        quorum = led(seed)
        stand = [role_deadline(quorum.members[node_id]) - quorum.now for node_id in (2, 3)]
        longest = TIMEOUTS.fetch_ns + TIMEOUTS.election_backoff_max_ns // 2
        assert all(TIMEOUTS.fetch_ns <= wait <= longest for wait in stand)
        together += abs(stand[0] - stand[1]) < milliseconds(10)
    assert together <= SEEDS // 10


def waits_of_lost_elections(seed, count):
    """How long node 2, which hears of nobody, backs off after each candidacy."""
    quorum = led(seed)
    quorum.cut = {(2, 1), (2, 3), (1, 2), (3, 2)}
    waits = []
    for _ in range(count):
        for role in ("candidate", "voted"):
            quorum.now = role_deadline(quorum.members[2])
            quorum.tick(2)
            assert quorum.members[2].raft.role.name == role
        waits.append(role_deadline(quorum.members[2]) - quorum.now)
    return waits


@pytest.mark.requirement("595-14")
def test_the_wait_after_a_lost_election_doubles_up_to_its_bound():
    seen = [waits_of_lost_elections(seed, 5) for seed in range(SEEDS)]
    longest = [max(column) for column in zip(*seen, strict=True)]
    bounds = [FIRST_BOUND, 2 * FIRST_BOUND, *[TIMEOUTS.election_backoff_max_ns] * 3]
    for wait, bound in zip(longest, bounds, strict=True):
        assert bound * 8 // 10 < wait <= bound


@pytest.mark.requirement("595-14")
def test_the_wait_after_a_lost_election_is_drawn_anew_each_time():
    seen = [waits_of_lost_elections(seed, 5) for seed in range(SEEDS)]
    bounds = [FIRST_BOUND, 2 * FIRST_BOUND, *[TIMEOUTS.election_backoff_max_ns] * 3]
    for column, bound in zip(zip(*seen, strict=True), bounds, strict=True):
        assert min(column) < bound * 2 // 10
        assert len(set(column)) > SEEDS * 9 // 10


@pytest.mark.requirement("595-14")
def test_a_candidacy_that_a_later_epoch_ends_counts_as_lost_until_a_leader_is_known():
    quorum = elected()
    raft = quorum.members[2].raft
    quorum.now = role_deadline(quorum.members[2])
    quorum.tick(2)
    assert raft.role.name == "candidate"
    reply_to(quorum, 2, vote(epoch=9, candidate=3), 1)  # its log is too short for our vote
    assert raft.role.name == "unattached"
    assert raft._state.elections_lost == 1
    quorum.messages.clear()
    quorum.now = role_deadline(quorum.members[2])
    quorum.tick(2)
    assert (raft.role.name, raft._state.elections_lost) == ("candidate", 2)
    quorum.do(2, lambda _: raft._state.on_epoch_info(99, 3, quorum.instant))
    assert raft._state.elections_lost == 0
