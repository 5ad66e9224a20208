"""Each resource of a node has a bound, and what is above the bound is a violation."""

import msgspec
import pytest
from immutables import Map

from kraftproof.cluster.simulated.invariants.resources.bounds import (
    LARGE_TABLES,
    LOOK_NS,
    MOST_ENTRIES,
    MOST_OPEN_REQUESTS,
    TABLES_OF_PARTITIONS,
    OpenRequestsAreBounded,
    TablesAreBounded,
)
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition, Topic
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

TOPIC = Uuid(bytes(16))


@pytest.mark.parametrize("more", [0, 1])
def test_open_requests_have_a_bound(more: int) -> None:
    harness = MonitorHarness(OpenRequestsAreBounded())
    process = harness.process(1)
    process.unanswered = [object()] * (MOST_OPEN_REQUESTS + more)
    process.steps()
    assert harness.reported == [f"{MOST_OPEN_REQUESTS + 1} open requests"] * more


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize(
    ("table", "most"), [("Outbox.continuations", MOST_ENTRIES), *LARGE_TABLES.items()]
)
def test_a_table_has_a_bound(table: str, most: int, more: int) -> None:
    harness = MonitorHarness(TablesAreBounded())
    process = harness.process(1)
    process.tables = [("Other.table", 1), (table, most + more)]
    process.steps()
    assert harness.reported == [f"{table} has {most + 1} entries"] * more


def partition(index: int) -> Partition:
    four = (NodeId(4),)
    return Partition(topic_id=TOPIC, index=index, replicas=four, isr=four)


@pytest.mark.parametrize("table", sorted(TABLES_OF_PARTITIONS))
@pytest.mark.parametrize("more", [0, 1])
def test_a_table_of_partitions_grows_with_the_partitions(table: str, more: int) -> None:
    harness = MonitorHarness(TablesAreBounded())
    process = harness.process(4)
    partitions = Map({index: partition(index) for index in range(50)})
    process.image = msgspec.structs.replace(EMPTY_IMAGE, partitions=Map({TOPIC: partitions}))
    process.tables = [(table, MOST_ENTRIES + 50 + more)]
    process.steps()
    assert len(harness.reported) == more


def topic(number: int) -> Topic:
    return Topic(topic_id=Uuid(number.to_bytes(16, "big")), name=f"t{number}")


@pytest.mark.parametrize("more", [0, 1])
def test_a_table_of_topics_grows_with_the_topics(more: int) -> None:
    harness = MonitorHarness(TablesAreBounded())
    process = harness.process(4)
    topics = [topic(number) for number in range(50)]
    process.image = msgspec.structs.replace(
        EMPTY_IMAGE, topics=Map({one.topic_id: one for one in topics})
    )
    process.tables = [("MetadataAnswers.answers", MOST_ENTRIES + 50 + more)]
    process.steps()
    process.image = EMPTY_IMAGE
    harness.now_ns += LOOK_NS
    process.steps()
    assert len(harness.reported) == 2 * more


@pytest.mark.parametrize("invariant", [OpenRequestsAreBounded, TablesAreBounded])
def test_a_process_is_looked_at_once_in_a_while(invariant) -> None:
    harness = MonitorHarness(invariant())
    process = harness.process(1)
    process.steps()
    process.unanswered, process.tables = [object()] * 10_000, [("Table.of_a_node", 10_000)]
    process.steps()
    assert harness.reported == []
    harness.now_ns += LOOK_NS
    process.steps()
    assert len(harness.reported) == 1


@pytest.mark.parametrize("invariant", [OpenRequestsAreBounded, TablesAreBounded])
def test_what_arrives_during_a_pause_is_served_before_it_is_counted(invariant) -> None:
    """The simulation showed this at seed 3002021: a pause ended with 219 requests to read."""
    harness = MonitorHarness(invariant())
    process = harness.process(1)
    process.steps()
    process.sleeps(LOOK_NS)
    process.unanswered, process.tables = [object()] * 10_000, [("Table.of_a_node", 10_000)]
    process.steps()
    assert harness.reported == []
    harness.now_ns += LOOK_NS
    process.steps()
    assert len(harness.reported) == 1
