"""What single nodes do with single messages, as exact effects (KIP-595)."""

import pytest
from msgspec.structs import replace

from node.core.effects import Append, Exit, Flush, PersistQuorumState, Reply, Send, Truncate
from node.core.raft import fetch_rpc
from node.core.types import milliseconds
from node.wire.errors import ErrorCode
from node.wire.messages import (
    begin_quorum_epoch_request,
    describe_quorum_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    vote_request,
)
from node.wire.messages.control import LeaderChange
from tests.node.quorum_harness import CLUSTER, Quorum, role_deadline

TOPIC = "__cluster_metadata"


def elected(voters=3, observers=0, leader=1):
    """A quorum at rest whose epoch 1 node 1 leads; the trace starts empty."""
    quorum = Quorum(voters, observers)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.quiesce()
    quorum.now = role_deadline(quorum.members[leader])
    quorum.tick(leader)
    quorum.quiesce()
    assert quorum.members[leader].raft.is_leader
    quorum.trace.clear()
    return quorum


def reply_to(quorum, node_id, message, version):
    quorum.request(node_id, message, version)
    replies = [e.message for n, e in quorum.trace if n == node_id and isinstance(e, Reply)]
    return replies[-1]


def partition_of(answer):
    topics = answer.responses if isinstance(answer, fetch_response.FetchResponse) else answer.topics
    return topics[0].partitions[0]


def vote(epoch, candidate, end=0, last_epoch=0, **more):
    partition = vote_request.PartitionData(
        replica_epoch=epoch, replica_id=candidate, last_offset=end, last_offset_epoch=last_epoch
    )
    topic = vote_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return vote_request.VoteRequest(topics=(topic,), **more)


def begin(epoch, leader, **more):
    partition = begin_quorum_epoch_request.PartitionData(leader_id=leader, leader_epoch=epoch)
    topic = begin_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(topics=(topic,), **more)


def end(epoch, leader, successors, **more):
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=leader, leader_epoch=epoch, preferred_successors=tuple(successors)
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return end_quorum_epoch_request.EndQuorumEpochRequest(topics=(topic,), **more)


def fetch(epoch, offset, last_epoch, replica=2, wait=0, **more):
    partition = fetch_request.FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        partition_max_bytes=1_000_000,
    )
    return fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        max_wait_ms=wait,
        topics=(fetch_request.FetchTopic(topic_id=fetch_rpc.TOPIC_ID, partitions=(partition,)),),
        **more,
    )


def kinds(quorum, node_id):
    return [type(e) for n, e in quorum.trace if n == node_id and not isinstance(e, str)]


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
    assert CLUSTER != "another"


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


@pytest.mark.requirement("595-39")
@pytest.mark.parametrize(
    ("successors", "wait_ms"), [([2, 3], None), ([3, 2], 20), ([9, 8, 3, 2], 80)]
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
        (end(1, 1, [3]), ErrorCode.INCONSISTENT_VOTER_SET),
    ],
)
def test_a_wrong_end_quorum_epoch_brings_no_election_forward(message, error):
    quorum = elected()
    before = quorum.members[2].raft.role
    assert partition_of(reply_to(quorum, 2, message, 0)).error_code == error
    assert quorum.members[2].raft.role == before


