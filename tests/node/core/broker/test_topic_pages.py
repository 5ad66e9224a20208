"""DescribeTopicPartitions page by page, and ListConfigResources by type."""

import pytest

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    api_versions_request,
    describe_topic_partitions_request,
    list_config_resources_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.node.core.broker.bench import Bench

EVERYTHING = [("a", []), ("big", [0, 1, 2, 3, 4]), ("t", [0, 1])]


@pytest.fixture
def pages(bench: Bench) -> Bench:
    """Topics a without partitions, t with two and big with five."""
    big = Uuid(bytes([9] * 16))
    bench.committed.image = apply_all(
        bench.committed.image,
        (
            records.TopicRecord(name="big", topic_id=big),
            *(
                records.PartitionRecord(
                    partition_id=index, topic_id=big, replicas=(3,), isr=(3,), leader=3
                )
                for index in range(5)
            ),
            records.ConfigRecord(resource_type=32, resource_name="g", name="k", value="v"),
            records.ConfigRecord(resource_type=16, resource_name="m", name="k", value="v"),
            records.ConfigRecord(resource_type=2, resource_name="t", name="k", value="v"),
        ),
    )
    bench.see(40)
    return bench


def page(bench: Bench, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None):
    module = describe_topic_partitions_request
    request = module.DescribeTopicPartitionsRequest(
        topics=tuple(module.TopicRequest(name=name) for name in names),
        response_partition_limit=limit,
        cursor=None
        if cursor is None
        else module.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    return bench.ask(request, version=0)


def shown(answer) -> list[tuple[str, list[int]]]:
    return [(one.name, [part.partition_index for part in one.partitions]) for one in answer.topics]


def test_without_names_every_topic_is_on_the_page(pages: Bench) -> None:
    answer = page(pages)
    assert shown(answer) == EVERYTHING
    assert answer.next_cursor is None
    leading, leaderless = answer.topics[2].partitions
    assert (leading.leader_id, leading.leader_epoch, leading.isr_nodes) == (3, 4, (3,))
    assert leading.offline_replicas == (2,), "broker 2 is fenced"
    assert (leaderless.leader_id, leaderless.error_code) == (-1, ErrorCode.NONE)
    assert answer.topics[0].topic_authorized_operations > 0


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 0, -5])
def test_pages_follow_each_other_without_gap_or_repeat(pages: Bench, limit: int) -> None:
    found: dict[str, list[int]] = {}
    cursor = None
    for _ in range(20):
        answer = page(pages, limit=limit, cursor=cursor)
        for name, indexes in shown(answer):
            found.setdefault(name, []).extend(indexes)
        assert sum(len(indexes) for _, indexes in shown(answer)) <= max(limit, 1)
        if answer.next_cursor is None:
            break
        cursor = (answer.next_cursor.topic_name, answer.next_cursor.partition_index)
    assert [*found.items()] == EVERYTHING


def test_named_topics_are_sorted_once_each_and_unknown_names_are_errors(pages: Bench) -> None:
    answer = page(pages, "t", "nosuch", "t", "a b")
    assert [(one.name, one.error_code) for one in answer.topics] == [
        ("a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("nosuch", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("t", ErrorCode.NONE),
    ]
    assert shown(page(pages, "big", "t", cursor=("big", 3))) == [("big", [3, 4]), ("t", [0, 1])]


def test_a_cursor_must_be_on_a_requested_topic(pages: Bench) -> None:
    for cursor in (("zzz", 0), ("big", -1), ("t", 0)):
        answer = page(pages, "big", cursor=cursor)
        assert [(one.name, one.error_code) for one in answer.topics] == [
            ("big", ErrorCode.INVALID_REQUEST)
        ]
        assert answer.next_cursor is None


def resources(bench: Bench, *kinds: int, version: int = 1):
    request = list_config_resources_request.ListConfigResourcesRequest(resource_types=kinds)
    return bench.ask(request, version=version)


@pytest.mark.parametrize(
    ("kinds", "version", "found"),
    [
        ((2,), 1, [(2, "a"), (2, "big"), (2, "t")]),
        ((4,), 1, [(4, "3"), (4, "4")]),
        ((8,), 1, [(8, "3"), (8, "4")]),
        ((32, 16, 32), 1, [(16, "m"), (32, "g")]),
        ((), 0, [(16, "m")]),
    ],
)
def test_resources_are_listed_by_type(pages: Bench, kinds, version: int, found) -> None:
    answer = resources(pages, *kinds, version=version)
    listed = [(one.resource_type, one.resource_name) for one in answer.config_resources]
    assert (answer.error_code, listed) == (ErrorCode.NONE, found)


def test_all_types_are_listed_and_an_unknown_type_is_refused(pages: Bench) -> None:
    kinds = {one.resource_type for one in resources(pages).config_resources}
    assert kinds == {2, 4, 8, 16, 32}
    answer = resources(pages, 2, 77)
    assert (answer.error_code, answer.config_resources) == (ErrorCode.UNSUPPORTED_VERSION, ())


def test_client_metrics_are_not_collected(bench: Bench) -> None:
    answer = bench.ask(api_versions_request.ApiVersionsRequest(), version=0)
    served = {entry.api_key for entry in answer.api_keys}
    assert {74, 75} <= served
    assert not {71, 72} & served, "GetTelemetrySubscriptions and PushTelemetry"
