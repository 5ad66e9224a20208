"""Produce, replicate and fetch over several brokers: acknowledgements, high watermark, failover."""

import pytest
from msgspec import structs

from kraftproof.node.core.effects import Truncate
from kraftproof.node.core.log_effects import CreateLog, DeleteLog, NoteEpoch, RestartLog
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.support.node.data_world import LOG, POLICY, TOPIC, DataWorld


def logs(world):
    return {
        node: [batch.data for batch in broker.disk[LOG]] for node, broker in world.brokers.items()
    }


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
    assert [len(batches) for batches in logs(world).values()] == [1, 1, 1]
    assert len({tuple(batches) for batches in logs(world).values()}) == 1
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


def test_a_new_leader_has_every_acknowledged_batch_and_the_old_one_truncates_by_epoch():
    world = DataWorld()
    world.run(100)
    token = world.produce(1, 2, value=b"acknowledged")
    world.run(50)
    assert world.produced(1, token).error_code == 0
    world.kill(2)
    world.kill(3)
    world.produce(1, 1, acks=1, value=b"on the old leader alone")
    world.kill(1)
    world.fence(1)
    for node in (2, 3):
        world.resume(node)
    world.publish()
    assert world.partition.leader == 2
    token = world.produce(2, 1, value=b"of the new leader")
    world.run(300)
    assert world.produced(2, token).base_offset == 2
    world.restart(1)
    world.publish()
    world.run(1000)
    assert len({tuple(batches) for batches in logs(world).values()}) == 1
    assert [batch.epoch for batch in world.brokers[1].disk[LOG]] == [0, 1]
    assert set(world.partition.isr) == {1, 2, 3}


def test_a_former_leader_truncates_to_the_common_part_not_to_its_high_watermark():
    world = DataWorld()
    world.run(100)
    world.produce(1, 2)
    world.run(50)
    world.kill(3)
    world.produce(1, 1, timeout_ms=60_000)
    world.run(50)
    world.kill(2)
    world.produce(1, 1, acks=1, value=b"on the old leader alone")
    assert world.brokers[1].replica.index.high_watermark == 2
    world.kill(1)
    world.fence(1)
    world.resume(2)
    world.resume(3)
    world.publish()
    world.produce(2, 1, value=b"of the new leader")
    world.run(300)
    world.restart(1)
    world.publish()
    world.run(1000)
    assert (1, Truncate(LOG, 3)) in world.effects
    assert len({tuple(batches) for batches in logs(world).values()}) == 1


def test_a_former_leader_without_records_in_its_epoch_drops_the_epoch():
    """Leader 1 led epoch 2 without an append; leader 2 has more records of epoch 0."""
    world = DataWorld(2)
    world.run(50)
    world.kill(2)
    for leader, node in ((2, 2), (1, 1)):
        world.write(change(leader=leader, isr=(1, 2)))
        del node
    world.publish(1)
    assert world.brokers[1].replica.index.epochs.latest == 2
    world.resume(2)
    world.publish(2)
    world.write(change(leader=2))
    world.publish()
    world.produce(2)
    world.run(2000)
    assert len({tuple(batches) for batches in logs(world).values()}) == 1
    epochs = [broker.replica.index.epochs.entries for broker in world.brokers.values()]
    assert epochs[0] == epochs[1]


def change(**fields):
    return records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **fields)


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


def test_a_deleted_topic_ends_its_logs_and_waiting_requests():
    world = DataWorld()
    world.kill(3)
    token = world.produce(1, timeout_ms=60_000)
    fetch = world.fetch(1, 1, max_wait_ms=10_000)
    world.write(records.RemoveTopicRecord(topic_id=TOPIC))
    world.publish()
    assert world.produced(1, token).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert world.fetched(1, fetch).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    deleted = [node for node, effect in world.effects if isinstance(effect, DeleteLog)]
    assert deleted == [1, 2]
    assert not world.brokers[1].data.replicas.by_log


