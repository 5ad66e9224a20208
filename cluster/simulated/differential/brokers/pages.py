"""Compare the pages of DescribeTopicPartitions with the whole list."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.brokers.drawn_cluster import (
    LISTENERS,
    NAMES,
    DrawnCluster,
)
from kraftproof.cluster.simulated.differential.brokers.listings import (
    LEGAL,
    event_of,
    partition_of,
    shown_partition,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.broker.topic_pages import describe_topic_partitions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_topic_partitions_request,
    describe_topic_partitions_response,
)

CHANGES: Final = 20
SIZES: Final = (1, 2, 3, 5, 2_000)
"""The numbers of partitions that a client wants in a page; the last one is the largest."""
Page = describe_topic_partitions_request.DescribeTopicPartitionsRequest
Cursor = describe_topic_partitions_request.Cursor
Asked = describe_topic_partitions_request.TopicRequest


def compare_pages(random: Random) -> None:
    """Let a cluster change, and read its topics page by page after each change.

    Raises:
        DifferenceError: the pages together are not the list, or a page has a wrong size.
    """
    cluster = DrawnCluster()
    for _ in range(CHANGES):
        cluster.change(random)
        names = () if random.random() < 0.5 else tuple(random.choices((*NAMES, *LEGAL), k=3))
        _compare(cluster, names, random.choice(SIZES))


def _compare(cluster: DrawnCluster, names: tuple[str, ...], size: int) -> None:
    wanted = sorted(set(names) or set(cluster.ids))
    found: list[tuple[object, ...]] = []
    unknown: list[str | None] = []
    cursor: Cursor | None = None
    image = cluster.image()
    for _ in range(len(wanted) * 4 + 1):
        request = Page(
            topics=tuple(Asked(name=each) for each in names),
            response_partition_limit=size,
            cursor=cursor,
        )
        event = event_of(request, 0, LISTENERS[0])
        page = describe_topic_partitions(image, event, request, None, LISTENERS[0])
        unknown += [topic.name for topic in page.topics if topic.error_code]
        shown = [
            (topic.name, topic.topic_id, *shown_partition(one), *_eligible(one))
            for topic in page.topics
            for one in topic.partitions
        ]
        found += shown
        check("a page has no more partitions than wanted", len(shown) <= size)
        if page.next_cursor is None:
            break
        check("a page before others is full", len(shown) == size)
        cursor = Cursor(
            topic_name=page.next_cursor.topic_name, partition_index=page.next_cursor.partition_index
        )
    due = [
        (name, cluster.ids[name], *_shown(cluster, name, index), one.eligible, one.last_known)
        for name in wanted
        if name in cluster.ids
        for index, one in sorted(cluster.topics[name].items())
    ]
    same("the partitions of all pages", found, due)
    same("the unknown topics", unknown, [name for name in wanted if name not in cluster.ids])


def _shown(cluster: DrawnCluster, name: str, index: int) -> tuple[object, ...]:
    """Return the fields of a partition; a page has no errors of partitions."""
    shown = partition_of(cluster, name, index, LISTENERS[0], 1)
    return (shown[0], ErrorCode.NONE, *shown[2:])


def _eligible(
    one: describe_topic_partitions_response.DescribeTopicPartitionsResponsePartition,
) -> tuple[object, ...]:
    return (one.eligible_leader_replicas, one.last_known_elr)
