"""A new leader repeats BeginQuorumEpoch until each voter has endorsed it (KIP-595, 595-33)."""

import pytest

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import begin_quorum_epoch_request
from tests.node.core.raft.messages import fetch, reply_to, sends
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline

pytestmark = pytest.mark.requirement("595-33")
VOTER_CUT_OFF, OBSERVER = 3, 4


def begins(quorum, destination):
    found = sends(quorum, 1, begin_quorum_epoch_request.BeginQuorumEpochRequest)
    return [send for send in found if send.destination == destination]


def elected_without_one_voter():
    """Node 1 leads by the vote of node 2; node 3 and node 1 cannot reach each other."""
    quorum = Quorum(3, observers=1)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.quiesce()
    quorum.now = role_deadline(quorum.members[1])
    quorum.cut = {(1, VOTER_CUT_OFF), (VOTER_CUT_OFF, 1)}
    quorum.tick(1)
    quorum.quiesce()
    assert quorum.members[1].raft.is_leader
    return quorum


def lose_the_last_begin(quorum):
    """Report to the leader that its last BeginQuorumEpoch to node 3 has no answer."""
    last = begins(quorum, VOTER_CUT_OFF)[-1]
    del quorum.members[1].sends[last.correlation]
    quorum._resume(quorum.members[1], last.correlation, None)


def tick_after(quorum, wait_ns):
    quorum.now += wait_ns
    quorum.tick(1)


def test_begin_goes_to_each_other_voter_once_and_to_no_observer():
    quorum = elected_without_one_voter()
    counts = [len(begins(quorum, node_id)) for node_id in quorum.members]
    assert counts == [0, 1, 1, 0]


@pytest.mark.requirement("595-51")
def test_begin_is_repeated_with_a_growing_backoff_until_the_voter_fetches_in_the_epoch():
    quorum = elected_without_one_voter()
    for count, wait_ms in enumerate((20, 40, 80), start=1):
        lose_the_last_begin(quorum)
        tick_after(quorum, milliseconds(wait_ms) - 1)
        assert len(begins(quorum, VOTER_CUT_OFF)) == count
        tick_after(quorum, 1)
        assert len(begins(quorum, VOTER_CUT_OFF)) == count + 1
    reply_to(quorum, 1, fetch(1, 0, 0, replica=VOTER_CUT_OFF), 17)
    lose_the_last_begin(quorum)
    for _ in range(4):
        tick_after(quorum, milliseconds(200))
    assert quorum.members[1].raft.is_leader
    assert len(begins(quorum, VOTER_CUT_OFF)) == 4
    assert len(begins(quorum, 2)) == 1
    assert not begins(quorum, OBSERVER)


def test_a_voter_that_was_cut_off_learns_of_the_leader_soon_after_the_link_heals():
    quorum = elected_without_one_voter()
    quorum.cut = set()
    lose_the_last_begin(quorum)
    quorum.advance(milliseconds(21))
    assert quorum.members[VOTER_CUT_OFF].raft.leader == 1
