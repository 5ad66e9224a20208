"""CreateTopics and DeleteTopics, refusals included."""

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from kraftproof.node.core.controller.placement import Placement
from kraftproof.node.core.controller.topics import MAX_RECORDS
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftproof.node.wire.messages.generated.delete_topics_request import (
    DeleteTopicsRequest,
    DeleteTopicState,
)
from kraftproof.node.wire.types import ZERO_UUID
from tests.node.core.controller.desk import (
    SESSION_NS,
    Desk,
    creation,
    deletion,
    incarnation_id,
    registration,
)


def configured(name: str, value: str | None) -> CreateTopicsRequest:
    configs = (CreatableTopicConfig(name=name, value=value),)
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=1, configs=configs)
    return CreateTopicsRequest(topics=(topic,))


def error_of(answer) -> ErrorCode:
    [result] = answer.topics
    return ErrorCode(result.error_code)


@pytest.mark.requirement("631-67")
def test_created_topic_has_a_unique_id_and_its_replicas() -> None:
    desk = Desk.active(brokers=3)
    answer = desk.ask(creation("a", "b", partitions=4, factor=3))
    assert [(r.error_code, r.num_partitions, r.replication_factor) for r in answer.topics] == [
        (0, 4, 3)
    ] * 2
    ids = {result.topic_id for result in answer.topics}
    assert len(ids) == 2
    assert ids == set(desk.image.topics)
    for partition in desk.image.partitions_of(answer.topics[0].topic_id):
        assert sorted(partition.replicas) == [1, 2, 3]
        assert (partition.isr, partition.leader) == (partition.replicas, partition.replicas[0])


def test_validate_only_says_what_would_be_and_does_nothing() -> None:
    desk = Desk.active(brokers=1)
    [result] = desk.ask(creation("t", partitions=2, validate_only=True)).topics
    assert (result.error_code, result.topic_id, result.num_partitions) == (0, ZERO_UUID, 2)
    assert not desk.image.topics
    desk.ask(creation("t"))
    assert error_of(desk.ask(creation("t", validate_only=True))) == ErrorCode.TOPIC_ALREADY_EXISTS


