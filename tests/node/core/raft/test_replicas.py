"""What a replica does with a Fetch that is refused, and what the leader tells of replicas.

KIP-595 "Fetch response", "DescribeQuorum".
"""

from random import Random

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import PersistQuorumState, Send
from kraftproof.node.core.raft import fetch_rpc, rpc
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_quorum_request, fetch_request
from tests.node.core.raft.messages import answer_to, elected, fetch, reply_to, sends

# A Fetch that is fenced


def fenced(quorum, node_id, epoch, leader):
    state = quorum.members[node_id].raft._state
    answer = fetch_rpc.answer(state, 17, ErrorCode.FENCED_LEADER_EPOCH)
    topic = answer.responses[0]
    known = replace(topic.partitions[0].current_leader, leader_id=leader, leader_epoch=epoch)
    partition = replace(topic.partitions[0], current_leader=known)
    return replace(answer, responses=(replace(topic, partitions=(partition,)),))


def fetching(node_id, voters=5):
    """A quorum whose node has one Fetch at the leader, and that Fetch."""
    quorum = elected(voters)
    quorum.propose(1, "a")
    quorum.quiesce()
    last = sends(quorum, node_id, fetch_request.FetchRequest)[-1]
    quorum.trace.clear()
    quorum.messages.clear()
    return quorum, last


@pytest.mark.requirement("595-50")
@pytest.mark.requirement("595-55")
def test_a_fenced_fetch_that_names_a_leader_is_persisted_and_followed():
    quorum, last = fetching(2)
    answer_to(quorum, 2, last, fenced(quorum, 2, 6, 4))
    raft = quorum.members[2].raft
    assert (raft.role.name, raft.epoch, raft.leader) == ("follower", 6, 4)
    effects = [effect for node, effect in quorum.trace if node == 2 and not isinstance(effect, str)]
    assert [type(effect) for effect in effects] == [PersistQuorumState, Send]
    assert effects[1].destination == 4


@pytest.mark.requirement("595-50")
@pytest.mark.parametrize("seed", range(4))
def test_a_fenced_fetch_that_names_nobody_asks_another_voter(seed):
    quorum, last = fetching(2)
    quorum.members[2].raft._state.random = Random(seed)
    answer_to(quorum, 2, last, fenced(quorum, 2, 6, -1))
    raft = quorum.members[2].raft
    assert (raft.role.name, raft.epoch, raft.leader) == ("unattached", 6, -1)
    quorum.now = raft.deadline()
    quorum.tick(2)
    asked = sends(quorum, 2, fetch_request.FetchRequest)
    assert asked[0].destination in {3, 4, 5}


@pytest.mark.requirement("595-50")
def test_a_begin_quorum_epoch_decides_before_the_search_does():
    quorum, last = fetching(2)
    answer_to(quorum, 2, last, fenced(quorum, 2, 6, -1))
    state = quorum.members[4].raft._state
    state.enter_epoch(6, -1, quorum.instant)
    quorum.request(2, replace_leader(rpc.begin(state, 2), 4), 1)
    assert [send.destination for send in sends(quorum, 2, fetch_request.FetchRequest)] == [4]


def replace_leader(request, leader):
    partition = replace(request.topics[0].partitions[0], leader_id=leader, leader_epoch=6)
    return replace(request, topics=(replace(request.topics[0], partitions=(partition,)),))


# An empty log


@pytest.mark.requirement("595-52")
def test_an_empty_log_catches_up_from_the_start_without_probing():
    quorum = elected(voters=3, observers=1)
    quorum.crash(4)
    quorum.members[4].disk.cut(0)
    for number in range(5):
        quorum.propose(1, f"topic-{number}")
    quorum.quiesce()
    quorum.trace.clear()
    quorum.start(4)
    quorum.advance(3_000_000_000)
    leader, late = quorum.members[1].raft, quorum.members[4].raft
    asked = sends(quorum, 4, fetch_request.FetchRequest)
    offsets = [send.message.topics[0].partitions[0].fetch_offset for send in asked]
    assert sorted(offsets) == offsets, "it never goes back"
    assert set(offsets) == {0, leader.log.end_offset}
    assert list(late.log.batches(0, 99)) == list(leader.log.batches(0, 99))


# DescribeQuorum


def described(quorum, version):
    partition = describe_quorum_request.PartitionData()
    topic = describe_quorum_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    request = describe_quorum_request.DescribeQuorumRequest(topics=(topic,))
    (partition,) = reply_to(quorum, 1, request, version).topics[0].partitions
    return {
        voter.replica_id: (voter.last_fetch_timestamp, voter.last_caught_up_timestamp)
        for voter in partition.current_voters
    }


@pytest.mark.requirement("595-63")
@pytest.mark.requirement("595-64")
def test_a_replica_that_fetches_and_lags_is_not_caught_up():
    quorum = elected()
    before = described(quorum, 1)
    quorum.propose(1, "a")
    quorum.now += milliseconds(700)
    reply_to(quorum, 1, fetch(1, 1, 1, replica=2), 17)
    now_ms = quorum.instant.wall // 1_000_000
    after = described(quorum, 2)
    assert after[2] == (now_ms, before[2][1])
    assert before[2][1] == now_ms - 700
    assert after[3] == before[3], "it has not fetched since"
    assert after[1] == (now_ms, now_ms), "the leader is where it is"
    assert set(described(quorum, 0).values()) == {(-1, -1)}
