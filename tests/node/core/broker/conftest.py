"""A broker that has an image with brokers and topics."""

import pytest

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.node.core.broker.bench import TOPIC, Bench


def broker(broker_id: int, *, fenced: bool, listener: str = "CLIENT"):
    endpoint = records.BrokerEndpoint(name=listener, host=f"b{broker_id}", port=9000 + broker_id)
    return records.RegisterBrokerRecord(
        broker_id=broker_id, broker_epoch=broker_id, end_points=(endpoint,), fenced=fenced
    )


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    partition = records.PartitionRecord(
        partition_id=0, topic_id=TOPIC, replicas=(3, 2), isr=(3,), leader=3, leader_epoch=4
    )
    leaderless = records.PartitionRecord(
        partition_id=1, topic_id=TOPIC, replicas=(2,), isr=(2,), leader=-1, leader_epoch=1
    )
    bench.committed.image = apply_all(
        bench.committed.image,
        (
            records.FeatureLevelRecord(name="metadata.version", feature_level=21),
            broker(3, fenced=False),
            broker(2, fenced=True),
            broker(4, fenced=False, listener="OTHER"),
            records.TopicRecord(name="t", topic_id=TOPIC),
            leaderless,
            partition,
            records.TopicRecord(name="a", topic_id=Uuid(bytes([8] * 16))),
        ),
    )
    bench.see(12)
    return bench
