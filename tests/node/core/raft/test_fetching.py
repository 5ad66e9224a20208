"""Fetch from both sides, message by message (KIP-595 "Fetch")."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch, milliseconds
from kraftproof.node.core.effects import Reply, Truncate
from kraftproof.node.core.raft import fetch_rpc
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    fetch_request,
)
from tests.node.core.raft.messages import (
    TOPIC,
    answer_to,
    begin,
    elected,
    fetch,
    kinds,
    partition_of,
    reply_to,
    sends,
)
from tests.node.core.raft.test_commitment import control
from tests.support.node.quorum_harness import Quorum


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


def diverging_follower():
    """Node 2 holds epochs 1, 1 and 3, and asks node 1, the leader of epoch 4, for offset 3."""
    quorum = Quorum(3)
    member = quorum.members[2]
    member.disk.batches = [control(0, 1), control(1, 1), control(2, 3)]
    member.disk.flushed = 3
    member.disk.durable = QuorumState(epoch=Epoch(3))
    quorum.start(2)
    quorum.request(2, begin(4, 1), 1)
    quorum.flush(2)
    asked = [s for s in sends(quorum, 2, fetch_request.FetchRequest) if s.destination == 1][-1]
    partition = partition_of(asked.message)
    assert (partition.fetch_offset, partition.last_fetched_epoch) == (3, 3)
    return quorum, asked


@pytest.mark.requirement("595-49")
@pytest.mark.parametrize(
    ("epoch", "end", "cut_to"),
    [
        (1, 1, 1),  # the leader has less of epoch 1 than the follower
        (2, 5, 2),  # the follower has no epoch 2: it cuts at its own end of epoch 1
        (1, 9, 2),  # the leader has more of epoch 1 than the follower
    ],
)
def test_a_diverging_follower_cuts_at_the_smaller_of_both_ends_of_the_epoch(epoch, end, cut_to):
    quorum, asked = diverging_follower()
    quorum.trace.clear()
    diverging = fetch_rpc.EpochEnd(epoch, end)
    answer = fetch_rpc.answer(quorum.members[2].raft._state, asked.version, diverging=diverging)
    answer_to(quorum, 2, asked, answer)
    cuts = [effect.end_offset for _, effect in quorum.trace if isinstance(effect, Truncate)]
    assert cuts == [cut_to]
    again = partition_of(sends(quorum, 2, fetch_request.FetchRequest)[-1].message)
    assert (again.fetch_offset, again.last_fetched_epoch) == (cut_to, 1)


@pytest.mark.requirement("595-29")
@pytest.mark.requirement("595-49")
def test_truncation_below_the_high_watermark_is_fatal():
    quorum = elected()
    quorum.advance(milliseconds(fetch_rpc.LONGEST_WAIT_MS + 100))
    correlation = next(iter(quorum.members[2].sends))
    raft = quorum.members[1].raft
    answer = fetch_rpc.answer(raft._state, 17, diverging=fetch_rpc.EpochEnd(0, 0))
    quorum.members[2].sends.clear()
    quorum._resume(quorum.members[2], correlation, answer)
    assert quorum.members[2].exit.status == 1
    assert "below the high watermark 1" in quorum.members[2].exit.reason
    assert Truncate not in kinds(quorum, 2)


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
    leader = partition_of(answer).current_leader
    assert (leader.leader_id, leader.leader_epoch) == (1, 1)


@pytest.mark.requirement("595-45")
def test_a_fetch_names_the_cluster_the_epoch_and_the_last_record():
    quorum = elected()
    quorum.advance(milliseconds(1000))
    request = sends(quorum, 2, fetch_request.FetchRequest)[-1].message
    (partition,) = request.topics[0].partitions
    assert request.cluster_id == quorum.members[2].raft._state.config.cluster_id
    assert request.cluster_id
    assert request.replica_state.replica_id == 2
    assert (partition.current_leader_epoch, partition.fetch_offset) == (1, 1)
    assert (partition.last_fetched_epoch, partition.log_start_offset) == (1, 0)


@pytest.mark.requirement("595-51")
@pytest.mark.parametrize(
    ("known", "is_told"), [(0, True), (1, False), (fetch_rpc.NO_HIGH_WATERMARK_UPDATES, False)]
)
def test_a_replica_hears_at_once_of_a_high_watermark_if_it_says_which_it_knows(known, is_told):
    quorum = elected()
    assert quorum.members[1].raft.high_watermark == 1
    asked = fetch(1, 1, 1, replica=9)
    partition = replace(asked.topics[0].partitions[0], high_watermark=known)
    topic = replace(asked.topics[0], partitions=(partition,))
    quorum.request(1, replace(asked, topics=(topic,), max_wait_ms=500), fetch_rpc.FETCH_VERSION)
    replies = [e.message for n, e in quorum.trace if n == 1 and isinstance(e, Reply)]
    assert [partition_of(reply).high_watermark for reply in replies] == [1] * is_told
