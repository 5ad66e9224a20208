"""A broker with a damaged partition after an orderly stop, and brokers on a full disk."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from tests.node.server.conftest import CLUSTER_ID, LiveCluster, LiveNode
from tests.node.server.test_failed_directory import (
    CALL_SECONDS,
    PARTITIONS,
    created,
    places,
    read,
    send,
    with_directories,
)
from tests.node.server.test_live import eventually
from tests.support.long_cases import long

MAGIC_AT = 16
SMALL_BYTES = 256 * 1024
VALUE = bytes(20_000)
COUNT = 40
"""Records whose values need three times SMALL_BYTES."""

Mount = Callable[[Path], Callable[[], None]]


def stop(node: LiveNode) -> None:
    assert node.process is not None
    node.process.send_signal(signal.SIGTERM)
    node.process.wait(CALL_SECONDS)


def isr_is(admin: AdminClient, partition: int, wanted: list[int]) -> bool:
    def found() -> bool:
        topic = admin.list_topics("t", timeout=CALL_SECONDS).topics["t"]
        return sorted(topic.partitions[partition].isrs) == wanted

    return eventually(found, CALL_SECONDS)


def flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(MAGIC_AT)
        (was,) = file.read(1)
        file.seek(MAGIC_AT)
        file.write(bytes([was ^ 3]))


@pytest.mark.requirement("631-28")
def test_a_damaged_partition_keeps_one_replica_offline_and_its_broker_serves(live) -> None:
    cluster: LiveCluster = live(1, 2)
    admin, broker = created(cluster), cluster.nodes[1]
    for partition in range(PARTITIONS):
        send(cluster, partition, b"before")
    stop(broker)
    segment = broker.directory / "data" / "t-0" / "00000000000000000000.log"
    flip(segment)
    damaged = segment.read_bytes()
    broker.start()
    assert all(isr_is(admin, each, [2, 3]) for each in range(1, PARTITIONS))
    assert isr_is(admin, 0, [3])
    (line,) = [line for line in broker.output.splitlines() if str(segment) in line]
    assert "corrupt at byte 0 (a batch of magic 1; only magic 2 is supported)" in line
    assert line.endswith("; the replica is offline until the next start")
    for partition in range(PARTITIONS):
        send(cluster, partition, b"after")
        assert read(cluster, partition, 2) == [b"before", b"after"]
    stop(broker)
    assert segment.read_bytes() == damaged, "a damaged log stays as it is"
    flip(segment)
    broker.start()
    assert isr_is(admin, 0, [2, 3])
    assert "Traceback" not in broker.output


@pytest.fixture
def mount() -> Iterator[Mount]:
    """`mount(directory)` makes a small file system, and returns a function that lets it grow."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small file system needs root")
    mounted: list[Path] = []

    def small(directory: Path) -> Callable[[], None]:
        directory.mkdir(exist_ok=True)
        size = f"size={SMALL_BYTES}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "kraftproof", directory], check=True)
        mounted.append(directory)
        return lambda: subprocess.run(
            ["mount", "-o", "remount,size=64m", directory], check=True
        ).check_returncode()

    yield small
    for directory in mounted:
        subprocess.run(["umount", "--lazy", directory], check=True)


def fill(cluster: LiveCluster, partition: int) -> list[bytes]:
    """Send more than a small disk holds; return the acknowledged values, which are all values."""
    acknowledged: list[bytes] = []
    producer = Producer(
        {
            "bootstrap.servers": ",".join(cluster.bootstrap),
            "acks": "all",
            "enable.idempotence": True,
            "topic.metadata.refresh.interval.ms": 500,
        }
    )
    for number in range(COUNT):
        producer.produce(
            "t",
            b"%d " % number + VALUE,
            partition=partition,
            on_delivery=lambda error, message: error or acknowledged.append(message.value()),
        )
        producer.flush(CALL_SECONDS)
    assert len(acknowledged) == COUNT
    return acknowledged


@pytest.mark.parametrize("where", ["logs-0", long("data")])
def test_a_full_disk_loses_nothing_and_ends_with_the_disk(where, live, mount) -> None:
    grow: list[Callable[[], None]] = []

    def prepare(node: LiveNode) -> None:
        if node.directory.name.endswith("2"):
            grow.append(mount(node.directory / where))
            meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=NodeId(2))
            format_directories(Disk(), [str(node.directory / "data")], meta, ignore_formatted=True)
        if where == "logs-0":
            with_directories(node)

    cluster: LiveCluster = live(1, 2, prepare=prepare)
    admin, broker = created(cluster), cluster.nodes[1]
    partition = 0
    if where == "logs-0":
        partition = next(n for n, place in places(broker.directory).items() if place.name == where)
    values = fill(cluster, partition)
    assert isr_is(admin, partition, [3])
    line = next(line for line in broker.output.splitlines() if "No space left on device" in line)
    assert str(broker.directory / where) in line
    assert "Traceback" not in broker.output
    assert broker.process is not None
    if where == "data":
        assert eventually(lambda: broker.process.poll() == 1, CALL_SECONDS)
        assert line.startswith("kraft-node: ")
    else:
        assert broker.process.poll() is None
        stop(broker)
    grow[0]()
    broker.start()
    assert isr_is(admin, partition, [2, 3])
    cluster.nodes[2].end()
    assert read(cluster, partition, COUNT) == values, "the restarted broker has every record"
