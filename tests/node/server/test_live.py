"""Real clients against real processes on loopback."""

import resource
import signal
import socket
import struct
import time
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as ConfluentTopic

from kraftproof.node.tools.client import Address, Client
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from kraftproof.node.wire.messages.generated.describe_cluster_response import (
    DescribeClusterResponse,
)
from tests.node.server.conftest import CLUSTER_ID

if TYPE_CHECKING:
    from tests.node.server.conftest import LiveCluster

    MakeCluster = Callable[[int, int], LiveCluster]

# kafka-python reads its schemas with a call that Python 3.11 deprecates, when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*_text is deprecated:DeprecationWarning")
TOPOLOGIES = [pytest.param(1, 0, id="one combined node"), pytest.param(3, 1, id="3+1 nodes")]


def eventually(holds: "Callable[[], bool]", seconds: float = 5) -> bool:
    """A broker's Metadata comes from its own image, which may lag a little."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def create_list_delete_with_kafka_python(bootstrap: list[str]) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        created = admin.create_topics([NewTopic("python-topic", 3, 1)])
        assert [topic["error_code"] for topic in created["topics"]] == [0]
        assert eventually(lambda: "python-topic" in admin.list_topics())
        admin.delete_topics(["python-topic"])
        assert eventually(lambda: "python-topic" not in admin.list_topics())
    finally:
        admin.close()


def create_list_delete_with_confluent_kafka(bootstrap: list[str]) -> None:
    admin = AdminClient({"bootstrap.servers": ",".join(bootstrap)})
    topic = ConfluentTopic("c-topic", num_partitions=2, replication_factor=1)
    for future in admin.create_topics([topic]).values():
        future.result(10)
    assert eventually(lambda: "c-topic" in admin.list_topics(timeout=10).topics)
    for future in admin.delete_topics(["c-topic"]).values():
        future.result(10)
    assert eventually(lambda: "c-topic" not in admin.list_topics(timeout=10).topics)


@pytest.mark.requirement("590-08")
@pytest.mark.requirement("590-10")
@pytest.mark.parametrize(("controllers", "brokers"), TOPOLOGIES)
def test_two_client_libraries_create_list_and_delete_topics(
    live: "MakeCluster", controllers: int, brokers: int
) -> None:
    cluster = live(controllers, brokers)
    create_list_delete_with_kafka_python(cluster.bootstrap)
    create_list_delete_with_confluent_kafka(cluster.bootstrap)


@pytest.mark.requirement("595-61")
@pytest.mark.requirement("595-78")
def test_every_node_tells_the_cluster_id_it_was_formatted_with(live: "MakeCluster") -> None:
    cluster = live(3, 1)
    told: list[str] = []
    for index, node in enumerate(cluster.nodes):
        with Client(Address("127.0.0.1", node.port), 5) as client:
            is_broker = index == 3
            answer = client.ask(DescribeClusterRequest(endpoint_type=1 if is_broker else 2))
        assert isinstance(answer, DescribeClusterResponse)
        told.append(answer.cluster_id)
    assert told == [CLUSTER_ID] * 4


@pytest.mark.requirement("595-08")
def test_a_kill_loses_nothing_that_was_acknowledged(live: "MakeCluster") -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    cluster = live(1, 0)
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    names = [f"kept-{number}" for number in range(20)]
    for name in names:
        admin.create_topics([NewTopic(name, 1, 1)])
    admin.close()
    (node,) = cluster.nodes
    epoch = node.trace()[-1]["epoch"]
    node.end()
    (node.directory / "trace.jsonl").unlink()
    node.start()
    cluster.await_brokers(1)
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    assert eventually(lambda: set(names) <= set(admin.list_topics()))
    admin.close()
    last = node.trace()[-1]["epoch"]
    assert isinstance(epoch, int)
    assert isinstance(last, int)
    assert last > epoch, "a restarted leader never leads its old epoch again"


@pytest.mark.requirement("631-58")
def test_sigterm_ends_every_node_with_status_0(live: "MakeCluster") -> None:
    cluster = live(3, 1)
    for node in reversed(cluster.nodes):
        assert node.process is not None
        node.process.send_signal(signal.SIGTERM)
        assert node.process.wait(10) == 0, node.output


@pytest.mark.requirement("595-11")
def test_an_orderly_stop_notes_the_offsets_and_the_restart_begins_there(
    live: "MakeCluster",
) -> None:
    cluster = live(1, 0)
    (node,) = cluster.nodes
    assert node.process is not None
    node.process.send_signal(signal.SIGTERM)
    assert node.process.wait(10) == 0, node.output
    (noted,) = node.directory.rglob("__cluster_metadata-0/replication-offset-checkpoint")
    committed = int(noted.read_text().split()[-1])
    assert committed == node.trace()[-1]["high_watermark"] > 0
    (node.directory / "trace.jsonl").unlink()
    node.start()
    cluster.await_brokers(1)
    assert node.trace()[0]["high_watermark"] == committed


@pytest.mark.requirement("595-09")
def test_a_write_that_fails_ends_the_process_with_one_line_and_acknowledges_nothing(
    live: "MakeCluster",
) -> None:
    cluster = live(1, 0)
    (node,) = cluster.nodes
    assert node.process is not None
    segment = next(node.directory.rglob("0*.log"))
    limit = (node.directory / "trace.jsonl").stat().st_size + 8000
    resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap[0], "log_level": 0})
    topic = ConfluentTopic("refused", num_partitions=1000, replication_factor=1)
    (future,) = admin.create_topics([topic], request_timeout=2).values()
    with pytest.raises(KafkaException):
        future.result(10)
    assert node.process.wait(10) == 1
    assert node.output.splitlines()[-1].startswith("kraft-node: the disk failed: ")
    assert "Traceback" not in node.output
    assert segment.stat().st_size == limit, "the batch was torn"
    (node.directory / "trace.jsonl").unlink()
    node.start()
    cluster.await_brokers(1)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap[0]})
    assert "refused" not in admin.list_topics(timeout=10).topics
    assert segment.stat().st_size < limit, "the torn tail was cut off"


def exchange(port: int, payload: bytes) -> bytes:
    """Send bytes, and read until the node answers or closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        try:
            client.sendall(payload)
            client.shutdown(socket.SHUT_WR)
            return client.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            return b""


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def test_an_unknown_api_versions_version_is_answered_in_version_0_with_error_35(
    live: "MakeCluster",
) -> None:
    cluster = live(1, 0)
    payload = struct.pack(">hhih", 18, 99, 7, -1) + b"\0whatever"
    with socket.create_connection(("127.0.0.1", cluster.nodes[0].port), timeout=5) as client:
        client.sendall(framed(payload))
        answer = client.recv(4096)
    size, correlation, error, count, key, smallest, largest = struct.unpack(">iihihhh", answer)
    assert (correlation, error, count, key) == (7, 35, 1, 18)
    assert size == len(answer) - 4
    assert smallest == 0
    assert largest >= 3


