"""Whole nodes: 10,000 records in one batch, and the cluster goes on meanwhile."""

import pytest

from kraftproof.node.core.effects import Publish, Reply
from kraftproof.node.core.events import Tick
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request, fetch_response, vote_request
from tests.node.core.test_node import World


@pytest.fixture
def world() -> World:
    world = World(3, 1)
    world.run(8000)
    return world


def test_a_large_topic_unseats_no_leader_and_shows_at_once_everywhere(world):
    leader, epoch = world.leader(), world.nodes[world.leader()].status().epoch
    topic = create_topics_request.CreatableTopic(
        name="large", num_partitions=9_999, replication_factor=1
    )
    request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=5000)
    answered = len(world.effects)
    answer = world.answer(4, request, 7)
    assert [(t.name, t.error_code) for t in answer.topics] == [("large", ErrorCode.NONE)]
    replies = [effect for n, effect in world.effects[answered:] if n == leader]
    assert any(
        isinstance(e, Reply) and isinstance(e.message, fetch_response.FetchResponse)
        for e in replies
    )
    shown = {
        len(effect.image.partitions_of(topic.topic_id))
        for _, effect in world.effects[answered:]
        if isinstance(effect, Publish)
        for topic in effect.image.sorted_topics()
    }
    assert shown == {9_999}
    world.run(1000)
    assert world.leader() == leader
    assert {node.status().epoch for node in world.nodes.values()} == {epoch}
    assert len({node.status().image_digest for node in world.nodes.values()}) == 1


def test_leadership_lost_amid_a_large_batch_leaves_no_node_busy(world):
    leader = world.leader()
    node, topic = (
        world.nodes[leader],
        create_topics_request.CreatableTopic(
            name="large", num_partitions=9_999, replication_factor=1
        ),
    )
    request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=5000)
    world.request(leader, request, 7)
    node_id, event = world.events.pop()
    world.step(node_id, event)
    assert node.deadline() == 0, "the batch is not applied yet"
    status = node.status()
    candidate = vote_request.PartitionData(
        replica_id=next(n for n in (1, 2, 3) if n != leader),
        replica_epoch=status.epoch + 1,
        last_offset=status.log_end,
        last_offset_epoch=status.epoch,
    )
    data = vote_request.TopicData(topic_name="__cluster_metadata", partitions=(candidate,))
    world.request(leader, vote_request.VoteRequest(cluster_id="cluster", topics=(data,)), 1)
    node_id, event = world.events.pop()
    world.step(node_id, event)
    assert node.status().role != "leader"
    world.step(leader, Tick())
    assert node.deadline() != 0, "there is nothing to do at once"
    world.run(5000)
    assert len({node.status().image_digest for node in world.nodes.values()}) == 1
