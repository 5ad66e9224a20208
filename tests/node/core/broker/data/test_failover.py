"""Failovers: the new leader, the end of the common part, and lost records."""

from kraftproof.node.core.effects import Truncate
from kraftproof.node.core.log_effects import DeleteLog, RestartLog
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.support.node.data_messages import change
from tests.support.node.data_world import LOG, TOPIC, DataWorld


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
    assert len({tuple(batches) for batches in world.logs().values()}) == 1
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
    assert len({tuple(batches) for batches in world.logs().values()}) == 1


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
    assert len({tuple(batches) for batches in world.logs().values()}) == 1
    epochs = [broker.replica.index.epochs.entries for broker in world.brokers.values()]
    assert epochs[0] == epochs[1]


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
    assert world.logs()[1] == world.logs()[2]


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
    assert world.logs()[1] == world.logs()[2]
    assert [batch.epoch for batch in world.brokers[1].disk[LOG]] == [0, 1]
