"""Voting, standing and winning, message by message, as exact effects (KIP-595 "Vote")."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Append, Flush, PersistQuorumState, Reply, Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_quorum_request,
    vote_request,
)
from kraftproof.node.wire.records.control import LeaderChange
from tests.node.core.raft.messages import (
    TOPIC,
    begin,
    elected,
    kinds,
    partition_of,
    reply_to,
    vote,
)
from tests.support.node.quorum_harness import DEFAULTS, Quorum
from tests.support.node.quorum_member import role_deadline


@pytest.mark.requirement("595-07")
@pytest.mark.requirement("595-15")
def test_standing_persists_before_it_asks():
    quorum = elected()
    quorum.now = role_deadline(quorum.members[2])
    quorum.tick(2)
    assert kinds(quorum, 2) == [PersistQuorumState, Send, Send]
    state = quorum.members[2].disk.durable
    assert (state.epoch, state.voted_for, state.leader) == (2, 2, -1)


@pytest.mark.requirement("595-07")
@pytest.mark.requirement("595-22")
def test_a_vote_is_persisted_before_it_is_told():
    quorum = elected()
    assert partition_of(reply_to(quorum, 2, vote(5, 3, 1, 1), 1)).vote_granted
    assert kinds(quorum, 2)[:2] == [PersistQuorumState, Reply]


@pytest.mark.requirement("595-22")
@pytest.mark.parametrize(
    ("last_epoch", "end", "is_granted"),
    [
        (1, 1, True),
        (1, 9, True),
        (1, 0, False),
        (0, 9, False),  # a longer log that ends in an older epoch
        (2, 0, True),  # a shorter log that ends in a newer epoch
    ],
)
def test_the_last_epoch_of_a_log_counts_before_its_length(last_epoch, end, is_granted):
    quorum = elected()
    raft = quorum.members[2].raft
    assert (raft.log.last_epoch, raft.log.end_offset) == (1, 1)
    answer = partition_of(reply_to(quorum, 2, vote(5, 3, end, last_epoch), 1))
    assert answer.vote_granted is is_granted
    durable = quorum.members[2].disk.durable
    assert (durable.epoch, durable.voted_for) == (5, 3 if is_granted else -1)


@pytest.mark.requirement("595-22")
def test_a_refused_vote_of_a_later_epoch_ends_a_candidacy():
    quorum = elected()
    quorum.now = role_deadline(quorum.members[2])
    quorum.tick(2)
    assert quorum.members[2].raft.role.name == "candidate"
    assert not partition_of(reply_to(quorum, 2, vote(9, 3, 0, 0), 1)).vote_granted
    raft = quorum.members[2].raft
    assert (raft.role.name, raft.epoch) == ("unattached", 9)


@pytest.mark.requirement("595-24")
@pytest.mark.requirement("595-26")
def test_a_winner_persists_itself_opens_the_epoch_and_says_so():
    quorum = Quorum(3)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.quiesce()
    quorum.now = role_deadline(quorum.members[1])
    quorum.tick(1)
    quorum.trace.clear()
    quorum.quiesce()
    effects = [e for n, e in quorum.trace if n == 1 and not isinstance(e, str)]
    assert [type(e) for e in effects[:5]] == [PersistQuorumState, Append, Flush, Send, Send]
    change = effects[1].batch.records[0]
    assert effects[1].batch.is_control
    assert isinstance(change, LeaderChange)
    assert [v.voter_id for v in change.voters] == [1, 2, 3]
    assert [v.voter_id for v in change.granting_voters] == [1, 2]


@pytest.mark.requirement("595-19")
@pytest.mark.requirement("595-55")
def test_an_old_candidate_is_told_the_epoch_and_leader():
    answer = partition_of(reply_to(elected(), 2, vote(0, 3), 1))
    assert answer.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (answer.leader_id, answer.leader_epoch, answer.vote_granted) == (1, 1, False)


@pytest.mark.requirement("595-21")
def test_a_stranger_gets_no_vote_but_its_epoch_counts_and_an_election_follows():
    quorum = elected()
    answer = partition_of(reply_to(quorum, 2, vote(9, 77, 9, 9), 1))
    assert answer.error_code == ErrorCode.INCONSISTENT_VOTER_SET
    assert answer.leader_epoch == 9
    raft = quorum.members[2].raft
    assert raft.role.name == "unattached"
    assert raft.role.election_deadline - quorum.now <= milliseconds(1000)


@pytest.mark.requirement("595-25")
def test_no_other_partition_is_known():
    quorum = elected()
    partition = vote_request.PartitionData(replica_epoch=9, replica_id=3)
    for topic, index in (("other", 0), (TOPIC, 1)):
        message = vote_request.VoteRequest(
            topics=(
                vote_request.TopicData(
                    topic_name=topic, partitions=(replace(partition, partition_index=index),)
                ),
            )
        )
        assert reply_to(quorum, 2, message, 1).error_code == ErrorCode.INVALID_REQUEST
    asked = describe_quorum_request.DescribeQuorumRequest(
        topics=(
            describe_quorum_request.TopicData(
                topic_name="other", partitions=(describe_quorum_request.PartitionData(),)
            ),
        )
    )
    answer = partition_of(reply_to(quorum, 1, asked, 2))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert quorum.members[2].raft.epoch == 1


@pytest.mark.requirement("595-13")
@pytest.mark.requirement("595-14")
def test_a_candidate_without_answers_backs_off_and_stands_again_in_a_higher_epoch():
    quorum = elected()
    quorum.cut = {(2, 1), (2, 3), (1, 2), (3, 2)}
    raft = quorum.members[2].raft
    seen = []
    for _ in range(8):
        quorum.now = role_deadline(quorum.members[2])
        quorum.tick(2)
        wait = raft.role.election_deadline - quorum.now
        seen.append((raft.role.name, raft.epoch))
        if raft.role.name == "voted":
            assert wait <= milliseconds(1000)
    assert seen == [(name, e) for e in (2, 3, 4, 5) for name in ("candidate", "voted")]


@pytest.mark.requirement("595-17")
@pytest.mark.requirement("595-20")
def test_a_repeated_vote_is_granted_without_another_write():
    quorum = elected()
    reply_to(quorum, 2, vote(5, 3, 1, 1), 1)
    quorum.trace.clear()
    assert partition_of(reply_to(quorum, 2, vote(5, 3, 1, 1), 1)).vote_granted
    assert kinds(quorum, 2) == [Reply]
    assert not partition_of(reply_to(quorum, 2, vote(5, 1, 9, 9), 1)).vote_granted


@pytest.mark.requirement("595-20")
def test_no_candidate_gets_a_vote_in_an_epoch_whose_leader_is_known():
    quorum = elected()
    reply_to(quorum, 2, begin(5, 3), 0)
    durable = quorum.members[2].disk.durable
    assert (durable.epoch, durable.leader, durable.voted_for) == (5, 3, -1)
    assert not partition_of(reply_to(quorum, 2, vote(5, 1, 9, 9), 1)).vote_granted
    assert quorum.members[2].disk.durable == durable


@pytest.mark.requirement("595-08")
@pytest.mark.requirement("595-58")
def test_a_restart_under_a_live_leader_causes_no_election():
    quorum = elected()
    quorum.crash(3, lose_unflushed=True)
    quorum.advance(milliseconds(300))
    quorum.start(3)
    assert role_deadline(quorum.members[3]) >= quorum.now + DEFAULTS.election_ns
    quorum.advance(milliseconds(5000))
    assert {m.raft.epoch for m in quorum.members.values()} == {1}
    assert quorum.members[3].raft.high_watermark == 1


@pytest.mark.requirement("595-08")
def test_a_restart_knows_its_epoch_its_vote_and_its_last_leader():
    quorum = elected()
    before = quorum.members[2].raft.durable
    assert (before.epoch, before.voted_for, before.leader) == (1, 1, 1)
    quorum.crash(2, lose_unflushed=True)
    quorum.start(2)
    raft = quorum.members[2].raft
    assert (raft.durable, raft.leader) == (before, 1)
    answer = partition_of(reply_to(quorum, 2, vote(1, 3, 9, 9), 1))
    assert (answer.vote_granted, answer.leader_id, answer.leader_epoch) == (False, 1, 1)


@pytest.mark.requirement("595-59")
@pytest.mark.parametrize("voters", [1, 3, 5])
def test_a_quorum_forms_once_a_majority_is_up(voters):
    quorum = Quorum(voters)
    for node_id in range(voters, voters // 2, -1):
        quorum.start(node_id)
        quorum.advance(milliseconds(700))
    quorum.advance(milliseconds(8000))
    assert sum(m.is_up and m.raft.is_leader for m in quorum.members.values()) == 1


@pytest.mark.requirement("595-02")
@pytest.mark.requirement("595-56")
def test_an_observer_never_votes_stands_or_leads():
    quorum = elected(observers=1)
    answer = partition_of(reply_to(quorum, 4, vote(9, 3, 9, 9), 1))
    assert answer.error_code == ErrorCode.INCONSISTENT_VOTER_SET
    for node_id in (1, 2, 3):
        quorum.crash(node_id)
    quorum.advance(milliseconds(9000))
    assert quorum.members[4].raft.role.name == "observer"
    for node_id in (1, 2, 3):
        quorum.start(node_id)
    quorum.advance(milliseconds(9000))
    observer = quorum.members[4].raft
    assert observer.leader in (1, 2, 3)
    assert observer.high_watermark == observer.log.end_offset > 1
