"""A cluster of three brokers with an authorizer, and the topic of each client. No tests here."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.remote.live_cluster import LiveCluster
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from tests.kafka.java import Java
from tests.kafka.systems import until

BROKERS: Final = (2, 3, 4)
VALUES: Final = (b"one", b"two", b"three")
"""The records of partition 0 of each client's topic."""
TIMES_MS: Final = (1_000, 2_000, 3_000)
"""Their timestamps."""
CALL_SECONDS: Final = 20
SETTINGS: Final = (
    ("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
    ("auto.create.topics.enable", "true"),
    ("super.users", "User:ANONYMOUS"),
    ("delegation.token.secret.key", "a-secret-of-the-tests"),
)


@dataclass(frozen=True, slots=True)
class Trio:
    """The addresses and the data directories of the cluster."""

    brokers: str
    controllers: str
    directory: Path
    cluster: LiveCluster
    runner: asyncio.Runner

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.brokers})

    def create(self, topic: str) -> str:
        """Create a topic of two partitions with three records in the first; return its name."""
        admin = self.admin()
        assignment = [[BROKERS[0], BROKERS[1]], [BROKERS[1], BROKERS[2]]]
        created = admin.create_topics([NewTopic(topic, 2, replica_assignment=assignment)])
        created[topic].result(CALL_SECONDS)

        for address in self.brokers.split(","):
            broker = AdminClient({"bootstrap.servers": address})
            assert until(lambda broker=broker: has_leaders(broker, topic)), address
        producer = Producer({"bootstrap.servers": self.brokers, "acks": "all"})
        for value, time_ms in zip(VALUES, TIMES_MS, strict=True):
            producer.produce(topic, value, partition=0, timestamp=time_ms)
        assert producer.flush(CALL_SECONDS) == 0
        return topic


def has_leaders(admin: AdminClient, topic: str) -> bool:
    """Whether a broker knows a topic of two partitions with their leaders."""
    found = admin.list_topics(topic, timeout=CALL_SECONDS).topics[topic]
    return [one.leader > 0 for one in found.partitions.values()] == [True, True]


def start(java: Java, trio: Trio) -> None:
    """Start the virtual machine of the tools, so that no call is slow for this reason."""
    assert java.host is not None
    done = java.host.run("Calls", "describe_cluster", trio.brokers, "unused")
    assert done.output == "works\n", done.text


async def make(kind: type[LiveCluster], options: ClusterOptions) -> LiveCluster:
    make_one: Any = kind  # a backend has a maker of its own
    cluster: LiveCluster = make_one(options, LiveScope(), ReferenceSystem())
    return cluster


@contextlib.contextmanager
def running(directory: Path, kind: type[LiveCluster] = LocalCluster) -> Iterator[Trio]:
    """Run one controller and three brokers."""
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=len(BROKERS)),
        seed=8,
        directory=directory,
        timeouts="default",
        node_config=SETTINGS,
    )
    with asyncio.Runner() as runner:
        cluster = runner.run(make(kind, options))
        try:
            runner.run(cluster.start())
            voters = (cluster.node_files(1) / "server.properties").read_text()
            (controllers,) = (
                line.partition("@")[2]
                for line in voters.splitlines()
                if line.startswith("controller.quorum.voters=")
            )
            yield Trio(cluster.bootstrap(), controllers, directory, cluster, runner)
            for node in cluster.nodes:
                output = (cluster.node_files(node.node_id) / "output.log").read_text()
                assert "Traceback" not in output, output
        finally:
            runner.run(cluster.stop())
