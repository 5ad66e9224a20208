"""A broker of ours follows a live Kafka controller, and serves clients of the cluster."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from kraftproof.cluster.local import ports
from kraftproof.node.core.broker.lifecycle import BrokerState
from kraftproof.node.tools.client import Client, parse_addresses
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    metadata_request,
)
from kraftproof.node.wire.messages.generated.metadata_response import MetadataResponse
from kraftproof.node.wire.records import metadata as records
from tests.kafka.java import Java
from tests.kafka.mixed import (
    BROKER_ID,
    Mix,
    broker_properties,
    controller_properties,
    image_of,
    our_node,
    real_node,
)
from tests.kafka.systems import accepts, has_broker, until

pytestmark = pytest.mark.kafka
TOPICS = "org.apache.kafka.tools.TopicCommand"
QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
CLUSTER = "org.apache.kafka.tools.ClusterTool"
READY_SECONDS = 60
CALL_SECONDS = 10


@contextlib.contextmanager
def following(java: Java, directory: Path, release: str, **more: str) -> Iterator[Mix]:
    lease = ports.lease(directory.name, directory, 2)
    listening, serving = (f"127.0.0.1:{port}" for port in lease.ports)
    theirs = controller_properties(directory / "controller", listening)
    ours = broker_properties(directory / "broker", serving, listening, **more)
    try:
        with real_node(java, theirs, listening, release) as controller:
            # The broker's patience begins with its start, and a virtual machine is slow to start.
            assert until(lambda: accepts(listening), READY_SECONDS), controller.output
            with our_node(ours, serving) as broker:
                yield Mix(controller=controller, broker=broker)
    finally:
        ports.release(lease)


@pytest.fixture(scope="module")
def mix(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mix]:
    with following(java, tmp_path_factory.mktemp("following"), "3.9-IV0") as mix:
        assert until(lambda: has_broker(mix.broker.address), READY_SECONDS), mix.broker.output
        yield mix


def topics_of(mix: Mix) -> dict[str, list[int]]:
    """Return what the broker's Metadata says: the leader of each partition, by topic."""
    with Client(parse_addresses(mix.broker.address)[0], CALL_SECONDS) as broker:
        answer = broker.ask(metadata_request.MetadataRequest(topics=None))
    assert isinstance(answer, MetadataResponse)
    return {topic.name or "": [p.leader_id for p in topic.partitions] for topic in answer.topics}


def test_it_registers_and_is_unfenced(mix: Mix, java: Java) -> None:
    written = [r for b in mix.controller.batches() for r in b.records]
    (registered,) = (r for r in written if isinstance(r, records.RegisterBrokerRecord))
    assert (registered.broker_id, registered.fenced) == (BROKER_ID, True)
    assert until(lambda: mix.broker.traced()["broker_state"] == BrokerState.RUNNING)
    endpoints = java.output(CLUSTER, "list-endpoints", "--bootstrap-server", mix.broker.address)
    (row,) = endpoints.splitlines()[1:]
    assert row.split()[:5] == [str(BROKER_ID), *mix.broker.address.split(":"), "null", "unfenced"]
    arguments = ("--bootstrap-server", mix.broker.address, "describe", "--replication")
    _, leader, observer = (line.split() for line in java.output(QUORUM, *arguments).splitlines())
    assert (leader[0], leader[-1]) == ("1", "Leader")
    assert (observer[0], observer[-1]) == (str(BROKER_ID), "Observer")


def test_kafkas_tool_creates_describes_and_deletes_through_it(mix: Mix, java: Java) -> None:
    connection = ("--bootstrap-server", mix.broker.address)
    create = ("--create", "--topic", "orders", "--partitions", "2", "--config", "retention.ms=7000")
    assert java.output(TOPICS, *connection, *create) == "Created topic orders.\n"
    assert until(lambda: topics_of(mix).get("orders") == [BROKER_ID] * 2)
    described = (*connection, "--describe", "--topic", "orders")
    text = java.settled(lambda text: text.count("Leader:") == 2, TOPICS, *described)
    assert "PartitionCount: 2\tReplicationFactor: 1\tConfigs: retention.ms=7000" in text
    again = java.run(TOPICS, *connection, *create)
    assert "TopicExistsException" in again.stdout + again.stderr
    java.output(TOPICS, *connection, "--delete", "--topic", "orders")
    assert until(lambda: "orders" not in topics_of(mix))


