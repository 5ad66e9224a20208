"""Only the controller writes, and every broker gets the change in time (KIP-590 "Motivation")."""

import pytest

from kraftproof.node.core.effects import Append, Flush, Reply
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    metadata_request,
)
from kraftproof.node.wire.records.metadata import TopicRecord
from tests.node.core.test_node import World, create


@pytest.fixture
def world():
    world = World(3, 1)
    world.run(8000)
    return world


def written_topics(effects, node_id, name):
    return [
        effect
        for at, effect in effects
        if at == node_id
        and isinstance(effect, Append)
        and any(isinstance(r, TopicRecord) and r.name == name for r in effect.batch.records)
    ]


@pytest.mark.requirement("590-12")
def test_only_the_controller_writes_and_success_follows_the_commit(world):
    leader = world.leader()
    world.effects.clear()
    assert world.answer(4, create("a"), 7).topics[0].error_code == ErrorCode.NONE
    first = next(n for n, e in world.effects if written_topics([(n, e)], n, "a"))
    assert first == leader
    (write,) = written_topics(world.effects, leader, "a")
    answered = next(
        place
        for place, (node_id, effect) in enumerate(world.effects)
        if node_id == leader
        and isinstance(effect, Reply)
        and isinstance(effect.message, create_topics_response.CreateTopicsResponse)
    )
    flushed = [
        (node_id, effect)
        for node_id, effect in world.effects[:answered]
        if isinstance(effect, Flush) and effect.end_offset >= write.batch.next_offset
    ]
    assert len({node_id for node_id, _ in flushed if node_id <= 3}) >= 2


@pytest.mark.requirement("590-12")
def test_a_broker_that_was_away_gets_the_change_from_the_next_controller(world):
    world.add(5, is_broker=True)
    world.run(3000)
    world.kill(5)
    assert world.answer(4, create("a"), 7).topics[0].error_code == ErrorCode.NONE
    world.kill(world.leader())
    world.run(8000)
    world.add(5, is_broker=True)
    world.run(12_000)
    metadata = world.answer(5, metadata_request.MetadataRequest(topics=None), 12)
    assert [topic.name for topic in metadata.topics] == ["a"]


@pytest.mark.requirement("497-14")
def test_every_broker_shows_a_change_of_an_isr_as_soon_as_the_record_is_replayed():
    world = World(1, 3)
    world.run(8000)
    topic = create_topics_request.CreatableTopic(name="a", num_partitions=1, replication_factor=3)
    request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=5000)
    world.answer(2, request, 7)
    assert [isr_at(world, broker) for broker in (2, 3, 4)] == [{2, 3, 4}] * 3
    world.kill(4)
    for _ in range(300):
        world.run(100)
        if isr_of(world.nodes[1]) == {2, 3}:
            break
    assert [isr_at(world, broker) for broker in (2, 3)] == [{2, 3}] * 2, "without a minute's delay"


def isr_of(node):
    (partitions,) = node._committed.image.partitions.values()
    return set(partitions[0].isr)


def isr_at(world, broker):
    metadata = world.answer(broker, metadata_request.MetadataRequest(topics=None), 12, by_ms=200)
    return set(metadata.topics[0].partitions[0].isr_nodes)
