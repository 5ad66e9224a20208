"""Only the controller writes, and every broker gets the change in time (KIP-590 "Motivation")."""

import pytest

from kraftproof.node.core.effects import Append, Flush, Reply
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_response, metadata_request
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
