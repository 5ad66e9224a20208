"""Brokers start by one good voter address, and are rolled onto a new one (KIP-631 "Nodes")."""

import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.node.server.conftest import free_ports
from tests.node.server.test_live import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.node.server.conftest import LiveCluster, LiveNode

pytestmark = pytest.mark.requirement("631-06")
VOTERS = "controller.quorum.voters="


def with_voters(node: "LiveNode", voters: str) -> None:
    """State another list of voters in the properties of a node."""
    lines = node.properties.read_text().splitlines()
    changed = [f"{VOTERS}{voters}" if line.startswith(VOTERS) else line for line in lines]
    node.properties.write_text("\n".join(changed) + "\n")


def restart(node: "LiveNode") -> None:
    assert node.process is not None
    node.process.send_signal(signal.SIGTERM)
    node.process.wait(10)
    node.start()


def creates(cluster: "LiveCluster", name: str) -> bool:
    """Say whether a topic is there after the attempt to create the topic."""
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap)})
    (future,) = admin.create_topics([NewTopic(name, 1, 1)], request_timeout=3).values()
    with suppress(KafkaException, TimeoutError):
        future.result(4)
    with suppress(KafkaException):
        return name in admin.list_topics(timeout=5).topics
    return False


def is_running(node: "LiveNode") -> bool:
    return bool(node.trace()) and node.trace()[-1]["broker_state"] == 3


def high_watermark(cluster: "LiveCluster") -> object:
    """Return the high watermark of the leader, as a node at the old address shows it."""
    return max(node.trace()[-1]["high_watermark"] for node in cluster.nodes[:2])


def test_a_broker_starts_if_one_address_of_three_works(
    live: "Callable[..., LiveCluster]",
) -> None:
    cluster = live(1, 1)
    controller, broker = cluster.nodes
    assert broker.process is not None
    broker.process.send_signal(signal.SIGTERM)
    broker.process.wait(10)
    (broker.directory / "trace.jsonl").unlink()
    first, second = free_ports(2)
    with_voters(broker, f"1@127.0.0.1:{controller.port},8@127.0.0.1:{first},9@127.0.0.1:{second}")
    broker.start()
    assert eventually(lambda: is_running(broker), 15), broker.output
    assert eventually(lambda: creates(cluster, "started"), 15)


@pytest.mark.long
@pytest.mark.slow
def test_nodes_are_rolled_onto_a_voters_new_address_while_the_cluster_serves(
    live: "Callable[..., LiveCluster]",
) -> None:
    cluster = live(3, 2)
    (port,) = free_ports(1)
    controllers, brokers = cluster.nodes[:3], cluster.nodes[3:]
    moved = controllers[2]
    addresses = [f"{number}@127.0.0.1:{node.port}" for number, node in enumerate(controllers, 1)]
    voters = ",".join([*addresses[:2], f"3@127.0.0.1:{port}"])
    for number, node in enumerate((*controllers, *brokers)):
        with_voters(node, voters)
        if node is moved:
            said = node.properties.read_text()
            node.properties.write_text(
                said.replace(
                    f"CONTROLLER://127.0.0.1:{node.port}", f"CONTROLLER://127.0.0.1:{port}"
                )
            )
        restart(node)
        assert eventually(lambda name=f"topic-{number}": creates(cluster, name), 30)
    cluster.await_brokers(2)
    assert eventually(lambda: creates(cluster, "rolled"), 30)
    assert eventually(lambda: moved.trace()[-1]["high_watermark"] == high_watermark(cluster), 10)
