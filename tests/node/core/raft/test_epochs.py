"""How epochs begin and end, and who is refused (KIP-595 "BeginQuorumEpoch", "EndQuorumEpoch")."""

import pytest

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Exit, PersistQuorumState, Reply, Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_quorum_request,
    end_quorum_epoch_request,
)
from tests.node.core.raft.messages import (
    TOPIC,
    begin,
    elected,
    end,
    fetch,
    kinds,
    partition_of,
    reply_to,
    sends,
    vote,
)
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline


@pytest.mark.requirement("595-36")
@pytest.mark.requirement("595-60")
@pytest.mark.parametrize(
    ("message", "version"),
    [
        (vote(9, 3, 9, 9, cluster_id="another"), 1),
        (begin(9, 3, cluster_id="another"), 1),
        (end(1, 1, [2], cluster_id="another"), 1),
        (fetch(1, 1, 1, cluster_id="another"), 17),
    ],
)
def test_another_clusters_request_has_no_effect(message, version):
    quorum = elected()
    before = quorum.members[2].raft.durable
    answer = reply_to(quorum, 2, message, version)
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    assert kinds(quorum, 2) == [Reply]
    assert quorum.members[2].raft.durable == before


@pytest.mark.requirement("595-34")
@pytest.mark.parametrize(
    ("epoch", "leader", "error"),
    [
        (0, 3, ErrorCode.FENCED_LEADER_EPOCH),
        (1, 1, ErrorCode.NONE),
        (2, 3, ErrorCode.NONE),
        (2, 77, ErrorCode.INCONSISTENT_VOTER_SET),
        (2, 2, ErrorCode.INVALID_REQUEST),
    ],
)
def test_begin_quorum_epoch(epoch, leader, error):
    quorum = elected()
    answer = partition_of(reply_to(quorum, 2, begin(epoch, leader), 1))
    assert answer.error_code == error
    follows = leader if error is ErrorCode.NONE else 1
    assert quorum.members[2].raft.leader == follows
    if epoch == 2 and error is ErrorCode.NONE:
        assert kinds(quorum, 2) == [PersistQuorumState, Reply, Send]


@pytest.mark.requirement("595-35")
def test_a_second_leader_of_an_epoch_is_refused():
    quorum = elected()
    answer = partition_of(reply_to(quorum, 2, begin(1, 3), 1))
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert (answer.leader_id, quorum.members[2].raft.leader) == (1, 1)


@pytest.mark.requirement("595-35")
@pytest.mark.parametrize("node_id", [1, 2, 3])
def test_a_begin_that_names_another_leader_of_the_epoch_changes_nothing(node_id):
    """It ends a real Kafka node; here leader and followers refuse it and go on."""
    quorum = elected()
    before = quorum.members[node_id].raft.durable
    another = {1: 3, 2: 3, 3: 2}[node_id]
    answer = partition_of(reply_to(quorum, node_id, begin(1, another), 1))
    assert (answer.error_code, answer.leader_id) == (ErrorCode.INVALID_REQUEST, 1)
    assert kinds(quorum, node_id) == [Reply]
    assert quorum.members[node_id].raft.durable == before
    assert quorum.members[1].raft.is_leader


@pytest.mark.requirement("595-39")
@pytest.mark.parametrize(
    ("successors", "wait_ms"),
    [
        ([2, 3], None),
        ([3, 2], 20),
        ([9, 8, 3, 2], 80),
        ([9, 8, 7, 6, 5, 3, 2], 640),
        ([9, 8, 7, 6, 5, 4, 3, 2], 1000),
        ([*range(40, 2, -1), 2], 1000),
    ],
)
def test_a_successor_stands_when_its_turn_comes(successors, wait_ms):
    quorum = elected()
    answer = partition_of(reply_to(quorum, 2, end(1, 1, successors), 0))
    assert answer.error_code == ErrorCode.NONE
    role = quorum.members[2].raft.role
    if wait_ms is None:
        assert role.name == "candidate"
    else:
        assert role.election_deadline == quorum.now + milliseconds(wait_ms)
        quorum.advance(milliseconds(wait_ms) - 1)
        assert quorum.members[2].raft.epoch == 1
        quorum.now = max(quorum.now, role.election_deadline)
        quorum.tick(2)
        assert quorum.members[2].raft.role.name == "candidate"


@pytest.mark.requirement("595-38")
@pytest.mark.requirement("595-40")
@pytest.mark.parametrize(
    ("message", "error"),
    [
        (end(0, 1, [2]), ErrorCode.FENCED_LEADER_EPOCH),
        (end(1, 3, [2]), ErrorCode.INVALID_REQUEST),
        (end(1, -1, [2]), ErrorCode.INVALID_REQUEST),
        (end(2, -1, [2]), ErrorCode.INVALID_REQUEST),
        (end(1, 1, [3]), ErrorCode.INCONSISTENT_VOTER_SET),
    ],
)
def test_a_wrong_end_quorum_epoch_brings_no_election_forward(message, error):
    quorum = elected()
    before = quorum.members[2].raft.role
    assert partition_of(reply_to(quorum, 2, message, 0)).error_code == error
    assert quorum.members[2].raft.role == before


