"""Produce, replicate and fetch over several brokers: acknowledgements, high watermark, failover."""

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log_effects import CreateLog, DeleteLog, NoteEpoch
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.support.node.data_messages import change
from tests.support.node.data_world import LOG, TOPIC, DataWorld


def test_each_replica_gets_a_log_and_the_leader_enters_its_epoch():
    world = DataWorld()
    created = [node for node, effect in world.effects if isinstance(effect, CreateLog)]
    assert created == [1, 2, 3]
    noted = [
        (node, e.epoch, e.start_offset) for node, e in world.effects if isinstance(e, NoteEpoch)
    ]
    assert noted == [(1, 0, 0)]


def test_an_acknowledged_batch_is_on_every_member_of_the_isr_byte_for_byte():
    world = DataWorld()
    world.run(200)
    token = world.produce(1, 3)
    assert world.produced(1, token) is None
    world.run(50)
    answer = world.produced(1, token)
    assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (0, 0, 0)
    assert [len(batches) for batches in world.logs().values()] == [1, 1, 1]
    assert len({tuple(batches) for batches in world.logs().values()}) == 1
    assert world.brokers[1].replica.index.high_watermark == 3


def test_followers_learn_the_high_watermark_with_their_next_fetch():
    world = DataWorld()
    world.produce(1, 3)
    world.run(300)
    assert [world.brokers[node].replica.index.high_watermark for node in (2, 3)] == [3, 3]


def test_acks_1_is_answered_after_the_leader_alone_and_acks_0_never():
    world = DataWorld()
    world.kill(2)
    world.kill(3)
    assert world.produced(1, world.produce(1, acks=1)).base_offset == 0
    silent = world.produce(1, acks=0)
    assert world.brokers[1].answers[silent] is None
    assert world.closed == []
    assert len(world.brokers[1].disk[LOG]) == 2
    failed = world.produce(2 - 1, acks=0, content=b"damaged")
    assert world.closed == [failed]


def test_a_batch_without_all_acknowledgements_times_out_and_stays_in_the_log():
    world = DataWorld()
    world.kill(3)
    token = world.produce(1, timeout_ms=300)
    world.run(290)
    assert world.produced(1, token) is None
    world.run(20)
    assert world.produced(1, token).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert len(world.brokers[1].disk[LOG]) == 1


@pytest.mark.requirement("497-08")
def test_a_batch_waits_for_a_dead_member_until_its_removal_is_committed():
    world = DataWorld()
    world.run(200)
    world.kill(3)
    token = world.produce(1, timeout_ms=60_000)
    world.run(2500)
    assert world.produced(1, token) is None
    world.run(3000)
    assert world.partition.isr == (1, 2)
    world.publish()
    assert world.produced(1, token).error_code == 0


@pytest.mark.requirement("497-09")
def test_a_restarted_follower_catches_up_and_joins_again():
    world = DataWorld()
    world.run(100)
    world.kill(3)
    world.fence(3)
    world.publish()
    token = world.produce(1, 2)
    world.run(100)
    assert world.produced(1, token).error_code == 0
    world.restart(3)
    world.publish()
    world.run(2000)
    assert world.partition.isr == (1, 2, 3)
    assert len(world.brokers[3].disk[LOG]) == 1
    assert world.partition.partition_epoch == 2


def test_too_small_an_isr_refuses_acks_all_before_the_append():
    world = DataWorld(configs={"min.insync.replicas": "2"})
    world.run(100)
    for node in (2, 3):
        world.kill(node)
        world.fence(node)
    world.publish()
    refused = world.produced(1, world.produce(1))
    assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert world.brokers[1].disk[LOG] == []
    assert world.produced(1, world.produce(1, acks=1)).error_code == 0
    world.run(1000)
    assert world.brokers[1].replica.index.high_watermark == 0, "not visible below min ISR"


