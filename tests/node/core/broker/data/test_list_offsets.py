"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords."""

import pytest

from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log_effects import RaiseLogStart
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    delete_records_request,
    list_offsets_request,
    offset_for_leader_epoch_request,
)
from tests.support.node.data_clients import START_MS
from tests.support.node.data_world import LOG, DataWorld


def filled(**fields):
    world = DataWorld(**fields)
    world.run(100)
    for _ in range(3):
        world.produce(1, 2)
        world.run(100)
    return world


def ask(world, node, *timestamps, epoch=-1, **fields):
    """Return the answer to a request of its own for each timestamp."""
    answers = []
    for timestamp in timestamps:
        part = list_offsets_request.ListOffsetsPartition(
            partition_index=0, timestamp=timestamp, current_leader_epoch=epoch
        )
        answers.extend(ask_once(world, node, part, **fields))
    return answers


def ask_once(world, node, *parts, version=9, replica=-1, topic="t"):
    named = list_offsets_request.ListOffsetsTopic(name=topic, partitions=parts)
    request = list_offsets_request.ListOffsetsRequest(replica_id=replica, topics=(named,))
    token = world.request(world.brokers[node], request, version)
    world.settle()
    (answer,) = world.brokers[node].answers[token].topics
    assert answer.name == topic
    return answer.partitions


def test_the_ends_of_a_log_are_those_that_the_reader_may_see():
    world = filled()
    for node in (2, 3):
        world.kill(node)
    world.produce(1, 1, acks=1)
    latest, earliest, local = ask(world, 1, -1, -2, -4)
    assert [part.offset for part in (latest, earliest, local)] == [6, 0, 0]
    assert (latest.leader_epoch, latest.timestamp) == (0, -1)
    (replica,) = ask(world, 1, -1, replica=2)
    assert replica.offset == 7


def test_a_timestamp_is_searched_in_the_files():
    world = filled()
    early, late, never, end = ask(world, 1, START_MS, START_MS + 150, START_MS + 10_000, -1)
    assert [part.offset for part in (early, late, never, end)] == [0, 2, -1, 6]
    assert late.timestamp == START_MS + 200
    assert never.timestamp == -1