def test_minus_one_takes_the_defaults() -> None:
    desk = Desk.active(brokers=1)
    [result] = desk.ask(creation("t", partitions=-1, factor=-1)).topics
    assert (result.num_partitions, result.replication_factor) == (1, 1)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (creation(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (creation("."), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (creation("a b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (creation("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (creation("line\n"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (creation("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
        (creation("t", partitions=0), ErrorCode.INVALID_PARTITIONS),
        (creation("t", partitions=0, factor=0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (creation("t", partitions=0, factor=9), ErrorCode.INVALID_PARTITIONS),
        (creation("t", factor=0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (creation("t", factor=3), ErrorCode.INVALID_REPLICATION_FACTOR),
        (creation("t", replicas=((1, 1),)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (creation("t", replicas=((),)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (creation("t", replicas=((1, 7),)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (creation("t", replicas=((1,), (1, 2))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_refused_topic(request_, error) -> None:
    desk = Desk.active(brokers=2)
    assert error_of(desk.ask(request_)) == error
    assert not desk.image.topics


def test_manual_assignment_is_taken_as_it_is() -> None:
    desk = Desk.active(brokers=3)
    [result] = desk.ask(creation("t", replicas=((3, 1), (2, 3)))).topics
    partitions = desk.image.partitions_of(result.topic_id)
    assert [partition.replicas for partition in partitions] == [(3, 1), (2, 3)]


def test_manual_assignment_excludes_counts_and_needs_partitions_from_zero() -> None:
    desk = Desk.active(brokers=1)
    assigned = (CreatableReplicaAssignment(partition_index=1, broker_ids=(1,)),)
    topics = (
        CreatableTopic(name="a", num_partitions=1, replication_factor=-1, assignments=assigned),
        CreatableTopic(name="b", num_partitions=-1, replication_factor=-1, assignments=assigned),
    )
    results = desk.ask(CreateTopicsRequest(topics=topics)).topics
    assert [result.error_code for result in results] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    ]


def test_topic_named_twice_is_refused_once_and_others_stand() -> None:
    desk = Desk.active(brokers=1)
    results = desk.ask(creation("a", "b", "a")).topics
    assert [(result.name, result.error_code) for result in results] == [
        ("b", ErrorCode.NONE),
        ("a", ErrorCode.INVALID_REQUEST),
    ]
    assert sorted(desk.image.topic_ids) == ["b"]


@pytest.mark.parametrize(
    ("names", "partitions"),
    [
        (("a",), MAX_RECORDS),  # with the topic's own it is one record too many
        (("a",), 2**31 - 1),
        (("a", "b", "c"), MAX_RECORDS // 3 + 1),
        (tuple(map(str, range(MAX_RECORDS // 2 + 1))), 1),
    ],
)
def test_one_request_can_not_ask_for_more_than_kafkas_bound(names, partitions) -> None:
    desk = Desk.active(brokers=1)
    for validate_only in (True, False):
        answer = desk.ask(creation(*names, partitions=partitions, validate_only=validate_only))
        assert {result.error_code for result in answer.topics} == {ErrorCode.POLICY_VIOLATION}
        assert len(answer.topics) == len(names)
    assert not desk.image.topics


def test_as_much_as_the_bound_allows_is_created() -> None:
    desk = Desk.active(brokers=1)
    [result] = desk.ask(creation("a", partitions=MAX_RECORDS - 1)).topics
    assert (result.error_code, result.num_partitions) == (0, MAX_RECORDS - 1)


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_a_request_without_time_times_out_and_does_nothing(timeout_ms) -> None:
    desk = Desk.active(brokers=1)
    desk.ask(creation("kept"))
    creating = replace(creation("t"), timeout_ms=timeout_ms)
    assert error_of(desk.ask(creating)) == ErrorCode.REQUEST_TIMED_OUT
    [kept] = desk.ask(replace(deletion("kept"), timeout_ms=timeout_ms)).responses
    assert kept.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert sorted(desk.image.topic_ids) == ["kept"]


@pytest.mark.parametrize(("first", "second"), [("a.b", "a_b"), ("a_b", "a.b"), ("a_b.c", "a.b_c")])
def test_names_that_differ_in_dots_and_underscores_only_collide(first, second) -> None:
    desk = Desk.active(brokers=1)
    desk.ask(creation(first))
    assert error_of(desk.ask(creation(second))) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert error_of(desk.ask(creation(first))) == ErrorCode.TOPIC_ALREADY_EXISTS
    desk.ask(deletion(first))
    assert error_of(desk.ask(creation(second))) == ErrorCode.NONE
    assert rebuild(desk.image) == desk.image


def test_created_topics_configurations_are_answered_with_their_source() -> None:
    desk = Desk.active(brokers=1)
    [result] = desk.ask(configured("retention.ms", "5")).topics
    shown = {config.name: (config.value, config.config_source) for config in result.configs}
    assert shown["retention.ms"] == ("5", 1)
    assert shown["cleanup.policy"] == ("delete", 5)
    assert "internal.segment.bytes" not in shown
    assert [*shown] == sorted(shown)


@pytest.mark.requirement("631-21")
def test_configuration_goes_with_the_topic() -> None:
    desk = Desk.active(brokers=1)
    desk.ask(configured("retention.ms", "5"))
    assert desk.image.configs[2, "t"]["retention.ms"] == "5"
    desk.ask(deletion("t"))
    assert not desk.image.configs


@pytest.mark.parametrize(
    ("name", "value"),
    [("retention.mss", "5"), ("retention.ms", None), ("retention.ms", "x"), ("", "5")],
)
def test_impossible_configuration_is_refused(name, value) -> None:
    desk = Desk.active(brokers=1)
    assert error_of(desk.ask(configured(name, value))) == ErrorCode.INVALID_CONFIG
    assert not desk.image.topics


@pytest.mark.requirement("631-40")
def test_fenced_replica_starts_outside_the_isr_and_comes_last() -> None:
    desk = Desk.active(brokers=2)
    desk.ask(registration(3))
    [result] = desk.ask(creation("t", partitions=6, factor=3)).topics
    for partition in desk.image.partitions_of(result.topic_id):
        assert partition.replicas[-1] == 3
        assert partition.isr == partition.replicas[:2]
    [manual] = desk.ask(creation("u", replicas=((3, 1),))).topics
    [partition] = desk.image.partitions_of(manual.topic_id)
    assert (partition.isr, partition.leader) == ((1,), 1)


def test_nothing_can_be_created_on_fenced_brokers_only() -> None:
    desk = Desk.active(brokers=1)
    desk.tick(desk.monotonic + SESSION_NS)
    desk.commit()
    assert error_of(desk.ask(creation("t"))) == ErrorCode.INVALID_REPLICATION_FACTOR
    manual = desk.ask(creation("t", replicas=((1,),)))
    assert error_of(manual) == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_placement_alternates_racks_and_spreads_leaders() -> None:
    desk = Desk.active()
    for broker_id in range(1, 7):
        desk.join(broker_id, rack=f"r{broker_id % 3}")
    placed = Placement(desk.image).place(12, 3, Random(1))
    for replicas in placed:
        assert {broker_id % 3 for broker_id in replicas} == {0, 1, 2}
    assert set(Counter(replicas[0] for replicas in placed).values()) == {2}
    assert placed == Placement(desk.image).place(12, 3, Random(1))


@pytest.mark.requirement("631-19")
@pytest.mark.requirement("631-69")
def test_topic_is_deleted_by_name_or_id_and_recreated_with_another_id() -> None:
    desk = Desk.active(brokers=1)
    [first] = desk.ask(creation("t")).topics
    [gone] = desk.ask(deletion("t")).responses
    assert (gone.error_code, gone.name, gone.topic_id) == (0, "t", first.topic_id)
    [second] = desk.ask(creation("t")).topics
    assert second.topic_id != first.topic_id
    [stale] = desk.ask(deletion(ids=(first.topic_id,))).responses
    assert stale.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    [gone] = desk.ask(deletion(ids=(second.topic_id,))).responses
    assert (gone.error_code, gone.name) == (0, "t")
    assert not desk.image.topics
    assert not desk.image.in_isr(1)


def test_impossible_deletions() -> None:
    desk = Desk.active(brokers=1)
    [topic] = desk.ask(creation("t")).topics
    states = (
        DeleteTopicState(name="t"),
        DeleteTopicState(topic_id=topic.topic_id),
        DeleteTopicState(name="t", topic_id=topic.topic_id),
        DeleteTopicState(),
        DeleteTopicState(name="missing"),
        DeleteTopicState(topic_id=incarnation_id(9)),
    )
    request = DeleteTopicsRequest(topics=states, topic_names=("missing", "gone"), timeout_ms=5000)
    results = desk.ask(request).responses
    assert [(result.name, result.error_code) for result in results] == [
        ("t", ErrorCode.INVALID_REQUEST),  # by its name and by its id
        ("t", ErrorCode.INVALID_REQUEST),
        (None, ErrorCode.INVALID_REQUEST),
        ("missing", ErrorCode.INVALID_REQUEST),  # twice
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
        ("gone", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert sorted(desk.image.topic_ids) == ["t"]


def test_an_id_deletes_beside_a_name_given_twice_but_a_name_not_beside_an_id_given_twice() -> None:
    """Kafka drops a repeated name before it compares names and ids, and a repeated id after it."""
    desk = Desk.active(brokers=1)
    [topic] = desk.ask(creation("t")).topics
    by_name, by_id = DeleteTopicState(name="t"), DeleteTopicState(topic_id=topic.topic_id)
    request = DeleteTopicsRequest(topics=(by_id, by_id, by_name), timeout_ms=5000)
    results = desk.ask(request).responses
    assert {result.error_code for result in results} == {ErrorCode.INVALID_REQUEST}
    assert sorted(desk.image.topic_ids) == ["t"]
    request = DeleteTopicsRequest(topics=(by_name, by_name, by_id), timeout_ms=5000)
    results = desk.ask(request).responses
    assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert not desk.image.topics


def test_old_versions_delete_by_a_list_of_names() -> None:
    desk = Desk.active(brokers=1)
    desk.ask(creation("t"))
    [gone] = desk.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=5000)).responses
    assert (gone.error_code, gone.name) == (0, "t")
