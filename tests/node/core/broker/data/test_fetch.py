"""Fetch of topics: ranges, long polls, epochs, sessions and stale followers."""

import pytest

from kraftproof.node.core.effects import Reply
from kraftproof.node.core.log_effects import ReplyWithBatches
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request
from kraftproof.node.wire.records.raw_batch import parse_batches
from tests.support.node.client_batches import batch_bytes
from tests.support.node.data_clients import START_MS
from tests.support.node.data_messages import produce_message
from tests.support.node.data_world import TOPIC, DataWorld


def filled(count=3, replicas=3):
    world = DataWorld(replicas)
    world.run(100)
    for _ in range(count):
        world.produce(1, 2)
        world.run(50)
    return world


def offsets(answer):
    return [batch.base_offset for batch in parse_batches(answer.records)]


def test_a_consumer_reads_whole_batches_from_the_one_that_holds_its_offset():
    world = filled()
    answer = world.fetched(1, world.fetch(1, 3))
    assert offsets(answer) == [2, 4]
    assert (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset) == (6, 6, 0)


def test_a_consumer_never_reads_above_the_high_watermark():
    world = filled()
    for node in (2, 3):
        world.kill(node)
    world.produce(1, 1, acks=1)
    answer = world.fetched(1, world.fetch(1, 4))
    assert offsets(answer) == [4]
    ahead = world.fetched(1, world.fetch(1, 7))
    assert (ahead.error_code, ahead.records, ahead.high_watermark) == (0, b"", 6)


@pytest.mark.parametrize("offset", [-1, 7, 1 << 40])
def test_an_offset_outside_of_the_log_is_out_of_range(offset):
    world = filled()
    answer = world.fetched(1, world.fetch(1, offset, max_wait_ms=5000))
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_long_poll_ends_with_new_records_or_at_its_time():
    world = filled()
    waiting = world.fetch(1, 6, max_wait_ms=10_000)
    short = world.fetch(1, 6, max_wait_ms=300)
    world.run(290)
    assert world.fetched(1, short) is None
    world.run(20)
    assert world.fetched(1, short).records == b""
    world.produce(1, 1)
    world.run(50)
    assert offsets(world.fetched(1, waiting)) == [6]


def test_a_long_poll_ends_when_the_leadership_ends():
    world = filled()
    waiting = world.fetch(1, 6, max_wait_ms=10_000)
    world.fence(1)
    world.publish()
    assert world.fetched(1, waiting).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("epoch", "error"), [(0, ErrorCode.FENCED_LEADER_EPOCH), (5, ErrorCode.UNKNOWN_LEADER_EPOCH)]
)
def test_a_client_with_another_leader_epoch_is_refused(epoch, error):
    world = filled()
    world.fence(1)
    world.publish()
    leader = world.partition.leader
    answer = world.fetched(leader, world.fetch(leader, 0, current_leader_epoch=epoch))
    assert answer.error_code == error
    right = world.fetch(leader, 0, current_leader_epoch=world.partition.leader_epoch)
    assert world.fetched(leader, right).error_code == 0


def test_a_consumer_of_a_lost_epoch_learns_where_it_diverges():
    world = filled()
    world.fence(1)
    world.publish()
    leader = world.partition.leader
    answer = world.fetched(leader, world.fetch(leader, 9, last_fetched_epoch=0))
    assert answer.error_code == 0
    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == (0, 6)
    unknown = world.fetched(leader, world.fetch(leader, 3, last_fetched_epoch=77))
    assert unknown.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_topics_are_named_by_id_from_version_13():
    world = filled()
    part = fetch_request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    for topic_id, error in ((TOPIC, 0), (b"x" * 16, 100), (bytes(16), 100)):
        topic = fetch_request.FetchTopic(topic_id=topic_id, partitions=(part,))
        request = fetch_request.FetchRequest(max_bytes=1000, session_epoch=-1, topics=(topic,))
        answer = world.fetched(1, world.request(world.brokers[1], request, 16))
        assert answer.error_code == error


