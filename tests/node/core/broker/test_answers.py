"""What a node answers from its own image: ApiVersions, Metadata, DescribeCluster."""

import pytest

from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.broker import answers
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.codec import decode_response, encode_response
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.create_partitions_request import (
    CreatePartitionsRequest,
)
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from kraftproof.node.wire.messages.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.node.core.broker.bench import Bench

NAMED = ApiVersionsRequest(client_software_name="a-client", client_software_version="1.0")

TOPIC = Uuid(bytes([7] * 16))


def broker(broker_id: int, *, fenced: bool, listener: str = "CLIENT"):
    endpoint = records.BrokerEndpoint(name=listener, host=f"b{broker_id}", port=9000 + broker_id)
    return records.RegisterBrokerRecord(
        broker_id=broker_id, broker_epoch=broker_id, end_points=(endpoint,), fenced=fenced
    )


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    partition = records.PartitionRecord(
        partition_id=0, topic_id=TOPIC, replicas=(3, 2), isr=(3,), leader=3, leader_epoch=4
    )
    leaderless = records.PartitionRecord(
        partition_id=1, topic_id=TOPIC, replicas=(2,), isr=(2,), leader=-1, leader_epoch=1
    )
    bench.committed.image = apply_all(
        bench.committed.image,
        (
            records.FeatureLevelRecord(name="metadata.version", feature_level=21),
            broker(3, fenced=False),
            broker(2, fenced=True),
            broker(4, fenced=False, listener="OTHER"),
            records.TopicRecord(name="t", topic_id=TOPIC),
            leaderless,
            partition,
            records.TopicRecord(name="a", topic_id=Uuid(bytes([8] * 16))),
        ),
    )
    bench.see(12)
    return bench


@pytest.mark.requirement("631-38")
def test_metadata_lists_active_brokers_only(bench: Bench) -> None:
    answer = bench.ask(MetadataRequest(topics=()), version=12)
    assert [(node.node_id, node.host, node.port) for node in answer.brokers] == [(3, "b3", 9003)]
    assert (answer.cluster_id, answer.controller_id, answer.topics) == ("a-cluster", 3, ())


@pytest.mark.parametrize(("topics", "version"), [(None, 12), ((), 0)])
def test_metadata_of_all_topics_comes_sorted(bench: Bench, topics, version) -> None:
    answer = bench.ask(MetadataRequest(topics=topics), version=version)
    assert [topic.name for topic in answer.topics] == ["a", "t"]
    first, second = answer.topics[1].partitions
    assert (first.leader_id, first.leader_epoch, first.replica_nodes) == (3, 4, (3, 2))
    assert (first.isr_nodes, first.offline_replicas, first.error_code) == ((3,), (2,), 0)
    assert (second.leader_id, second.error_code) == (-1, ErrorCode.LEADER_NOT_AVAILABLE)


def test_metadata_by_name_and_by_id(bench: Bench) -> None:
    unknown = Uuid(bytes([9] * 16))
    asked = (
        MetadataRequestTopic(name="t"),
        MetadataRequestTopic(topic_id=TOPIC),
        MetadataRequestTopic(name="missing"),
        MetadataRequestTopic(topic_id=unknown),
    )
    answer = bench.ask(MetadataRequest(topics=asked), version=12)
    assert [(topic.error_code, topic.name, topic.topic_id) for topic in answer.topics] == [
        (ErrorCode.NONE, "t", TOPIC),
        (ErrorCode.NONE, "t", TOPIC),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "missing", bytes(16)),
        (ErrorCode.UNKNOWN_TOPIC_ID, None, unknown),
    ]


@pytest.mark.parametrize("version", [10, 11])
def test_metadata_by_id_is_refused_where_answers_need_names(bench: Bench, version: int) -> None:
    topics = (MetadataRequestTopic(name="t"), MetadataRequestTopic(topic_id=TOPIC))
    answer = bench.ask(MetadataRequest(topics=topics), version)
    body = encode_response(answer, version)
    shown = decode_response(MetadataRequest.API_KEY, version, body).topics
    assert [(topic.error_code, topic.name) for topic in shown] == [
        (ErrorCode.INVALID_REQUEST, "t"),
        (ErrorCode.INVALID_REQUEST, ""),
    ]


def test_metadata_without_active_brokers_names_no_controller() -> None:
    assert Bench().ask(MetadataRequest(topics=None), version=12).controller_id == NO_NODE


