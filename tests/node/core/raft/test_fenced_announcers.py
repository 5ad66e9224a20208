"""A leader learns from the answers to its announcements that its epoch is over (KIP-595)."""

import pytest

from kraftproof.node.core.effects import PersistQuorumState
from kraftproof.node.core.raft import rpc
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import end_quorum_epoch_request
from tests.node.core.raft.messages import answer_to, begin, elected, kinds, reply_to, sends
from tests.node.core.raft.test_endorsement import (
    VOTER_CUT_OFF,
    begins,
    elected_without_one_voter,
)

pytestmark = pytest.mark.requirement("595-41")
FENCED = ErrorCode.FENCED_LEADER_EPOCH


def later_epoch(quorum):
    """Let node 2 go on to epoch 5 of leader 3, unseen by node 1; return node 2's state."""
    reply_to(quorum, 2, begin(5, 3), 0)
    return quorum.members[2].raft._state


def test_a_fenced_leader_persists_the_larger_epoch_and_follows_the_leader_named():
    quorum = elected_without_one_voter()
    answer = rpc.begin_answer(later_epoch(quorum), FENCED)
    answer_to(quorum, 1, begins(quorum, VOTER_CUT_OFF)[-1], answer)
    durable = quorum.members[1].disk.durable
    assert (durable.epoch, durable.leader) == (5, 3)
    assert quorum.members[1].raft.role.name == "follower"


def test_a_leader_that_stops_takes_no_notice():
    quorum = elected()
    answer = rpc.end_answer(later_epoch(quorum), FENCED)
    before = quorum.members[1].disk.durable
    quorum.do(1, lambda raft: raft.stop(quorum.instant))
    ends = sends(quorum, 1, end_quorum_epoch_request.EndQuorumEpochRequest)
    assert [send.destination for send in ends] == [2, 3]
    quorum.trace.clear()
    answer_to(quorum, 1, ends[0], answer)
    assert PersistQuorumState not in kinds(quorum, 1)
    assert quorum.members[1].disk.durable == before
    assert quorum.members[1].raft.role.name == "resigned"
