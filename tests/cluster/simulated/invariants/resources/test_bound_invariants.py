"""Each resource of a node has a bound, and what is above the bound is a violation."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import msgspec
import pytest
from immutables import Map

from kraftproof.cluster.simulated.invariants.resources.bounds import (
    LARGE_TABLES,
    LOOK_NS,
    MOST_ENTRIES,
    MOST_OPEN_REQUESTS,
    TABLES_OF_PARTITIONS,
    TABLES_OF_TOPICS,
    OpenRequestsAreBounded,
    TablesAreBounded,
)
from kraftproof.node import core, shell
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
    process.tables = [("_View.kept", MOST_ENTRIES + 50 + more)]
    process.steps()
    process.image = EMPTY_IMAGE
    harness.now_ns += LOOK_NS
    process.steps()
    assert len(harness.reported) == 2 * more


def classes(name: str) -> Iterator[type]:
    """Yield the classes of a name in the node's core and shell."""
    for package in (core, shell):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            found = vars(import_module(module.name)).get(name)
            if isinstance(found, type) and found.__module__ == module.name:
                yield found


@pytest.mark.parametrize("table", sorted({*LARGE_TABLES, *TABLES_OF_PARTITIONS, *TABLES_OF_TOPICS}))
def test_a_table_with_a_larger_bound_is_one_of_the_node(table: str) -> None:
    """A table of topics had been renamed, and runs with more than 150 topics were violations."""
    name, attribute = table.split(".")
    sources = [inspect.getsource(each) for each in classes(name)]
    assignment = re.compile(rf"^ +(self\.)?_?{attribute}(:| =)", re.MULTILINE)
    assert any(map(assignment.search, sources))


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