@pytest.mark.requirement("595-43")
def test_a_leader_resigns_after_one_fetch_timeout_without_a_majority():
    quorum = elected()
    raft = quorum.members[1].raft
    deadline = role_deadline(quorum.members[1])
    assert raft.deadline() <= deadline
    quorum.now = deadline - 1
    quorum.tick(1)
    assert raft.is_leader
    quorum.now = deadline
    # Even if the next thing that it sees is a Fetch from its socket's buffer.
    answer = partition_of(reply_to(quorum, 1, fetch(1, 1, 1), 17))
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert raft.role.name == "resigned"
    quorum.now = role_deadline(quorum.members[1])
    quorum.tick(1)
    assert (raft.role.name, raft.epoch) == ("candidate", 2)


@pytest.mark.requirement("595-43")
def test_one_follower_of_five_voters_keeps_no_leader():
    quorum = elected(voters=5)
    for node_id in (3, 4, 5):
        quorum.crash(node_id)
    quorum.advance(milliseconds(1500))
    assert quorum.members[1].raft.is_leader
    quorum.advance(milliseconds(1000))
    assert not quorum.members[1].raft.is_leader


@pytest.mark.requirement("595-43")
def test_a_sole_voter_stays_leader():
    quorum = Quorum(1)
    quorum.start(1)
    quorum.advance(milliseconds(10_000))
    quorum.tick(1)
    assert quorum.members[1].raft.is_leader


@pytest.mark.requirement("595-44")
def test_who_waited_at_a_leader_that_resigned_hears_that_it_leads_no_more():
    quorum = elected()
    quorum.now = role_deadline(quorum.members[1]) - 1
    quorum.tick(1)
    quorum.trace.clear()
    quorum.request(1, fetch(1, 1, 1, replica=9, wait=500), 17)
    assert kinds(quorum, 1) == [], "there is no news"
    quorum.now += 1
    quorum.tick(1)
    (answer,) = [effect.message for _, effect in quorum.trace if isinstance(effect, Reply)]
    assert partition_of(answer).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("595-62")
def test_another_clusters_leader_is_fatal_and_touches_nothing():
    quorum = Quorum(3, cluster_ids={3: "another"})
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.advance(milliseconds(6000))
    exit_ = quorum.members[3].exit
    assert isinstance(exit_, Exit)
    assert exit_.status == 1
    assert "another" in exit_.reason
    assert quorum.members[3].disk.batches == []
    assert sum(m.is_up and m.raft.is_leader for m in quorum.members.values()) == 1


@pytest.mark.requirement("595-63")
@pytest.mark.requirement("595-64")
@pytest.mark.requirement("595-65")
@pytest.mark.parametrize("version", [0, 1, 2])
def test_describe_quorum(version):
    quorum = elected(observers=1)
    quorum.advance(milliseconds(1000))
    asked = describe_quorum_request.DescribeQuorumRequest(
        topics=(
            describe_quorum_request.TopicData(
                topic_name=TOPIC, partitions=(describe_quorum_request.PartitionData(),)
            ),
        )
    )
    answer = reply_to(quorum, 1, asked, version)
    partition = partition_of(answer)
    assert [(v.replica_id, v.log_end_offset) for v in partition.current_voters] == [
        (1, 1),
        (2, 1),
        (3, 1),
    ]
    assert [v.replica_id for v in partition.observers] == [4]
    assert all((v.last_fetch_timestamp > 0) == (version > 0) for v in partition.current_voters)
    assert [n.node_id for n in answer.nodes] == ([1, 2, 3] if version == 2 else [])
    refused = partition_of(reply_to(quorum, 2, asked, version))
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.leader_id, refused.leader_epoch) == (1, 1)


@pytest.mark.requirement("595-42")
def test_a_goodbye_that_is_heard_is_followed_by_a_leader_before_silence_would_be():
    waits = {is_heard: until_another_leads(is_heard=is_heard) for is_heard in (True, False)}
    assert waits[True] < milliseconds(50)
    assert milliseconds(1000) < waits[False] < milliseconds(6000)


def until_another_leads(*, is_heard):
    """How long it takes in ns from a leader's stop, which nobody or everybody hears of."""
    quorum = elected()
    quorum.advance(milliseconds(100))
    begun = quorum.now
    quorum.do(1, lambda raft: raft.stop(quorum.instant))
    if is_heard:
        quorum.quiesce()
    quorum.crash(1)
    while not any(quorum.members[n].raft.is_leader for n in (2, 3)):
        quorum.advance(milliseconds(10))
    return quorum.now - begun


@pytest.mark.requirement("595-42")
def test_a_stopping_leader_waits_for_no_one_who_is_away():
    quorum = elected()
    quorum.crash(2)
    quorum.crash(3)
    quorum.do(1, lambda raft: raft.stop(quorum.instant))
    raft = quorum.members[1].raft
    assert not raft.has_stopped(quorum.instant)
    quorum.now += milliseconds(1000)
    assert raft.has_stopped(quorum.instant)
    assert kinds(quorum, 1)[:2] == [Send, Send]
    quorum.now += milliseconds(1000)
    quorum.expire()
    assert len(sends(quorum, 1, end_quorum_epoch_request.EndQuorumEpochRequest)) == 2
