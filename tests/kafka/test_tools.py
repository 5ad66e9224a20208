"""Kafka's own tools against our cluster."""

import re

import pytest

from kraftproof.node.core.served import served_versions
from tests.kafka.java import Java
from tests.kafka.systems import Ours

pytestmark = pytest.mark.kafka
TOPICS = "org.apache.kafka.tools.TopicCommand"
CLUSTER = "org.apache.kafka.tools.ClusterTool"
API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"
FEATURES = "org.apache.kafka.tools.FeatureCommand"
GONE = 5


def test_topic_command_creates_lists_and_deletes(ours: Ours, java: Java) -> None:
    connection = ("--bootstrap-server", ours.brokers)
    create = ("--create", "--topic", "orders", "--partitions", "3", "--replication-factor")
    assert java.output(TOPICS, *connection, *create, "2") == "Created topic orders.\n"
    listing = (*connection, "--list")
    java.settled(lambda text: "orders" in text.splitlines(), TOPICS, *listing)
    again = java.run(TOPICS, *connection, *create, "2")
    assert again.returncode == 1
    assert "TopicExistsException" in again.stdout + again.stderr
    too_many = java.run(
        TOPICS, *connection, "--create", "--topic", "o", "--replication-factor", "9"
    )
    assert too_many.returncode == 1
    assert "InvalidReplicationFactorException" in too_many.stdout + too_many.stderr
    java.output(TOPICS, *connection, "--delete", "--topic", "orders")
    java.settled(lambda text: "orders" not in text.splitlines(), TOPICS, *listing)


def test_topic_command_describes_partitions_and_what_was_configured(ours: Ours, java: Java) -> None:
    connection = ("--bootstrap-server", ours.brokers)
    create = ("--create", "--topic", "described", "--replica-assignment", "4:5,5:4")
    java.output(TOPICS, *connection, *create, "--config", "retention.ms=7000")
    describing = (*connection, "--describe", "--topic", "described")
    text = java.settled(lambda text: "Configs: retention" in text, TOPICS, *describing)
    head, *partitions = [[cell.strip() for cell in line.split("\t")] for line in text.splitlines()]
    assert head[0] == "Topic: described"
    assert head[2:5] == ["PartitionCount: 2", "ReplicationFactor: 2", "Configs: retention.ms=7000"]
    assert [row[2:6] for row in partitions] == [
        ["Partition: 0", "Leader: 4", "Replicas: 4,5", "Isr: 4,5"],
        ["Partition: 1", "Leader: 5", "Replicas: 5,4", "Isr: 5,4"],
    ]


@pytest.mark.requirement("631-03")
def test_api_versions_are_those_that_a_broker_serves(ours: Ours, java: Java) -> None:
    text = java.output(API_VERSIONS, "--bootstrap-server", ours.brokers)
    nodes = re.split(r"^\S+ \(id: ", text, flags=re.MULTILINE)[1:]
    assert sorted(int(node.partition(" ")[0]) for node in nodes) == [4, 5]
    for node in nodes:
        served = {
            int(key): (int(oldest), int(newest or oldest))
            for key, oldest, newest in re.findall(r"\((\d+)\): (\d+)(?: to (\d+))? \[usable", node)
        }
        assert served == served_versions(on_controller_listener=False)


def test_feature_command_shows_the_level_of_the_metadata(ours: Ours, java: Java) -> None:
    text = java.output(FEATURES, "--bootstrap-server", ours.brokers, "describe")
    assert re.search(r"Feature: metadata.version\s.*FinalizedVersionLevel: 3\.9-IV0", text)


@pytest.mark.parametrize("by", ["--bootstrap-server", "--bootstrap-controller"])
def test_cluster_tool_shows_the_cluster_id_and_the_nodes(ours: Ours, java: Java, by: str) -> None:
    is_broker = by == "--bootstrap-server"
    connection = (by, ours.brokers if is_broker else ours.controllers)
    meta = (ours.log_directory.parent / "meta.properties").read_text()
    cluster_id = next(line for line in meta.splitlines() if line.startswith("cluster.id="))
    text = java.output(CLUSTER, "cluster-id", *connection)
    assert text == f"Cluster ID: {cluster_id.partition('=')[2]}\n"
    nodes = ["4", "5"] if is_broker else ["1", "2", "3"]
    java.settled(lambda text: ids_of(text) == nodes, CLUSTER, "list-endpoints", *connection)


def test_cluster_tool_unregisters_a_dead_broker(ours: Ours, java: Java) -> None:
    connection = ("--bootstrap-server", ours.brokers)
    ours.run(ours.cluster.kill(GONE))
    try:
        text = java.output(CLUSTER, "unregister", *connection, "--id", str(GONE))
        assert text == f"Broker {GONE} is no longer registered.\n"
        fenced_too = ("--include-fenced-brokers",)
        listing = ("list-endpoints", *connection, *fenced_too)
        java.settled(lambda text: ids_of(text) == ["4"], CLUSTER, *listing)
    finally:
        ours.run(ours.cluster.start_node(GONE))
        ours.until_ready()


def ids_of(endpoints: str) -> list[str]:
    """Return the ids that list-endpoints printed."""
    return [line.split()[0] for line in endpoints.splitlines()[1:]]
