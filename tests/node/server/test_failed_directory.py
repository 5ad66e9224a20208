"""Real brokers with several log directories, of which one fails while clients go on."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from tests.node.server.conftest import CLUSTER_ID, LiveCluster, LiveNode
from tests.node.server.test_live import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeCluster = Callable[..., LiveCluster]

CALL_SECONDS = 20
PARTITIONS = 4


def with_directories(node: LiveNode, count: int = 2) -> list[Path]:
    """Add log directories to a node that is not started; the metadata log stays in the first."""
    added = [node.directory / f"logs-{number}" for number in range(count)]
    text = node.properties.read_text()
    data = node.directory / "data"
    dirs = ",".join(map(str, added))
    text = text.replace(f"log.dirs={data}", f"log.dirs={dirs}\nmetadata.log.dir={data}")
    text += "replica.high.watermark.checkpoint.interval.ms=200\n"
    node.properties.write_text(text)
    number = NodeId(int(text.split("node.id=")[1].split("\n")[0]))
    format_directories(
        Disk(), [str(each) for each in added], MetaProperties(cluster_id=CLUSTER_ID, node_id=number)
    )
    return added


@pytest.fixture
def cluster(live: "MakeCluster") -> LiveCluster:
    """A controller and two brokers, each with a metadata directory and two log directories."""
    return live(1, 2, prepare=with_directories)


def created(cluster: LiveCluster, replicas: int = 2) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap)})
    (future,) = admin.create_topics([NewTopic("t", PARTITIONS, replicas)]).values()
    future.result(CALL_SECONDS)
    return admin


def send(cluster: LiveCluster, partition: int, value: bytes, seconds: float = CALL_SECONDS) -> None:
    """Send a record with acks=all; fail if no broker acknowledges the record in time."""
    producer = Producer(
        {
            "bootstrap.servers": ",".join(cluster.bootstrap),
            "acks": "all",
            "message.timeout.ms": int(seconds * 1000),
            "topic.metadata.refresh.interval.ms": 500,
        }
    )
    errors = []
    producer.produce(
        "t", value, partition=partition, on_delivery=lambda error, _: errors.append(error)
    )
    assert producer.flush(seconds + 5) == 0
    if errors != [None]:
        pytest.fail(f"partition {partition}: {errors}")


def read(cluster: LiveCluster, partition: int, count: int) -> list[bytes]:
    consumer = Consumer(
        {"bootstrap.servers": ",".join(cluster.bootstrap), "group.id": "g",
         "enable.auto.commit": False}
    )  # fmt: skip
    consumer.assign([TopicPartition("t", partition, OFFSET_BEGINNING)])
    values: list[bytes] = []

    def poll() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append(message.value())
        return len(values) >= count

    eventually(poll, CALL_SECONDS)
    consumer.close()
    return values


def places(directory: Path) -> dict[int, Path]:
    """The directory of each partition of t on a node, which may create the logs a little later."""
    found: dict[int, Path] = {}

    def is_complete() -> bool:
        found.update({int(path.name[-1]): path.parent for path in directory.glob("logs-*/t-?")})
        return len(found) == PARTITIONS

    assert eventually(is_complete, CALL_SECONDS), f"{directory} has the partitions {sorted(found)}"
    return found


@pytest.mark.requirement("631-28")
def test_a_broker_goes_on_without_a_directory_that_vanished(cluster: LiveCluster) -> None:
    admin = created(cluster)
    broker = cluster.nodes[1]
    where = places(broker.directory)
    assert sorted(where) == list(range(PARTITIONS))
    assert len(set(where.values())) == 2, "the partitions are spread over the directories"
    for partition in range(PARTITIONS):
        send(cluster, partition, b"before")
    gone = where[0]
    gone.rename(gone.with_name("vanished"))
    for partition in range(PARTITIONS):
        send(cluster, partition, b"after")
    lost = [partition for partition, place in where.items() if place == gone]

    def isr_of(partition: int) -> list[int]:
        return admin.list_topics("t", timeout=CALL_SECONDS).topics["t"].partitions[partition].isrs

    assert eventually(lambda: all(isr_of(each) == [3] for each in lost), CALL_SECONDS)
    assert all(sorted(isr_of(each)) == [2, 3] for each in where if each not in lost)
    assert broker.process is not None
    assert broker.process.poll() is None
    assert f"a log directory failed: [Errno 2] No such file or directory: '{gone}" in broker.output
    for partition in range(PARTITIONS):
        assert read(cluster, partition, 2) == [b"before", b"after"]
    broker.end()
    broker.start()
    assert eventually(lambda: broker.process is not None and broker.process.poll() == 1, 20)
    assert f"{gone}/meta.properties: not found; format the directory" in broker.output
    meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=NodeId(2))
    format_directories(Disk(), [str(gone)], meta)
    broker.start()
    assert eventually(
        lambda: all(sorted(isr_of(each)) == [2, 3] for each in where), CALL_SECONDS
    ), "a formatted directory is filled again"


@pytest.mark.long
def test_a_broker_ends_with_its_last_log_directory(cluster: LiveCluster) -> None:
    created(cluster)
    for partition in range(PARTITIONS):
        send(cluster, partition, b"before")
    broker = cluster.nodes[1]
    for directory in sorted(broker.directory.glob("logs-*")):
        directory.rename(directory.with_name(f"vanished-{directory.name}"))
    for partition in range(PARTITIONS):
        send(cluster, partition, b"after")
    assert eventually(lambda: broker.process is not None and broker.process.poll() == 1, 20)
    assert "every log directory has failed, the last one now: [Errno 2]" in broker.output
    for partition in range(PARTITIONS):
        assert read(cluster, partition, 2) == [b"before", b"after"]
