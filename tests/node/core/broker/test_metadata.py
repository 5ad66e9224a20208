"""What a broker answers to Metadata from its own image."""

import pytest

from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.codec import decode_response, encode_response
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.node.core.broker.bench import TOPIC, Bench


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


def changed(bench: Bench, *written) -> list:
    """Return the topics of two answers: before the records are committed, and after."""
    before = bench.ask(MetadataRequest(topics=None), version=12).topics
    bench.committed.image = apply_all(bench.committed.image, written)
    return [before, bench.ask(MetadataRequest(topics=None), version=12).topics]


@pytest.mark.requirement("497-14")
def test_an_answer_follows_a_change_of_the_partition(bench: Bench) -> None:
    change = records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=2, isr=(2,))
    before, after = changed(bench, change)
    assert [topics[1].partitions[0].leader_id for topics in (before, after)] == [3, 2]
    assert before[0] is after[0], "the other topic's answer is kept"


def test_an_answer_follows_the_fencing_of_a_broker(bench: Bench) -> None:
    fenced = records.FenceBrokerRecord(id=3, epoch=3)
    before, after = changed(bench, fenced)
    assert [topics[1].partitions[0].offline_replicas for topics in (before, after)] == [
        (2,),
        (3, 2),
    ]


def test_the_answer_for_a_deleted_topic_is_forgotten(bench: Bench) -> None:
    other = Uuid(bytes([8] * 16))
    before, after = changed(bench, records.RemoveTopicRecord(topic_id=other))
    assert [[topic.name for topic in topics] for topics in (before, after)] == [["a", "t"], ["t"]]
    again = records.TopicRecord(name="a", topic_id=Uuid(bytes([9] * 16)))
    assert changed(bench, again)[1][0].topic_id == Uuid(bytes([9] * 16))