def test_an_isr_that_shrank_below_the_minimum_after_the_append_is_reported():
    world = DataWorld(configs={"min.insync.replicas": "2"})
    world.run(100)
    world.kill(3)
    token = world.produce(1, timeout_ms=60_000)
    world.run(50)
    world.kill(2)
    world.fence(3)
    world.publish()
    assert world.produced(1, token).error_code == 0, "broker 2 had the batch already"
    late = world.produce(1, timeout_ms=60_000)
    world.fence(2)
    world.publish()
    world.run(100)
    assert world.produced(1, late) is None, "the high watermark stands still below min ISR"


def test_requests_to_the_wrong_broker_name_the_leader():
    world = DataWorld()
    answer = world.produced(2, world.produce(2))
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (1, 0)
    fetched = world.fetched(2, world.fetch(2, 0))
    assert fetched.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert fetched.current_leader.leader_id == 1


def test_a_waiting_batch_ends_with_the_leadership():
    world = DataWorld()
    world.kill(3)
    token = world.produce(1, timeout_ms=60_000)
    world.write(change(leader=2))
    world.publish()
    assert world.produced(1, token).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.requirement("631-67")
def test_brokers_delete_their_replicas_at_the_record_of_the_deletion():
    world = DataWorld()
    world.produce(1, 3)
    world.run(300)
    assert all(LOG in broker.disk for broker in world.brokers.values())
    world.write(records.RemoveTopicRecord(topic_id=TOPIC))
    world.publish()
    deleted = [(node, e.log, e.is_stray) for node, e in world.effects if isinstance(e, DeleteLog)]
    assert deleted == [(node, LOG, False) for node in (1, 2, 3)]
    assert not any(broker.disk for broker in world.brokers.values())


@pytest.mark.requirement("631-69")
def test_old_data_never_mix_with_a_topic_that_was_recreated_meanwhile():
    world = DataWorld()
    world.produce(1, 3)
    world.run(300)
    world.kill(3)
    again = LogId(Uuid(b"another topic id"), 0)
    world.write(
        records.RemoveTopicRecord(topic_id=TOPIC),
        records.TopicRecord(name="t", topic_id=again.topic_id),
        records.PartitionRecord(
            partition_id=0,
            topic_id=again.topic_id,
            replicas=(1, 2, 3),
            isr=(1, 2, 3),
            leader=1,
            leader_epoch=0,
            partition_epoch=0,
            directories=world.new_directories((1, 2, 3)),
        ),
    )
    world.publish()
    old = world.brokers[3].disk[LOG]
    world.restart(3)
    world.run(100)
    token = world.produce(1, 2)
    world.run(1000)
    assert world.produced(1, token).base_offset == 0
    strays = [(node, e.log) for node, e in world.effects if isinstance(e, DeleteLog) and e.is_stray]
    assert strays == [(3, LOG)]
    logs = [broker.disk[again] for broker in world.brokers.values()]
    assert logs[0] == logs[1] == logs[2]
    assert [batch.next_offset for batch in logs[2]] == [2]
    assert not {bytes(batch.data) for batch in old} & {bytes(batch.data) for batch in logs[2]}


@pytest.mark.requirement("631-68")
def test_a_recovered_log_that_the_image_does_not_place_here_is_stray():
    world = DataWorld()
    world.kill(3)
    world.write(change(replicas=(1, 2), isr=(1, 2)))
    world.restart(3)
    stray = [(node, e.is_stray) for node, e in world.effects if isinstance(e, DeleteLog)]
    assert stray == [(3, True)]


def test_a_stray_log_goes_before_a_new_topic_takes_its_name():
    """The directory of a log has the topic's name, and the topic was created anew meanwhile."""
    world = DataWorld()
    world.kill(3)
    world.write(records.RemoveTopicRecord(topic_id=TOPIC))
    again = Uuid(b"u" * 16)
    world.write(
        records.TopicRecord(name="t", topic_id=again),
        records.PartitionRecord(
            partition_id=0,
            topic_id=again,
            replicas=(3,),
            isr=(3,),
            leader=3,
            leader_epoch=0,
            partition_epoch=0,
        ),
    )
    world.effects.clear()
    world.restart(3)
    changes = [e for node, e in world.effects if isinstance(e, DeleteLog | CreateLog)]
    assert changes == [
        DeleteLog(log=LOG, is_stray=True),
        CreateLog(log=LogId(again, 0), topic="t"),
    ]
