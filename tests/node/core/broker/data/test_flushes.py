"""Topics with a flush for each append, and cut answers to followers."""

from msgspec import structs

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.partition.settings import topic_settings
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.support.node.data_messages import change
from tests.support.node.data_world import LOG, POLICY, DataWorld


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


def test_a_leader_that_moves_before_its_flush_refuses_a_record_that_stays():
    """So a client of acks=1 cannot take NOT_LEADER_OR_FOLLOWER for a proof (decision 0675)."""
    world = DataWorld(2, configs={"flush.messages": "1"})
    world.run(100)
    world.hold_flushes = True
    token = world.produce(1, 1, acks=1)
    world.run(100)
    world.write(change(leader=2))
    world.publish()
    world.run(500)
    assert world.produced(1, token).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert [len(world.brokers[each].disk[LOG]) for each in (1, 2)] == [1, 1]


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
    index, seen = world.brokers[2].replica.index, set()
    for _ in range(60):
        busy = [place for place, entry in enumerate(world.queue) if world._is_ready(entry)]
        if busy:
            world.deliver(busy[0])
        else:
            world.run(10)
        assert index.high_watermark <= index.end_offset
        seen.add(index.end_offset)
    assert {1, 2, 3, 4, 5} <= seen


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


def test_the_profile_durable_is_the_flush_interval_in_the_file_of_a_broker():
    static = {"log.flush.interval.messages": "1", "min.insync.replicas": "2"}
    settings = topic_settings(EMPTY_IMAGE, "t", 1, static)
    assert (settings.flushes_each_append, settings.min_isr) == (True, 2)
    image = apply_all(
        EMPTY_IMAGE,
        (
            records.ConfigRecord(
                resource_type=4, resource_name="", name="min.insync.replicas", value="3"
            ),
            records.ConfigRecord(
                resource_type=4, resource_name="1", name="message.max.bytes", value="77"
            ),
        ),
    )
    assert topic_settings(image, "t", 1, static).min_isr == 3
    assert topic_settings(image, "t", 1).max_message_bytes == 77
    assert topic_settings(image, "t", 2).max_message_bytes == 1_048_588
