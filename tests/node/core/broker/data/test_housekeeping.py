"""Retention by age and size, checkpoints, and the expiration of sequence numbers."""

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.broker.data.retention import retained_start
from kraftproof.node.core.log_effects import ConfigureLog, RaiseLogStart, WriteCheckpoints
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.support.node.data_clients import START_MS
from tests.support.node.data_world import LOG, MS, DataWorld

POLICY = ReplicationPolicy(
    is_enabled=True,
    fetch_wait_ms=100,
    retention_interval_ns=10_000 * MS,
    checkpoint_interval_ns=5_000 * MS,
    producer_expiration_ms=8_000,
)


def filled(configs, batches=8):
    """Each batch has about 5,000 bytes, so each begins a span of the index."""
    world = DataWorld(2, configs=configs, policy=POLICY)
    world.run(100)
    for _ in range(batches):
        world.produce(1, 1, value=b"v" * 5000)
        world.run(1000)
    return world


def start(world):
    return world.brokers[1].replica.index.start_offset


def test_old_records_are_removed_by_the_leader_and_then_by_the_follower():
    world = filled({"retention.ms": "4500"})
    assert start(world) == 0
    world.run(3000)
    assert start(world) == 6
    world.run(500)
    assert world.brokers[2].replica.index.start_offset == 6
    raised = {node for node, effect in world.effects if isinstance(effect, RaiseLogStart)}
    assert raised == {1, 2}


def test_the_oldest_records_beyond_the_size_are_removed():
    world = filled({"retention.bytes": "16000", "retention.ms": "-1"})
    world.run(3000)
    assert start(world) == 4
    index = world.brokers[1].replica.index
    assert 16_000 <= index.bytes_between(start(world), index.end_offset) < 16_000 + 5100


def test_the_time_of_a_deleted_record_keeps_no_other_record():
    world = DataWorld(1, configs={"retention.ms": "4500"}, policy=POLICY)
    world.run(100)
    world.produce(1, 1, value=b"v" * 5000, timestamp_ms=START_MS + 60_000)
    world.run(10)
    replica = world.brokers[1].replica
    replica.raise_start(replica.index.high_watermark)
    world.produce(1, 1, value=b"v" * 5000)
    world.produce(1, 1, value=b"v" * 5000)
    world.run(9_000)
    assert start(world) == 1
    world.run(1_000)
    assert start(world) == 3


def test_nothing_is_removed_without_limits_nor_from_a_compacted_topic():
    kept = filled({"retention.ms": "-1"})
    kept.run(3000)
    assert start(kept) == 0
    compacted = filled({"cleanup.policy": "compact", "retention.ms": "1"})
    compacted.run(3000)
    assert start(compacted) == 0


def test_records_above_the_high_watermark_stay():
    world = filled({"retention.ms": "1"}, 4)
    world.kill(2)
    world.produce(1, 1, acks=1, value=b"v" * 5000)
    assert retained_start(world.brokers[1].replica, START_MS + 10**6) == 4


def test_changed_high_watermarks_are_written_and_others_not():
    world = filled({}, 1)
    world.run(5000)
    first = [e for node, e in world.effects if isinstance(e, WriteCheckpoints) and node == 1]
    assert first == [WriteCheckpoints(high_watermarks=((LOG, 1),))]
    world.run(6000)
    again = [e for node, e in world.effects if isinstance(e, WriteCheckpoints) and node == 1]
    assert again == first


def test_idle_producers_expire_with_the_retention_check():
    world = DataWorld(1, policy=POLICY)
    world.produce(1, 1, producer=(7, 0, 0))
    world.run(9_000)
    assert len(world.brokers[1].replica.producers) == 1
    world.run(12_000)
    assert len(world.brokers[1].replica.producers) == 0


def test_the_expiration_of_producers_changes_while_the_broker_runs():
    world = DataWorld(1, policy=POLICY)
    world.produce(1, 1, producer=(7, 0, 0))
    world.write(
        records.ConfigRecord(
            resource_type=4, resource_name="", name="producer.id.expiration.ms", value="60000"
        )
    )
    world.publish()
    world.run(21_000)
    assert len(world.brokers[1].replica.producers) == 1


def test_the_storage_is_told_the_size_of_segments_at_the_creation_and_at_a_change():
    world = DataWorld(1, configs={"max.message.bytes": "4000000"})
    assert (1, ConfigureLog(log=LOG, segment_bytes=1 << 30)) in world.effects
    world.write(
        records.ConfigRecord(
            resource_type=2, resource_name="t", name="segment.bytes", value="1048576"
        )
    )
    world.publish()
    world.publish()
    told = [effect for _, effect in world.effects if isinstance(effect, ConfigureLog)]
    assert [effect.segment_bytes for effect in told] == [1 << 30, 1 << 20]
    refused = world.produced(1, world.produce(1, 1, value=b"v" * (1 << 20)))
    assert refused.error_code == ErrorCode.RECORD_LIST_TOO_LARGE