def test_a_recovered_log_that_the_image_does_not_place_here_is_stray():
    world = DataWorld()
    world.kill(3)
    world.write(change(replicas=(1, 2), isr=(1, 2)))
    world.restart(3)
    stray = [(node, e.is_stray) for node, e in world.effects if isinstance(e, DeleteLog)]
    assert stray == [(3, True)]


def test_a_follower_whose_records_are_gone_at_the_leader_starts_there():
    world = DataWorld(2, configs={"retention.bytes": "1"})
    world.run(50)
    world.kill(2)
    world.fence(2)
    world.publish()
    for _ in range(3):
        world.produce(1, 1)
    world.run(50)
    leader = world.brokers[1].replica
    leader.raise_start(2)
    del world.brokers[1].disk[LOG][:2]
    world.restart(2)
    world.publish()
    world.run(1500)
    assert (2, RestartLog(log=LOG, start_offset=2)) in world.effects
    assert world.brokers[2].replica.index.end_offset == 3
    assert logs(world)[1] == logs(world)[2]


def test_a_follower_beyond_the_end_of_an_unclean_leader_truncates():
    world = DataWorld(2)
    world.run(50)
    for _ in range(4):
        world.produce(1, 2)
        world.run(50)
    world.kill(1)
    world.kill(2)
    shorter = {LOG: world.brokers[2].disk[LOG][:1]}
    world.restart(2, disk=shorter)
    world.restart(1)
    world.write(change(leader=2, isr=(2,)))
    world.publish()
    world.produce(2, 1)
    world.run(2000)
    assert logs(world)[1] == logs(world)[2]
    assert [batch.epoch for batch in world.brokers[1].disk[LOG]] == [0, 1]


def test_durable_topics_acknowledge_flushed_records_alone():
    world = DataWorld(configs={"flush.messages": "1"})
    world.run(100)
    world.hold_flushes = True
    token = world.produce(1, 1)
    leader_only = world.produce(1, 1, acks=1)
    world.run(500)
    assert world.produced(1, token) is None
    assert world.produced(1, leader_only) is None
    world.hold_flushes = False
    for broker, done in world.flushes:
        world.queue.append((broker, done))
    world.run(500)
    assert world.produced(1, token).error_code == 0
    assert world.produced(1, leader_only).error_code == 0


def test_a_follower_of_a_durable_topic_acknowledges_flushed_records_alone():
    world = DataWorld(2, configs={"flush.messages": "1"})
    world.run(100)
    world.hold_flushes = True
    token = world.produce(1, 1)
    world.run(100)
    for broker, done in world.flushes:
        if broker.node_id == 1:
            world.queue.append((broker, done))
    world.run(500)
    assert len(world.brokers[2].disk[LOG]) == 1
    assert world.produced(1, token) is None
    world.queue.extend(world.flushes)
    world.run(300)
    assert world.produced(1, token).error_code == 0


def test_a_follower_never_has_a_high_watermark_above_its_log():
    """The leader's answers are cut at a few bytes, far below the leader's high watermark."""
    policy = structs.replace(POLICY, fetch_partition_bytes=1)
    world = DataWorld(2, policy=policy)
    world.run(100)
    world.kill(2)
    world.fence(2)
    world.publish()
    for _ in range(5):
        world.produce(1, 1)
    world.resume(2)
    world.publish()
    seen = []
    for _ in range(60):
        world.run(10)
        index = world.brokers[2].replica.index
        assert index.high_watermark <= index.end_offset
        seen.append(index.end_offset)
    assert {1, 2, 3, 4, 5} & set(seen[:-1])
    assert seen[-1] == 5


def test_a_flush_of_an_earlier_generation_proves_nothing():
    world = DataWorld(1, configs={"flush.messages": "1"})
    world.hold_flushes = True
    world.produce(1, 2, timeout_ms=60_000)
    replica = world.brokers[1].replica
    replica.truncate(0)
    token = world.produce(1, 1, timeout_ms=60_000)
    for broker, done in world.flushes[:1]:
        world.queue.append((broker, done))
    world.settle()
    assert world.produced(1, token) is None