def test_it_shows_topics_that_the_controller_was_asked_for(mix: Mix) -> None:
    topic = create_topics_request.CreatableTopic(
        name="theirs", num_partitions=3, replication_factor=1
    )
    with Client(parse_addresses(mix.controller.address)[0], CALL_SECONDS) as controller:
        answer = controller.ask(create_topics_request.CreateTopicsRequest(topics=(topic,)))
    assert isinstance(answer, create_topics_response.CreateTopicsResponse)
    assert [created.error_code for created in answer.topics] == [0]
    assert until(lambda: topics_of(mix).get("theirs") == [BROKER_ID] * 3)
    admin = AdminClient({"bootstrap.servers": mix.broker.address, "log_level": 0})
    listed = admin.list_topics("theirs", timeout=CALL_SECONDS)
    assert sorted(listed.topics["theirs"].partitions) == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:open_text is deprecated:DeprecationWarning")
def test_kafka_python_creates_and_describes_through_it(mix: Mix) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    with contextlib.closing(KafkaAdminClient(bootstrap_servers=mix.broker.address)) as admin:
        admin.create_topics([NewTopic("python", num_partitions=2, replication_factor=1)])
        assert until(lambda: "python" in admin.list_topics())
        (described,) = admin.describe_topics(["python"])
    partitions = described["partitions"]
    assert sorted(partition["partition_index"] for partition in partitions) == [0, 1]


def test_its_log_is_the_controllers_byte_by_byte_and_so_is_its_image(mix: Mix) -> None:
    end = mix.controller.batches()[-1].next_offset
    # The controller writes a record every half a second: the broker's image is one behind.
    assert until(lambda: image_offset(mix) >= end, READY_SECONDS), mix.broker.traced()
    said, ours = mix.broker.traced(), mix.broker.log
    theirs = mix.controller.log
    assert theirs.startswith(ours)
    assert mix.broker.batches()[-1].next_offset >= end
    image = image_of(mix.controller.batches(), int(str(said["image_offset"])))
    assert said["image_digest"] == f"{image.digest:032x}"


def image_offset(mix: Mix) -> int:
    return int(str(mix.broker.traced()["image_offset"]))


def is_fenced(mix: Mix) -> bool:
    changes = [
        record.fenced
        for batch in mix.controller.batches()
        for record in batch.records
        if isinstance(record, records.BrokerRegistrationChangeRecord)
    ]
    return changes == [-1, 1]


def test_the_controller_grants_its_shutdown(java: Java, tmp_path: Path) -> None:
    with following(java, tmp_path, "3.9-IV0") as mix:
        assert until(lambda: has_broker(mix.broker.address), READY_SECONDS), mix.broker.output
        assert mix.broker.stop() == 0
        assert until(lambda: is_fenced(mix))


@pytest.mark.long
def test_a_cluster_with_features_of_4_3_refuses_it_by_name(java: Java, tmp_path: Path) -> None:
    patience = {"initial_broker_registration_timeout_ms": "12000"}
    with following(java, tmp_path, "4.3-IV0", **patience) as mix:
        status = mix.broker.process.wait(READY_SECONDS)
        assert status == 1
        line = mix.broker.output.splitlines()[-1]
        assert "group.version 1, share.version 1" in line
        assert "metadata.version 30" not in line
        assert mix.controller.log.startswith(mix.broker.log)
        assert any(
            isinstance(record, records.EndTransactionRecord)
            for batch in mix.broker.batches()
            for record in batch.records
        )
