"""DescribeConfigs: what was set for a topic, from the broker's own image."""

import pytest

from node.core.metadata.apply import apply_all
from node.wire.errors import ErrorCode
from node.wire.messages import metadata as records
from node.wire.messages.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from node.wire.messages.generated.describe_configs_response import DescribeConfigsSynonym
from node.wire.types import Uuid
from tests.node.broker.bench import Bench

TOPIC = 2
BROKER = 4


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


@pytest.mark.parametrize(
    ("name", "keys", "shown"),
    [
        ("t", None, [("cleanup.policy", "compact"), ("retention.ms", "7")]),
        ("t", (), [("cleanup.policy", "compact"), ("retention.ms", "7")]),
        ("t", ("retention.ms", "segment.ms", "retention.ms"), [("retention.ms", "7")]),
        ("plain", None, []),
    ],
)
def test_what_was_set_is_shown_by_name(
    bench: Bench, name: str, keys: tuple[str, ...] | None, shown: list[tuple[str, str]]
) -> None:
    result = described(bench, name, keys)
    assert result.error_code == ErrorCode.NONE
    assert [(entry.name, entry.value) for entry in result.configs] == shown
    assert all(entry.config_source == 1 and not entry.synonyms for entry in result.configs)


def test_a_value_is_its_own_synonym_for_who_asks(bench: Bench) -> None:
    [entry] = described(bench, "t", ("retention.ms",), include_synonyms=True).configs
    assert entry.synonyms == (DescribeConfigsSynonym(name="retention.ms", value="7", source=1),)


def test_an_unknown_topic_and_another_resource_are_refused(bench: Bench) -> None:
    result = described(bench, "missing", None)
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    resources = (
        DescribeConfigsResource(resource_type=BROKER, resource_name="1"),
        DescribeConfigsResource(resource_type=TOPIC, resource_name="t"),
    )
    answer = bench.ask(DescribeConfigsRequest(resources=resources), version=1)
    assert [result.error_code for result in answer.results] == [ErrorCode.INVALID_REQUEST, 0]
