"""What a broker says of its image goes red wherever it differs from that image, and only there."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from kraftproof.cluster.simulated.invariants.broker_answers import (
    ResponsesMatchImage,
)
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_cluster_request,
    describe_cluster_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    TOPIC,
    MonitorHarness,
    image_of,
    partition,
    topic,
)

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
OTHER = Uuid(b"o" * 16)


def registered(broker_id, *, fenced=False, listeners=("PLAINTEXT",)):
    return records.RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=Uuid(b"i" * 16),
        broker_epoch=broker_id,
        end_points=tuple(
            records.BrokerEndpoint(name=name, host=f"h{broker_id}", port=9000 + index)
            for index, name in enumerate(listeners)
        ),
        features=(),
        fenced=fenced,
        rack="r",
    )


IMAGE = image_of(
    registered(4),
    registered(5, fenced=True),
    registered(6, listeners=("INTERNAL", "PLAINTEXT")),
    topic(),
    partition(isr=(4,), leader=4, replicas=(5, 4), index=0),
    partition(isr=(5,), leader=-1, replicas=(5, 4), index=1),
    records.ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="7"),
)
LISTED = (
    metadata_response.MetadataResponseBroker(node_id=4, host="h4", port=9000, rack="r"),
    metadata_response.MetadataResponseBroker(node_id=6, host="h6", port=9001, rack="r"),
)
LED = metadata_response.MetadataResponsePartition(
    partition_index=0,
    leader_id=4,
    leader_epoch=0,
    replica_nodes=(5, 4),
    isr_nodes=(4,),
    offline_replicas=(5,),
)
LEADERLESS = metadata_response.MetadataResponsePartition(
    error_code=ErrorCode.LEADER_NOT_AVAILABLE,
    partition_index=1,
    leader_id=-1,
    leader_epoch=0,
    replica_nodes=(5, 4),
    isr_nodes=(5,),
    offline_replicas=(5,),
)
SHOWN = metadata_response.MetadataResponseTopic(
    name="t", topic_id=TOPIC, partitions=(LED, LEADERLESS)
)


class Broker:
    """Broker 4, which has published an image."""

    def __init__(self, image=IMAGE):
        self.harness = MonitorHarness(ResponsesMatchImage(CONFIG))
        self.process = self.harness.process(4)
        self.process.publishes(9, image)

    def says(self, request, answer, version=12, **options):
        event = self.process.receives(
            request, on_controller_listener=False, version=version, **options
        )
        self.process.replies(event, answer)
        return self.harness.reported


def metadata(topics=(SHOWN,), *, brokers=LISTED, contact=4, cluster=""):
    return metadata_response.MetadataResponse(
        brokers=brokers, topics=topics, controller_id=contact, cluster_id=cluster
    )


def asking(*topics):
    named = tuple(metadata_request.MetadataRequestTopic(**one) for one in topics)
    return metadata_request.MetadataRequest(topics=named)


BY_NAME, BY_ID = asking({"name": "t"}), asking({"topic_id": TOPIC})
ALL = metadata_request.MetadataRequest(topics=None)


@pytest.mark.parametrize("request_", [BY_NAME, BY_ID, ALL])
def test_metadata_that_is_as_the_image_says(request_):
    assert Broker().says(request_, metadata()) == []


REACHED = metadata_response.MetadataResponseTopic(
    name="t",
    topic_id=TOPIC,
    partitions=(
        changed(LED, error_code=ErrorCode.REPLICA_NOT_AVAILABLE, replica_nodes=(4,)),
        changed(LEADERLESS, replica_nodes=(4,), isr_nodes=()),
    ),
)


def test_the_oldest_version_leaves_out_the_replicas_that_nobody_reaches():
    assert Broker().says(asking(), metadata((REACHED,)), version=0) == []
    assert len(Broker().says(asking(), metadata((REACHED,)), version=1)) == 1
    assert len(Broker().says(asking(), metadata(), version=0)) == 2


def test_the_oldest_version_asks_for_all_topics_by_naming_none():
    assert Broker().says(asking(), metadata((REACHED,)), version=0) == []
    assert Broker().says(asking(), metadata(()), version=1) == []
    assert len(Broker().says(asking(), metadata(()), version=0)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"leader_id": 5}, id="the first replica leads"),
        pytest.param({"leader_epoch": 1}, id="another epoch"),
        pytest.param({"replica_nodes": (4, 5)}, id="replicas in another order"),
        pytest.param({"isr_nodes": (5, 4)}, id="another ISR"),
        pytest.param({"offline_replicas": ()}, id="a fenced replica is online"),
        pytest.param({"error_code": ErrorCode.LEADER_NOT_AVAILABLE}, id="an error"),
    ],
)
def test_a_partition_that_is_not_as_the_image_says(wrong):
    shown = changed(SHOWN, partitions=(changed(LED, **wrong), LEADERLESS))
    (violation,) = Broker().says(BY_NAME, metadata((shown,)))
    assert "topic t: ShownPartition(index=0" in violation


def test_a_partition_without_a_leader_is_told_so():
    shown = changed(SHOWN, partitions=(LED, changed(LEADERLESS, error_code=ErrorCode.NONE)))
    assert len(Broker().says(BY_ID, metadata((shown,)))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"partitions": (LED,)}, id="a partition too few"),
        pytest.param(
            {"partitions": (LED, LEADERLESS, changed(LED, partition_index=2))}, id="one too many"
        ),
        pytest.param({"topic_id": OTHER}, id="another id"),
        pytest.param({"name": "u"}, id="another name"),
        pytest.param({"error_code": UNKNOWN}, id="an error"),
    ],
)
@pytest.mark.parametrize("request_", [BY_NAME, BY_ID, ALL])
def test_a_topic_that_is_not_as_the_image_says(request_, wrong):
    assert len(Broker().says(request_, metadata((changed(SHOWN, **wrong),)))) == 1


def test_a_topic_that_is_left_out():
    assert Broker().says(ALL, metadata(())) == ["answers 0 topics, but 1 are requested"]


def test_a_topic_that_there_is_not():
    absent = metadata_response.MetadataResponseTopic(name="u", error_code=UNKNOWN)
    assert Broker().says(asking({"name": "u"}), metadata((absent,))) == []
    unknown_id = changed(absent, name=None, topic_id=OTHER)
    assert Broker().says(asking({"topic_id": OTHER}), metadata((unknown_id,))) == []
    invented = changed(absent, error_code=ErrorCode.NONE)
    assert len(Broker().says(asking({"name": "u"}), metadata((invented,)))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"host": "h"}, id="host"),
        pytest.param({"port": 9000}, id="port of another listener"),
        pytest.param({"rack": None}, id="rack"),
        pytest.param({"node_id": 5}, id="a fenced one"),
    ],
)
def test_a_broker_that_is_listed_otherwise(wrong):
    brokers = (LISTED[0], changed(LISTED[1], **wrong))
    (violation,) = Broker().says(BY_NAME, metadata(brokers=brokers))
    assert violation.startswith("answers brokers [")


def test_brokers_that_are_listed_or_left_out_against_the_image():
    fenced = metadata_response.MetadataResponseBroker(node_id=5, host="h5", port=9000, rack="r")
    for brokers in ((*LISTED, fenced), LISTED[:1]):
        assert len(Broker().says(BY_NAME, metadata(brokers=brokers))) == 1


@pytest.mark.parametrize(("contact", "reported"), [(4, 0), (6, 0), (5, 1), (-1, 1)])
def test_clients_are_sent_to_an_active_broker(contact, reported):
    assert len(Broker().says(BY_NAME, metadata(contact=contact))) == reported


def test_nobody_is_named_where_nobody_is_active():
    nobody = metadata((), brokers=(), contact=-1)
    assert Broker(image_of()).says(ALL, nobody) == []
    assert len(Broker(image_of()).says(ALL, metadata((), brokers=(), contact=4))) == 1


def test_the_cluster_is_named():
    assert len(Broker().says(BY_NAME, metadata(cluster="another"))) == 1


def test_another_process_begins_with_no_image():
    broker = Broker()
    broker.process.restarts([])
    assert broker.says(ALL, metadata((), brokers=(), contact=-1)) == []
    assert broker.says(ALL, metadata()) != []


def cluster(*fenced_flags, contact=4):
    shown = [
        describe_cluster_response.DescribeClusterBroker(
            broker_id=node_id,
            host=f"h{node_id}",
            port=9001 if node_id == 6 else 9000,
            rack="r",
            is_fenced=is_fenced,
        )
        for node_id, is_fenced in fenced_flags
    ]
    return describe_cluster_response.DescribeClusterResponse(
        brokers=tuple(shown), controller_id=contact
    )


@pytest.mark.parametrize(
    ("fenced_too", "shown", "reported"),
    [
        (False, [(4, False), (6, False)], 0),
        (True, [(4, False), (5, True), (6, False)], 0),
        (False, [(4, False), (5, True), (6, False)], 1),
        (True, [(4, False), (6, False)], 1),
        (True, [(4, False), (5, False), (6, False)], 1),
    ],
)
def test_the_brokers_of_a_cluster_fenced_ones_only_if_asked_for(fenced_too, shown, reported):
    request = describe_cluster_request.DescribeClusterRequest(include_fenced_brokers=fenced_too)
    assert len(Broker().says(request, cluster(*shown))) == reported


def test_a_refusal_describes_no_cluster():
    request = describe_cluster_request.DescribeClusterRequest(endpoint_type=2)
    error = ErrorCode.MISMATCHED_ENDPOINT_TYPE
    refused = describe_cluster_response.DescribeClusterResponse(error_code=error)
    assert Broker().says(request, refused) == []


TWO_LISTENERS = apply_all(
    EMPTY_IMAGE,
    (
        records.RegisterBrokerRecord(
            broker_id=9,
            incarnation_id=Uuid(b"9" * 16),
            end_points=(
                records.BrokerEndpoint(name="A", host="h", port=1),
                records.BrokerEndpoint(name="B", host="h", port=2),
            ),
            fenced=False,
        ),
    ),
)


@pytest.mark.parametrize(("port", "reported"), [(1, 0), (2, 1)])
def test_an_unregistered_broker_answers_by_its_own_listener(port, reported):
    harness = MonitorHarness(ResponsesMatchImage(replace(CONFIG, client_listener="A")))
    broker = harness.process(4)
    broker.publishes(9, TWO_LISTENERS)
    shown = metadata_response.MetadataResponseBroker(node_id=9, host="h", port=port)
    event = broker.receives(asking(), on_controller_listener=False, version=12)
    broker.replies(event, metadata((), brokers=(shown,), contact=9))
    assert len(harness.reported) == reported
