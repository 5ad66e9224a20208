"""A tool of Kafka and confluent-kafka change leaders, partitions and configurations of ours."""

from concurrent.futures import Future

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from tests.kafka.java import Java
from tests.kafka.systems import Ours, until

pytestmark = pytest.mark.kafka
TOPICS = "org.apache.kafka.tools.TopicCommand"
ELECT = "org.apache.kafka.tools.LeaderElectionCommand"
CALL_SECONDS = 20


def created(ours: Ours, java: Java, name: str, assignment: str) -> None:
    connection = ("--bootstrap-server", ours.brokers)
    java.output(
        TOPICS, *connection, "--create", "--topic", name, "--replica-assignment", assignment
    )
    java.settled(lambda text: name in text.splitlines(), TOPICS, *connection, "--list")


def described(ours: Ours, name: str) -> list[tuple[int, list[int], list[int]]]:
    """The leader, replicas and ISR of each partition, as a broker's image has them."""
    admin = AdminClient({"bootstrap.servers": ours.brokers})
    topic = admin.list_topics(name, timeout=CALL_SECONDS).topics[name]
    return [(one.leader, one.replicas, one.isrs) for _, one in sorted(topic.partitions.items())]


def result(futures: dict[object, Future]) -> object:
    (future,) = futures.values()
    return future.result(CALL_SECONDS)


@pytest.mark.requirement("497-13")
def test_kafka_leader_election_finds_leaders_in_their_place(ours: Ours, java: Java) -> None:
    created(ours, java, "elected", "4:5,5:4")
    connection = ("--bootstrap-server", ours.brokers)
    partition = ("--topic", "elected", "--partition", "0")
    text = java.output(ELECT, *connection, "--election-type", "preferred", *partition)
    assert "Valid replica already elected for partitions elected-0" in text
    all_of_them = ("--election-type", "unclean", "--all-topic-partitions")
    java.output(ELECT, *connection, *all_of_them)
    assert until(lambda: [leader for leader, _, _ in described(ours, "elected")] == [4, 5])


@pytest.mark.requirement("631-90")
def test_confluent_kafka_alters_describes_and_grows(ours: Ours, java: Java) -> None:
    created(ours, java, "confluent", "4:5")
    admin = AdminClient({"bootstrap.servers": ours.brokers})
    result(admin.create_partitions([NewPartitions("confluent", 3)]))
    assert until(lambda: len(described(ours, "confluent")) == 3)
    change = ConfigEntry("retention.ms", "1234", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, "confluent", incremental_configs=[change])
    result(admin.incremental_alter_configs([resource]))

    def value() -> str:
        asked = ConfigResource(ResourceType.TOPIC, "confluent")
        entries = result(admin.describe_configs([asked]))
        return str(entries["retention.ms"].value)

    assert until(lambda: value() == "1234")
    broker = result(admin.describe_configs([ConfigResource(ResourceType.BROKER, "4")]))
    assert broker["node.id"].value == "4"
    assert broker["node.id"].is_read_only
    read_only = ConfigResource(
        ResourceType.BROKER,
        "4",
        incremental_configs=[
            ConfigEntry("node.id", "9", incremental_operation=AlterConfigOpType.SET)
        ],
    )
    with pytest.raises(Exception, match="INVALID_REQUEST"):
        result(admin.incremental_alter_configs([read_only]))