@pytest.mark.parametrize(
    ("timestamp", "version", "error"),
    [
        (-3, 6, ErrorCode.UNSUPPORTED_VERSION),
        (-4, 7, ErrorCode.UNSUPPORTED_VERSION),
        (-5, 8, ErrorCode.UNSUPPORTED_VERSION),
        (-5, 9, ErrorCode.NONE),
        (-7, 9, ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_special_timestamps_have_a_first_version(timestamp, version, error):
    (part,) = ask(filled(), 1, timestamp, version=version)
    assert part.error_code == error
    assert part.offset == -1


def test_wrong_brokers_topics_and_epochs_are_refused():
    world = filled()
    assert ask(world, 2, -1)[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ask(world, 1, -1, epoch=3)[0].error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert ask(world, 1, -1, topic="u")[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def epoch_end(world, node, epoch):
    part = offset_for_leader_epoch_request.OffsetForLeaderPartition(
        partition=0, current_leader_epoch=-1, leader_epoch=epoch
    )
    topic = offset_for_leader_epoch_request.OffsetForLeaderTopic(topic="t", partitions=(part,))
    request = offset_for_leader_epoch_request.OffsetForLeaderEpochRequest(topics=(topic,))
    token = world.request(world.brokers[node], request, 4)
    return world.brokers[node].answers[token].topics[0].partitions[0]


def test_the_end_of_an_epoch_is_the_start_of_the_next():
    world = filled()
    world.fence(1)
    world.publish()
    leader = world.partition.leader
    world.produce(leader, 1)
    ends = [epoch_end(world, leader, epoch) for epoch in (0, 1, 5)]
    assert [(end.leader_epoch, end.end_offset) for end in ends] == [(0, 6), (1, 7), (-1, -1)]
    assert epoch_end(world, 1, 0).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def delete(world, offset, timeout_ms=1000, topic="t"):
    part = delete_records_request.DeleteRecordsPartition(partition_index=0, offset=offset)
    named = delete_records_request.DeleteRecordsTopic(name=topic, partitions=(part,))
    request = delete_records_request.DeleteRecordsRequest(topics=(named,), timeout_ms=timeout_ms)
    return world.request(world.brokers[1], request, 2)


def deleted(world, token):
    answer = world.brokers[1].answers.get(token)
    return None if answer is None else answer.topics[0].partitions[0]


def test_deleted_records_are_gone_on_every_live_replica_when_the_answer_comes():
    world = filled()
    token = delete(world, 4)
    assert deleted(world, token) is None
    world.run(400)
    assert (deleted(world, token).error_code, deleted(world, token).low_watermark) == (0, 4)
    starts = [broker.replica.index.start_offset for broker in world.brokers.values()]
    assert starts == [4, 4, 4]
    raised = [node for node, effect in world.effects if isinstance(effect, RaiseLogStart)]
    assert sorted(raised) == [1, 2, 3]
    assert world.fetched(1, world.fetch(1, 3)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_minus_1_deletes_up_to_the_high_watermark_and_a_dead_follower_delays_the_answer():
    world = filled()
    world.kill(3)
    token = delete(world, -1, timeout_ms=500)
    world.run(400)
    assert deleted(world, token) is None
    world.run(200)
    assert deleted(world, token).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert world.brokers[1].replica.index.start_offset == 6


@pytest.mark.parametrize("offset", [7, -2])
def test_an_offset_that_is_not_committed_is_out_of_range(offset):
    world = filled()
    assert deleted(world, delete(world, offset)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert world.brokers[1].replica.index.start_offset == 0


def test_a_compacted_topic_keeps_its_records():
    world = DataWorld(configs={"cleanup.policy": "compact"})
    assert deleted(world, delete(world, 0)).error_code == ErrorCode.POLICY_VIOLATION
    unknown = deleted(world, delete(world, 0, topic="u"))
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_follower_that_leads_later_starts_where_the_deletion_ended():
    world = filled()
    delete(world, 4)
    world.run(400)
    world.fence(1)
    world.publish()
    leader = world.partition.leader
    assert ask(world, leader, -2)[0].offset == 4
    assert world.brokers[leader].replica.log == LOG


def test_a_reader_of_deleted_records_begins_again_whether_or_not_it_diverges():
    world = filled()
    delete(world, 4)
    world.run(400)
    world.brokers[1].replica.index.epochs.assign(Epoch(5), Offset(6))
    for offset, epoch, error in ((5, 3, ErrorCode.NONE), (2, 3, ErrorCode.OFFSET_OUT_OF_RANGE)):
        answer = world.fetched(1, world.fetch(1, offset, last_fetched_epoch=epoch))
        assert answer.error_code == error
        assert (answer.diverging_epoch.epoch == 0) == (error == ErrorCode.NONE)


@pytest.mark.parametrize(
    ("version", "error"),
    [(9, ErrorCode.OFFSET_NOT_AVAILABLE), (4, ErrorCode.LEADER_NOT_AVAILABLE)],
)
def test_a_new_leader_tells_no_end_below_the_begin_of_its_epoch(version, error):
    """Its high watermark may be lower than that of the leader before (KIP-207)."""
    world = filled()
    replica = world.brokers[1].data.replicas.by_log[LOG]
    replica.leader.epoch_start = replica.index.end_offset + 1
    latest, earliest, never = ask(world, 1, -1, -2, START_MS + 10_000, version=version)
    assert (latest.error_code, latest.offset) == (error, -1)
    assert (earliest.error_code, earliest.offset) == (ErrorCode.NONE, 0)
    assert (never.error_code, never.offset) == (error, -1)
    (found,) = ask(world, 1, START_MS + 150, version=version)
    assert (found.error_code, found.offset) == (ErrorCode.NONE, 2)


def test_an_unknown_timestamp_is_refused_before_the_partition_is_looked_up():
    (part,) = ask(filled(), 1, -77, topic="no-such-topic")
    assert part.error_code == ErrorCode.UNSUPPORTED_VERSION
