"""IncrementalAlterConfigs and AlterConfigs: operations, refusals, all or nothing, failover."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.metadata import ConfigRecord
from tests.node.core.controller.configs.asking import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    METRICS,
    SUBTRACT,
    TOPIC,
    incremental,
    legacy,
    resource,
)
from tests.node.core.controller.desk import Desk, creation, deletion


@pytest.fixture
def desk() -> Desk:
    desk = Desk.active(brokers=2)
    desk.ask(creation("t", "u"))
    return desk


def configs(desk: Desk, kind: int = TOPIC, name: str = "t") -> dict[str, str]:
    return dict(desk.image.configs.get((kind, name), {}))


def codes(desk: Desk, request) -> list[ErrorCode]:
    return [ErrorCode(result.error_code) for result in desk.ask(request).responses]


def written(desk: Desk) -> int:
    batches = desk.raft.log.read(0, 1 << 40)
    return sum(isinstance(record, ConfigRecord) for batch in batches for record in batch.records)


@pytest.mark.requirement("590-13")
@pytest.mark.requirement("631-90")
@pytest.mark.requirement("631-21")
def test_values_are_set_and_deleted_and_stay_after_a_failover(desk: Desk) -> None:
    change = resource(TOPIC, "t", ("retention.ms", "5"), ("segment.ms", "7"))
    assert codes(desk, incremental(change)) == [ErrorCode.NONE]
    assert configs(desk) == {"retention.ms": "5", "segment.ms": "7"}
    assert codes(desk, incremental(resource(TOPIC, "t", ("segment.ms", None, DELETE)))) == [0]
    desk.lose()
    desk.win()
    assert configs(desk) == {"retention.ms": "5"}


@pytest.mark.requirement("590-13")
def test_lists_grow_from_their_default_and_shrink(desk: Desk) -> None:
    policy = "cleanup.policy"
    assert codes(desk, incremental(resource(TOPIC, "t", (policy, "compact", APPEND)))) == [0]
    assert configs(desk) == {policy: "delete,compact"}
    desk.ask(incremental(resource(TOPIC, "t", (policy, "compact,delete", APPEND))))
    assert configs(desk) == {policy: "delete,compact"}, "members that are there already"
    desk.ask(incremental(resource(TOPIC, "t", (policy, "delete,none", SUBTRACT))))
    assert configs(desk) == {policy: "compact"}
    number = incremental(resource(TOPIC, "t", ("retention.ms", "1", APPEND)))
    assert codes(desk, number) == [ErrorCode.INVALID_CONFIG]


@pytest.mark.requirement("590-13")
def test_a_resource_changes_as_a_whole_or_not_at_all(desk: Desk) -> None:
    request = incremental(
        resource(TOPIC, "t", ("retention.ms", "5"), ("segment.ms", "no number")),
        resource(TOPIC, "u", ("retention.ms", "6")),
    )
    assert codes(desk, request) == [ErrorCode.INVALID_CONFIG, ErrorCode.NONE]
    assert configs(desk) == {}
    assert configs(desk, name="u") == {"retention.ms": "6"}


REFUSED = [
    ("unknown topic", resource(TOPIC, "x", ("retention.ms", "1")), 3),
    ("malformed topic", resource(TOPIC, "a b", ("retention.ms", "1")), 17),
    ("all topics", resource(TOPIC, "", ("retention.ms", "1")), 42),
    ("unknown name", resource(TOPIC, "t", ("no.such.config", "1")), 40),
    ("illegal value", resource(TOPIC, "t", ("retention.ms", "-2")), 40),
    ("long value", resource(BROKER, "", ("listeners", "x" * 32_768)), 40),
    ("no value", resource(TOPIC, "t", ("retention.ms", None)), 42),
    ("twice", resource(TOPIC, "t", ("retention.ms", "1"), ("retention.ms", "2")), 42),
    ("no operation", resource(TOPIC, "t", ("retention.ms", "1", 4)), 42),
    ("no number", resource(BROKER, "one", ("num.io.threads", "1")), 42),
    ("unknown broker", resource(BROKER, "9", ("num.io.threads", "1")), 102),
    ("no kind", resource(3, "t", ("retention.ms", "1")), 42),
    ("no group", resource(GROUP, "", ("consumer.session.timeout.ms", "50000")), 42),
    ("group value", resource(GROUP, "g", ("consumer.session.timeout.ms", "0")), 40),
    ("metrics name", resource(METRICS, "m", ("interval", "1")), 40),
    ("metrics", resource(METRICS, "m", ("interval.ms", "5000")), 42),
    ("appended metrics", resource(METRICS, "m", ("metrics", "x", APPEND)), 42),
]


@pytest.mark.requirement("631-90")
@pytest.mark.parametrize(
    ("change", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_refused_change_leaves_everything_as_it_was(desk: Desk, change, code: int) -> None:
    was = desk.image.digest
    assert codes(desk, incremental(change)) == [ErrorCode(code)]
    assert desk.image.digest == was


def test_a_resource_named_twice_is_refused_at_both_places(desk: Desk) -> None:
    change = resource(TOPIC, "t", ("retention.ms", "1"))
    request = incremental(change, change, resource(TOPIC, "u", ("retention.ms", "1")))
    assert codes(desk, request) == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, 0]
    assert configs(desk) == {}


@pytest.mark.requirement("631-90")
@pytest.mark.parametrize(
    ("kind", "name", "key", "value"),
    [
        (BROKER, "1", "num.io.threads", "9"),
        (BROKER, "", "log.retention.ms", "9"),
        (GROUP, "g", "consumer.session.timeout.ms", "50000"),
    ],
)
def test_other_resources_have_configurations_too(
    desk: Desk, kind: int, name: str, key: str, value: str
) -> None:
    assert codes(desk, incremental(resource(kind, name, (key, value)))) == [ErrorCode.NONE]
    assert configs(desk, kind, name) == {key: value}


def test_an_unchanged_value_is_written_for_brokers_only(desk: Desk) -> None:
    """A broker reads its files anew at each record of its configurations (KAFKA-14136)."""
    for kind, name, key, records in (
        (TOPIC, "t", "retention.ms", 1),
        (BROKER, "1", "num.io.threads", 2),
    ):
        before = written(desk)
        for _ in range(2):
            desk.ask(incremental(resource(kind, name, (key, "9"))))
        assert written(desk) - before == records


@pytest.mark.requirement("631-90")
def test_the_older_request_replaces_all_values(desk: Desk) -> None:
    desk.ask(incremental(resource(TOPIC, "t", ("retention.ms", "5"), ("segment.ms", "7"))))
    assert codes(desk, legacy(TOPIC, "t", ("segment.ms", "8"), ("flush.ms", "1"))) == [0]
    assert configs(desk) == {"segment.ms": "8", "flush.ms": "1"}
    for pairs, code in (
        ((("segment.ms", None),), ErrorCode.INVALID_REQUEST),
        ((("no.such.config", "1"),), ErrorCode.INVALID_CONFIG),
        ((("flush.ms", "1"), ("flush.ms", "2")), ErrorCode.INVALID_REQUEST),
    ):
        assert codes(desk, legacy(TOPIC, "t", *pairs)) == [code]
    assert codes(desk, legacy(TOPIC, "t")) == [ErrorCode.NONE]
    assert configs(desk) == {}


@pytest.mark.requirement("631-90")
def test_a_validation_writes_nothing(desk: Desk) -> None:
    change = resource(TOPIC, "t", ("retention.ms", "5"))
    assert codes(desk, incremental(change, validate_only=True)) == [ErrorCode.NONE]
    wrong = resource(TOPIC, "t", ("retention.ms", "x"))
    assert codes(desk, incremental(wrong, validate_only=True)) == [ErrorCode.INVALID_CONFIG]
    assert configs(desk) == {}


def test_a_request_of_too_many_records_is_refused_as_a_whole(desk: Desk) -> None:
    many = tuple((f"key-{number}", "1") for number in range(10_001))
    request = incremental(resource(TOPIC, "t", ("retention.ms", "1")), resource(BROKER, "", *many))
    assert set(codes(desk, request)) == {ErrorCode.POLICY_VIOLATION}
    assert configs(desk) == {}
    assert configs(desk, BROKER, "") == {}


@pytest.mark.requirement("631-67")
def test_a_created_topic_shows_the_values_of_all_brokers(desk: Desk) -> None:
    desk.ask(incremental(resource(BROKER, "", ("log.retention.ms", "9"))))
    (topic,) = desk.ask(creation("new")).topics
    shown = {config.name: (config.value, config.config_source) for config in topic.configs}
    assert shown["retention.ms"] == ("9", 3)
    assert shown["segment.ms"] == ("604800000", 5)


@pytest.mark.requirement("631-35")
def test_a_deleted_topic_leaves_no_configurations(desk: Desk) -> None:
    desk.ask(incremental(resource(TOPIC, "t", ("retention.ms", "5"))))
    desk.ask(deletion("t"))
    desk.ask(creation("t"))
    assert configs(desk) == {}