@pytest.mark.requirement("595-47")
@pytest.mark.parametrize(
    ("node_id", "epoch", "error"),
    [
        (1, 0, ErrorCode.FENCED_LEADER_EPOCH),
        (1, 2, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (3, 1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (1, 1, ErrorCode.NONE),
    ],
)
@pytest.mark.parametrize("version", [15, 17])
def test_a_fetch_is_fenced_by_epoch(node_id, epoch, error, version):
    answer = partition_of(reply_to(elected(), node_id, fetch(epoch, 0, 0), version))
    assert answer.error_code == error
    assert answer.current_leader.leader_id == 1
    assert answer.current_leader.leader_epoch == 1


@pytest.mark.requirement("595-48")
@pytest.mark.requirement("595-53")
@pytest.mark.parametrize(
    ("offset", "last_epoch", "diverging"),
    [(0, 0, None), (1, 1, None), (2, 1, (1, 1)), (9, 1, (1, 1)), (1, 0, (0, 0)), (1, 7, (1, 1))],
)
def test_a_diverging_fetch_is_told_where_and_counts_for_nothing(offset, last_epoch, diverging):
    quorum = elected()
    replica = quorum.members[1].raft.role.replicas.voters[2]
    acknowledged = replica.acknowledged
    answer = partition_of(reply_to(quorum, 1, fetch(1, offset, last_epoch), 17))
    told = answer.diverging_epoch
    assert answer.error_code == ErrorCode.NONE
    if diverging is None:
        assert told.epoch == -1
        assert replica.acknowledged == offset
    else:
        assert (told.epoch, told.end_offset) == diverging
        assert not answer.records
        assert replica.acknowledged == acknowledged


@pytest.mark.requirement("595-53")
@pytest.mark.requirement("595-54")
def test_a_consumer_reads_what_is_committed_and_acknowledges_nothing():
    quorum = elected()
    quorum.members[2].holds_flushes = quorum.members[3].holds_flushes = True
    quorum.propose(1, "uncommitted")
    quorum.quiesce()
    observers = dict(quorum.members[1].raft.role.replicas.observers)
    answer = partition_of(reply_to(quorum, 1, fetch(-1, 0, -1, replica=-1), 17))
    assert [b.base_offset for b in answer.records] == [0]
    answer = partition_of(reply_to(quorum, 1, fetch(-1, 99, -1, replica=-1), 17))
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert quorum.members[1].raft.role.replicas.observers == observers
    assert quorum.members[1].raft.high_watermark == 1


@pytest.mark.requirement("595-51")
def test_a_fetch_waits_at_most_half_a_second():
    quorum = elected()
    quorum.request(1, fetch(1, 1, 1, wait=60_000), 17)
    quorum.trace.clear()
    quorum.now += milliseconds(499)
    quorum.tick(1)
    assert kinds(quorum, 1) == []
    quorum.now += milliseconds(1)
    quorum.tick(1)
    assert kinds(quorum, 1) == [Reply, Reply]


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


@pytest.mark.requirement("595-09")
def test_a_stale_flush_counts_for_nothing():
    quorum = elected()
    member = quorum.members[2]
    member.holds_flushes = True
    quorum.propose(1, "a")
    quorum.quiesce()
    quorum.do(2, lambda raft: raft._state.truncate(1))
    quorum.do(2, lambda raft: raft._state.append(quorum.members[1].raft.log.read(1, 0)[0]))
    assert member.raft.log.end_offset == 2
    quorum.flush(2)
    assert member.raft.flushed == 1
    assert member.raft.log.generation == 1


@pytest.mark.requirement("595-29")
@pytest.mark.requirement("595-49")
def test_truncation_below_the_high_watermark_is_fatal():
    quorum = elected()
    correlation = next(iter(quorum.members[2].sends))
    raft = quorum.members[1].raft
    answer = fetch_rpc.answer(
        raft._state, 17, diverging=fetch_rpc.EpochEnd(0, 0)
    )
    quorum.members[2].sends.clear()
    quorum._resume(quorum.members[2], correlation, answer)
    assert quorum.members[2].exit.status == 1
    assert "below the high watermark 1" in quorum.members[2].exit.reason
    assert Truncate not in kinds(quorum, 2)


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


@pytest.mark.requirement("595-17")
@pytest.mark.requirement("595-20")
def test_a_repeated_vote_is_granted_without_another_write():
    quorum = elected()
    reply_to(quorum, 2, vote(5, 3, 1, 1), 1)
    quorum.trace.clear()
    assert partition_of(reply_to(quorum, 2, vote(5, 3, 1, 1), 1)).vote_granted
    assert kinds(quorum, 2) == [Reply]
    assert not partition_of(reply_to(quorum, 2, vote(5, 1, 9, 9), 1)).vote_granted


@pytest.mark.requirement("595-08")
@pytest.mark.requirement("595-58")
def test_a_restart_under_a_live_leader_causes_no_election():
    quorum = elected()
    quorum.crash(3, lose_unflushed=True)
    quorum.advance(milliseconds(300))
    quorum.start(3)
    quorum.advance(milliseconds(5000))
    assert {m.raft.epoch for m in quorum.members.values()} == {1}
    assert quorum.members[3].raft.high_watermark == 1


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


@pytest.mark.requirement("595-41")
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


@pytest.mark.requirement("595-44")
def test_a_healed_leader_follows_and_drops_its_tail():
    quorum = elected()
    quorum.cut = {(1, 2), (2, 1), (1, 3), (3, 1)}
    quorum.propose(1, "lost")
    quorum.advance(milliseconds(6000))
    leader = next(n for n in (2, 3) if quorum.members[n].raft.is_leader)
    quorum.propose(leader, "kept")
    quorum.advance(milliseconds(100))
    quorum.cut = set()
    quorum.advance(milliseconds(8000))
    logs = [
        [r.name for b in m.raft.log.batches(0, 99) if not b.is_control for r in b.records]
        for m in quorum.members.values()
    ]
    assert logs == [["kept"]] * 3


@pytest.mark.requirement("595-45")
@pytest.mark.requirement("595-46")
def test_version_12_names_the_topic_and_its_replica_elsewhere():
    quorum = elected()
    message = fetch(1, 1, 1)
    topic = replace(message.topics[0], topic=TOPIC, topic_id=bytes(16))
    message = replace(
        message, replica_id=2, replica_state=fetch_request.ReplicaState(), topics=(topic,)
    )
    answer = reply_to(quorum, 1, message, 12)
    assert answer.responses[0].topic == TOPIC
    assert partition_of(answer).high_watermark == 1
