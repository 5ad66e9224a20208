"""DescribeConfigs: a topic's configurations, from the broker's own image."""

import pytest

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftproof.node.wire.messages.generated.describe_configs_response import DescribeConfigsSynonym
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.node.core.broker.bench import Bench

TOPIC = 2
BROKER = 4
LONG = 5


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.committed.image = apply_all(
        bench.committed.image,
        (
            records.TopicRecord(name="t", topic_id=Uuid(bytes([7] * 16))),
            records.ConfigRecord(
                resource_type=TOPIC, resource_name="t", name="retention.ms", value="7"
            ),
            records.ConfigRecord(
                resource_type=TOPIC, resource_name="t", name="cleanup.policy", value="compact"
            ),
            records.TopicRecord(name="plain", topic_id=Uuid(bytes([8] * 16))),
        ),
    )
    return bench


def described(bench: Bench, name: str, keys: tuple[str, ...] | None, **options: bool):
    """The one result for a topic."""
    resource = DescribeConfigsResource(
        resource_type=TOPIC, resource_name=name, configuration_keys=keys
    )
    [result] = bench.ask(
        DescribeConfigsRequest(resources=(resource,), **options), version=4
    ).results
    assert (result.resource_type, result.resource_name) == (TOPIC, name)
    return result


@pytest.mark.parametrize("keys", [None, ()])
def test_every_configuration_is_shown_by_name_with_its_source(
    bench: Bench, keys: tuple[str, ...] | None
) -> None:
    result = described(bench, "t", keys)
    assert result.error_code == ErrorCode.NONE
    shown = {entry.name: (entry.value, entry.config_source) for entry in result.configs}
    assert [*shown] == sorted(shown)
    assert len(shown) == len(described(bench, "plain", None).configs) == 33
    assert {name for name, (_, source) in shown.items() if source == 1} == {
        "retention.ms",
        "cleanup.policy",
    }
    assert shown["retention.ms"] == ("7", 1)
    assert shown["segment.ms"] == ("604800000", 5)
    assert not any(entry.synonyms for entry in result.configs)


def test_an_internal_configuration_is_shown_in_its_place_where_the_topic_sets_a_value(
    bench: Bench,
) -> None:
    internal = records.ConfigRecord(
        resource_type=TOPIC, resource_name="t", name="internal.segment.bytes", value="9"
    )
    bench.committed.image = apply_all(bench.committed.image, (internal,))
    shown = {entry.name: entry.value for entry in described(bench, "t", None).configs}
    assert [*shown] == sorted(shown)
    assert shown["internal.segment.bytes"] == "9"
    assert shown.keys() - {"internal.segment.bytes"} == {
        entry.name for entry in described(bench, "plain", None).configs
    }


def test_only_the_keys_that_were_asked_for_are_shown(bench: Bench) -> None:
    result = described(bench, "t", ("retention.ms", "no.such.key", "retention.ms"))
    assert [(entry.name, entry.value, entry.config_type) for entry in result.configs] == [
        ("retention.ms", "7", LONG)
    ]


def test_the_synonyms_of_a_value_end_with_the_default(bench: Bench) -> None:
    default = DescribeConfigsSynonym(name="log.retention.ms", value="604800000", source=5)
    [entry] = described(bench, "t", ("retention.ms",), include_synonyms=True).configs
    itself = DescribeConfigsSynonym(name="retention.ms", value="7", source=1)
    assert entry.synonyms == (itself, default)
    [entry] = described(bench, "plain", ("retention.ms",), include_synonyms=True).configs
    assert entry.synonyms == (default,)


def test_a_malformed_name_is_no_topic(bench: Bench) -> None:
    assert described(bench, "a b", None).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_an_unknown_topic_and_another_resource_are_refused(bench: Bench) -> None:
    result = described(bench, "missing", None)
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    resources = (
        DescribeConfigsResource(resource_type=BROKER, resource_name="2"),
        DescribeConfigsResource(resource_type=TOPIC, resource_name="t"),
    )
    answer = bench.ask(DescribeConfigsRequest(resources=resources), version=1)
    assert [result.error_code for result in answer.results] == [ErrorCode.INVALID_REQUEST, 0]