@pytest.mark.requirement("631-02")
@pytest.mark.requirement("631-03")
@pytest.mark.requirement("631-07")
def test_each_listener_advertises_its_own_apis() -> None:
    client = served_versions(on_controller_listener=False)
    controller = served_versions(on_controller_listener=True)
    quorum = {52, 53, 54}
    assert not quorum & set(client)
    assert {1, 58, 62, 63, *quorum} <= set(controller)
    assert not {0, 3} & set(controller)
    assert not {4, 5, 6, 7} & (set(client) | set(controller))
    assert controller[1] == (12, 18)


def test_api_versions_shows_the_finalized_features(bench: Bench) -> None:
    answer = bench.ask(NAMED, version=3)
    assert [(f.name, f.max_version_level) for f in answer.finalized_features] == [
        ("metadata.version", 21)
    ]
    assert answer.finalized_features_epoch == 11
    assert 3 in {api.api_key for api in answer.api_keys}


def test_describe_cluster_lists_brokers_at_a_broker(bench: Bench) -> None:
    active = bench.ask(DescribeClusterRequest())
    assert [(node.broker_id, node.is_fenced) for node in active.brokers] == [(3, False)]
    both = bench.ask(DescribeClusterRequest(include_fenced_brokers=True), version=2)
    assert [(node.broker_id, node.is_fenced) for node in both.brokers] == [(2, True), (3, False)]
    assert (both.controller_id, both.cluster_id) == (3, "a-cluster")
    wrong = bench.ask(DescribeClusterRequest(endpoint_type=2), version=1)
    assert wrong.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    absurd = bench.ask(DescribeClusterRequest(endpoint_type=9), version=1)
    assert absurd.error_code == ErrorCode.UNSUPPORTED_ENDPOINT_TYPE


def test_describe_cluster_lists_controllers_at_a_controller(bench: Bench) -> None:
    answer = answers.describe_cluster(
        bench.config,
        bench.committed.image,
        102,
        DescribeClusterRequest(endpoint_type=2),
        on_controller_listener=True,
    )
    assert [(node.broker_id, node.host) for node in answer.brokers] == [(101, "c"), (102, "d")]
    assert (answer.controller_id, answer.endpoint_type) == (102, 2)


def test_broker_refuses_what_it_does_not_serve_loudly() -> None:
    with pytest.raises(AssertionError, match="CreatePartitionsRequest"):
        Bench().receive(CreatePartitionsRequest())


@pytest.mark.parametrize(
    ("name", "software_version", "is_taken"),
    [
        ("a.b-c", "1.0-rc.1", True),
        ("k", "v", True),
        ("", "1.0", False),
        ("kraft", "", False),
        ("kraft-", "1.0", False),
        (".kraft", "1.0", False),
        ("kraft", "1_0", False),
        ("kraft\n", "1.0", False),
    ],
)
def test_software_names_itself_in_kafkas_form_or_is_refused(
    bench: Bench, name: str, software_version: str, is_taken: bool
) -> None:
    request = ApiVersionsRequest(
        client_software_name=name, client_software_version=software_version
    )
    answer = bench.ask(request, version=3)
    assert answer.error_code == (ErrorCode.NONE if is_taken else ErrorCode.INVALID_REQUEST)
    assert bool(answer.api_keys) is is_taken
    assert bench.ask(request, version=2).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("..", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("n" * 250, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("n" * 249, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_name_that_no_topic_may_have_is_named_as_such(
    bench: Bench, name: str, error: ErrorCode
) -> None:
    asked = MetadataRequestTopic(name=name)
    answer = bench.ask(MetadataRequest(topics=(asked, asked)), version=13)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [(name, error)]


def test_kafkas_internal_topics_are_marked(bench: Bench) -> None:
    names = ("__consumer_offsets", "__transaction_state", "__mine")
    bench.committed.image = apply_all(
        bench.committed.image,
        tuple(
            records.TopicRecord(name=name, topic_id=Uuid(bytes([number] * 16)))
            for number, name in enumerate(names, start=40)
        ),
    )
    asked = tuple(MetadataRequestTopic(name=name) for name in names)
    answer = bench.ask(MetadataRequest(topics=asked), version=13)
    assert [topic.is_internal for topic in answer.topics] == [True, True, False]
