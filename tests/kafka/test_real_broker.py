"""A real Kafka broker on a live controller of ours: metadata, and records of its own."""

import contextlib
from collections.abc import Iterator

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from kraftproof.cluster.local import ports
from kraftproof.node.tools.client import Client, parse_addresses
from kraftproof.node.wire.messages import create_topics_request, create_topics_response
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
from tests.kafka.systems import has_broker, until

pytestmark = pytest.mark.kafka
TOPICS = "org.apache.kafka.tools.TopicCommand"
CLUSTER = "org.apache.kafka.tools.ClusterTool"
READY_SECONDS = 60
CALL_SECONDS = 10


@pytest.fixture(scope="module")
def mix(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mix]:
    directory = tmp_path_factory.mktemp("led")
    lease = ports.lease(directory.name, directory, 2)
    listening, serving = (f"127.0.0.1:{port}" for port in lease.ports)
    ours = controller_properties(directory / "controller", listening)
    more = {"log_cleaner_enable": "false", "auto_create_topics_enable": "false"}
    theirs = broker_properties(directory / "broker", serving, listening, **more)
    try:
        with (
            our_node(ours, listening) as controller,
            real_node(java, theirs, serving) as broker,
        ):
            assert until(lambda: has_broker(serving), READY_SECONDS), broker.output
            yield Mix(controller=controller, broker=broker)
    finally:
        ports.release(lease)


def test_it_registers_and_is_unfenced(mix: Mix, java: Java) -> None:
    listed = java.output(CLUSTER, "list-endpoints", "--bootstrap-server", mix.broker.address)
    (row,) = listed.splitlines()[1:]
    assert row.split()[:5] == [str(BROKER_ID), *mix.broker.address.split(":"), "null", "unfenced"]


def test_topics_are_created_and_deleted_through_it(mix: Mix, java: Java) -> None:
    connection = ("--bootstrap-server", mix.broker.address)
    create = ("--create", "--topic", "orders", "--partitions", "2", "--config", "retention.ms=7000")
    assert java.output(TOPICS, *connection, *create) == "Created topic orders.\n"
    described = (*connection, "--describe", "--topic", "orders")
    text = java.settled(lambda text: text.count("Leader: 2") == 2, TOPICS, *described)
    assert "PartitionCount: 2\tReplicationFactor: 1\tConfigs: retention.ms=7000" in text
    java.output(TOPICS, *connection, "--delete", "--topic", "orders")
    java.settled(lambda text: "orders" not in text.splitlines(), TOPICS, *connection, "--list")


def test_records_are_produced_and_read_in_a_topic_of_our_controllers(mix: Mix) -> None:
    topic = create_topics_request.CreatableTopic(
        name="records", num_partitions=1, replication_factor=1
    )
    with Client(parse_addresses(mix.controller.address)[0], CALL_SECONDS) as controller:
        answer = controller.ask(create_topics_request.CreateTopicsRequest(topics=(topic,)))
    assert isinstance(answer, create_topics_response.CreateTopicsResponse)
    assert [created.error_code for created in answer.topics] == [0]
    common = {"bootstrap.servers": mix.broker.address, "log_level": 0}
    failed: list[object] = []
    producer = Producer({**common, "acks": "all", "message.timeout.ms": 20_000})
    values = [b"%d" % number for number in range(20)]
    for value in values:
        producer.produce(
            "records", value, partition=0, on_delivery=lambda error, _: failed.append(error)
        )
    assert producer.flush(30) == 0
    assert failed == [None] * len(values)
    # Assigned, not subscribed: the group's topic would have 50 partitions.
    consumer = Consumer({**common, "group.id": "none", "enable.auto.commit": False})
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition("records", 0, OFFSET_BEGINNING)])
        read = [
            message.value() for message in consumer.consume(len(values), timeout=CALL_SECONDS * 2)
        ]
    assert read == values


def test_it_holds_our_controllers_log_byte_by_byte(mix: Mix) -> None:
    # The controller writes a record for a heartbeat, and none between them.
    assert until(lambda: mix.broker.log == mix.controller.log, READY_SECONDS)


def test_our_controller_grants_its_shutdown(mix: Mix) -> None:
    assert mix.broker.stop() in {0, 143}
    batches = mix.controller.batches()
    (broker,) = image_of(batches, batches[-1].next_offset).sorted_brokers()
    assert (broker.fenced, broker.in_controlled_shutdown) == (True, True)
