"""Real clients produce to and consume from real processes on loopback, and a leader is killed."""

import gc
import time
import warnings
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from tests.node.server.test_live import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.node.server.conftest import LiveCluster

    MakeCluster = Callable[[int, int], LiveCluster]

# kafka-python reads its schemas with a call that Python 3.11 deprecates, when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*_text is deprecated:DeprecationWarning")
RECORDS = 60


@pytest.fixture(autouse=True)
def without_sockets_of_kafka_python(caplog: pytest.LogCaptureFixture) -> "Iterator[None]":
    """Collect the sockets that kafka-python leaves open, so that no other test warns of them."""
    yield
    caplog.get_records("call").clear()  # their tracebacks hold the sockets
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def create(cluster: "LiveCluster", name: str, partitions: int, replicas: int) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    created = admin.create_topics([NewTopic(name, partitions, replicas)])
    assert [topic["error_code"] for topic in created["topics"]] == [0]
    admin.close()


def read_with_kafka_python(
    cluster: "LiveCluster", topic: str, count: int, seconds: float = 20
) -> list[bytes]:
    from kafka import KafkaConsumer
    from kafka import TopicPartition as Partition

    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap, auto_offset_reset="earliest")
    consumer.assign([Partition(topic, 0)])
    values: list[bytes] = []
    deadline = time.monotonic() + seconds
    while len(values) < count and time.monotonic() < deadline:
        for records in consumer.poll(200).values():
            values += [record.value for record in records]
    consumer.close()
    return values


def read_with_confluent(cluster: "LiveCluster", topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": ",".join(cluster.bootstrap),
            "group.id": "g",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    values: list[bytes] = []
    deadline = time.monotonic() + 20
    while len(values) < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append(message.value())
    consumer.close()
    return values


def test_both_client_libraries_produce_and_consume(live: "MakeCluster") -> None:
    from kafka import KafkaProducer

    cluster = live(1, 3)
    create(cluster, "t", 1, 3)
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap, acks="all")
    expected = [f"python-{number}".encode() for number in range(RECORDS)]
    sent = [producer.send("t", value) for value in expected]
    offsets = [future.get(20).offset for future in sent]
    producer.close()
    assert offsets == list(range(RECORDS))
    other = Producer(
        {
            "bootstrap.servers": ",".join(cluster.bootstrap),
            "enable.idempotence": True,
            "compression.type": "gzip",
        }
    )
    more = [f"confluent-{number}".encode() for number in range(RECORDS)]
    for value in more:
        other.produce("t", value)
    assert other.flush(20) == 0
    assert read_with_kafka_python(cluster, "t", 2 * RECORDS) == expected + more
    assert read_with_confluent(cluster, "t", 2 * RECORDS) == expected + more


@pytest.mark.parametrize("acks", [0, 1])
def test_fewer_acknowledgements(live: "MakeCluster", acks: int) -> None:
    from kafka import KafkaProducer

    cluster = live(1, 0)
    create(cluster, "t", 1, 1)
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap, acks=acks, enable_idempotence=False
    )
    expected = [f"{number}".encode() for number in range(RECORDS)]
    for value in expected:
        producer.send("t", value)
    producer.flush(20)
    assert read_with_kafka_python(cluster, "t", RECORDS) == expected
    producer.close()


def test_a_killed_leader_loses_nothing_that_was_acknowledged(live: "MakeCluster") -> None:
    from kafka import KafkaProducer

    cluster = live(1, 3)
    create(cluster, "t", 1, 3)
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap, acks="all", retries=50)
    acknowledged: list[bytes] = []
    killed = False
    deadline = time.monotonic() + 40
    number = 0
    while number < 3 * RECORDS and time.monotonic() < deadline:
        value = f"{number}".encode()
        producer.send("t", value).get(30)
        acknowledged.append(value)
        number += 1
        if number == RECORDS:
            leader = producer._metadata.leader_for_partition(partition_of("t"))
            cluster.nodes[leader - 1].end()
            killed = True
    producer.close()
    assert killed
    assert number == 3 * RECORDS
    assert read_with_kafka_python(cluster, "t", len(acknowledged)) == acknowledged


@pytest.mark.long
def test_a_restarted_cluster_serves_what_it_has_stored(live: "MakeCluster") -> None:
    cluster = live(1, 3)
    create(cluster, "t", 1, 3)
    values = [f"{number}".encode() for number in range(RECORDS)]
    produce(cluster, values[:30])
    for node in cluster.nodes[1:]:
        node.end()
        (node.directory / "trace.jsonl").unlink()
        node.start()
    cluster.await_brokers(3)
    produce(cluster, values[30:])
    assert read_with_kafka_python(cluster, "t", RECORDS) == values
    assert eventually(lambda: len(set(stored(cluster))) == 1, 20), "the replicas' files differ"
    assert stored(cluster)[0]


def stored(cluster: "LiveCluster") -> list[bytes]:
    """Return the bytes of the partition's segments at each broker."""
    files = [sorted(node.directory.glob("data/t-0/*.log")) for node in cluster.nodes[1:]]
    return [b"".join(path.read_bytes() for path in paths) for paths in files]


def produce(cluster: "LiveCluster", values: list[bytes]) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap, acks="all", retries=50)
    for value in values:
        producer.send("t", value).get(30)
    producer.close()


def partition_of(topic: str) -> object:
    from kafka import TopicPartition as Partition

    return Partition(topic, 0)