def test_pipelined_requests_are_answered_in_order(live: "MakeCluster") -> None:
    """More of them than may be in flight: the rest waits, none is lost."""
    cluster = live(1, 0)
    requests = b"".join(framed(struct.pack(">hhih", 18, 0, number, -1)) for number in range(1000))
    with socket.create_connection(("127.0.0.1", cluster.nodes[0].port), timeout=5) as client:
        client.sendall(requests)
        seen: list[int] = []
        data = b""
        while len(seen) < 1000:
            data += client.recv(65536)
            while len(data) >= 4 and len(data) >= 4 + struct.unpack_from(">i", data)[0]:
                size, correlation = struct.unpack_from(">ii", data)
                seen.append(correlation)
                data = data[4 + size :]
    assert seen == list(range(1000))


@pytest.mark.slow
@pytest.mark.long
def test_a_hundred_thousand_hostile_frames_cost_neither_life_nor_memory(
    live: "MakeCluster",
) -> None:
    cluster = live(1, 0)
    (node,) = cluster.nodes
    assert node.process is not None
    random = Random(7)
    controller_port = int(node.properties.read_text().split("CONTROLLER://127.0.0.1:")[1][:5])
    keys = [0, 1, 3, 18, 19, 20, 52, 55, 58, 60, 62, 63, 999, -1]

    def hostile() -> bytes:
        kind = random.randrange(5)
        if kind == 0:
            return struct.pack(">i", random.choice([-1, 0, 1, 2**31 - 1, 200 << 20]))
        if kind == 1:
            return framed(random.randbytes(random.randrange(200)))
        head = struct.pack(">hhih", random.choice(keys), random.randrange(-1, 20), 1, -1)
        tail = b"\0" + b"\xff\xff\xff\xff\x0f" * random.randrange(20)
        return framed(head + (tail if kind == 2 else random.randbytes(random.randrange(60))))

    exchange(node.port, hostile())
    before = node.resident_bytes()
    sent = 0
    started = time.monotonic()
    while sent < 100_000:
        port = random.choice([node.port, controller_port])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            burst = [hostile() for _ in range(random.choice([1, 10, 50]))]
            sent += len(burst)
            try:
                client.sendall(b"".join(burst))
                client.settimeout(0.002)
                client.recv(100)
            except OSError:
                continue
    grown = node.resident_bytes() - before
    assert node.process.poll() is None, node.output
    assert grown < 20 << 20, f"{grown / 2**20:.1f} MB after {time.monotonic() - started:.0f} s"
    assert "Traceback" not in node.output
    create_list_delete_with_kafka_python(cluster.bootstrap)