def test_sizes_bound_an_answer_and_the_first_batch_always_fits():
    world = DataWorld(partitions=2)
    world.run(100)
    for partition in (0, 0, 1):
        message = produce_message(batch_bytes(timestamp_ms=START_MS), partition=partition)
        world.request(world.brokers[1], message, 12)
    world.run(100)
    unknown, part, other = [
        fetch_request.FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)
        for index in (5, 0, 1)
    ]
    topics = (
        fetch_request.FetchTopic(topic="none", partitions=(part,)),
        fetch_request.FetchTopic(topic="t", partitions=(unknown, part, other)),
    )
    request = fetch_request.FetchRequest(
        replica_id=-1, max_wait_ms=0, max_bytes=1, session_epoch=-1, topics=topics
    )
    token = world.request(world.brokers[1], request, 12)
    answer = world.brokers[1].answers[token]
    found = answer.responses[1].partitions
    assert [partition.error_code for partition in found] == [3, 0, 0]
    assert [partition.high_watermark for partition in found] == [-1, 2, 1]
    assert offsets(found[1]) == [0]
    assert found[2].records == b""


def test_sessions_are_declined():
    world = filled()
    token = world.request(
        world.brokers[1], fetch_request.FetchRequest(session_id=7, session_epoch=1), 12
    )
    answer = world.brokers[1].answers[token]
    assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    full = world.request(world.brokers[1], fetch_request.FetchRequest(session_epoch=0), 12)
    assert world.brokers[1].answers[full].session_id == 0


def test_the_core_names_ranges_and_never_holds_the_batches():
    world = filled()
    world.fetch(1, 0)
    effect = world.effects[-1][1]
    assert isinstance(effect, ReplyWithBatches)
    assert effect.message.responses[0].partitions[0].records == b""
    (read,) = effect.reads
    assert (read.offset, read.end_offset, read.may_exceed) == (0, 6, True)
    request = fetch_request.FetchRequest(
        replica_id=-1,
        max_bytes=700,
        session_epoch=-1,
        topics=(
            fetch_request.FetchTopic(
                topic="t",
                partitions=(fetch_request.FetchPartition(partition=0, partition_max_bytes=900),),
            ),
        ),
    )
    world.request(world.brokers[1], request, 12)
    assert world.effects[-1][1].max_bytes == 700
    world.fetch(1, 6)
    assert isinstance(world.effects[-1][1], Reply)


def follower_fetch(world, replica, broker_epoch, *, offset=6, epoch=0):
    part = fetch_request.FetchPartition(
        partition=0,
        fetch_offset=offset,
        current_leader_epoch=epoch,
        last_fetched_epoch=0,
        partition_max_bytes=1000,
    )
    state = fetch_request.ReplicaState(replica_id=replica, replica_epoch=broker_epoch)
    request = fetch_request.FetchRequest(
        replica_state=state,
        max_wait_ms=0,
        max_bytes=1000,
        session_epoch=-1,
        topics=(fetch_request.FetchTopic(topic_id=TOPIC, partitions=(part,)),),
    )
    return world.fetched(1, world.request(world.brokers[1], request, 17))


def test_the_fetch_of_an_earlier_process_of_a_follower_counts_nothing():
    """KIP-903: its records may be lost, though the old Fetch still arrives."""
    world = filled()
    world.kill(3)
    world.produce(1, 1, timeout_ms=60_000)
    progress = world.brokers[1].replica.leader.followers[3]
    stale = follower_fetch(world, 3, 12, offset=7)
    assert stale.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert progress.end_offset == 6
    assert follower_fetch(world, 3, 13, offset=7).error_code == 0
    assert progress.end_offset == 7


def test_a_fetch_of_no_replica_or_beyond_the_end_moves_no_progress():
    world = filled()
    assert follower_fetch(world, 9, 1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert follower_fetch(world, 9, 1, epoch=-1).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    answer = follower_fetch(world, 3, 13, offset=99)
    assert answer.diverging_epoch.end_offset == 6
    assert world.brokers[1].replica.leader.followers[3].end_offset == 6
