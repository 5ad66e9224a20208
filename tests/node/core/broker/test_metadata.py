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
    replicas, error = ((3, 2), 0) if version else ((3,), ErrorCode.REPLICA_NOT_AVAILABLE)
    assert (first.leader_id, first.leader_epoch, first.replica_nodes) == (3, 4, replicas)
    assert (first.isr_nodes, first.offline_replicas, first.error_code) == ((3,), (2,), error)
    assert (second.leader_id, second.error_code) == (-1, ErrorCode.LEADER_NOT_AVAILABLE)


def test_metadata_by_name_and_by_id(bench: Bench) -> None:
    unknown = Uuid(bytes([9] * 16))
    by_name = (MetadataRequestTopic(name="t"), MetadataRequestTopic(name="missing"))
    by_id = (
        MetadataRequestTopic(topic_id=TOPIC),
        MetadataRequestTopic(topic_id=unknown),
        MetadataRequestTopic(name="t", topic_id=TOPIC),
    )
    names = [
        (ErrorCode.NONE, "t", TOPIC),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "missing", bytes(16)),
    ]
    ids = [(ErrorCode.NONE, "t", TOPIC), (ErrorCode.UNKNOWN_TOPIC_ID, None, unknown)]
    both = (*by_name, *by_id)  # Kafka ignores names beside ids
    for asked, due in ((by_name * 2, names), (by_id, ids), (both, ids)):
        answer = bench.ask(MetadataRequest(topics=asked), version=12)
        found = [(topic.error_code, topic.name, topic.topic_id) for topic in answer.topics]
        assert found == due


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


FIRST, SECOND = Uuid(b"1" * 16), Uuid(b"2" * 16)


def partitions(bench: Bench, version: int, *written) -> list:
    """Return the partitions of topic t after records; broker 4 has another listener."""
    bench.committed.image = apply_all(bench.committed.image, written)
    asked = MetadataRequest(topics=(MetadataRequestTopic(name="t"),))
    return bench.ask(asked, version=version).topics[0].partitions


def moved(leader: int, *, replicas=(3, 4, 2), **fields):
    return records.PartitionChangeRecord(
        partition_id=0, topic_id=TOPIC, replicas=replicas, isr=(3, 4), leader=leader, **fields
    )


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (0, ErrorCode.LEADER_NOT_AVAILABLE),
        (5, ErrorCode.LEADER_NOT_AVAILABLE),
        (6, ErrorCode.LISTENER_NOT_FOUND),
        (13, ErrorCode.LISTENER_NOT_FOUND),
    ],
)
def test_a_leader_without_the_listener_of_the_client_is_none(bench: Bench, version, error) -> None:
    found, _ = partitions(bench, version, moved(4))
    assert (found.leader_id, found.error_code, found.offline_replicas) == (-1, error, (4, 2))
    unregistered = records.UnregisterBrokerRecord(broker_id=4, broker_epoch=4)
    found, _ = partitions(bench, version, unregistered)
    assert (found.leader_id, found.error_code) == (-1, ErrorCode.LEADER_NOT_AVAILABLE)


def test_version_0_leaves_unreachable_replicas_out(bench: Bench) -> None:
    found, _ = partitions(bench, 0, moved(3))
    assert (found.replica_nodes, found.isr_nodes) == ((3,), (3,))
    assert found.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
    found, _ = partitions(bench, 1)
    assert (found.replica_nodes, found.isr_nodes) == ((3, 4, 2), (3, 4))
    assert found.error_code == ErrorCode.NONE


def test_a_replica_in_a_failed_directory_is_offline(bench: Bench) -> None:
    lost = Uuid((2).to_bytes(16, "big"))
    for place, offline in ((FIRST, ()), (SECOND, (3,)), (lost, (3,)), (Uuid(bytes(16)), ())):
        only = moved(3, replicas=(3,), directories=(place,))
        change = records.BrokerRegistrationChangeRecord(
            broker_id=3, broker_epoch=3, log_dirs=(FIRST,)
        )
        found, _ = partitions(bench, 13, change, only)
        assert found.offline_replicas == offline


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
