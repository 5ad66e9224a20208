"""The sender of AlterPartition: batches, one request in flight, lost answers, controllers."""

import pytest

from kraftproof.node.core.effects import Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import alter_partition_request, alter_partition_response
from tests.support.node.data_world import DataWorld

Request = alter_partition_request.AlterPartitionRequest
Response = alter_partition_response.AlterPartitionResponse


def proposals(world, node=1):
    return [
        effect
        for sender, effect in world.effects
        if sender == node and isinstance(effect, Send) and isinstance(effect.message, Request)
    ]


def rejoining(partitions=3, decide=None):
    """A world whose broker 3 has just come back and catches up."""
    world = DataWorld(partitions=partitions)
    world.run(100)
    world.kill(3)
    world.fence(3)
    world.publish()
    world.run(100)
    if decide is not None:
        world.decide = decide(world, world.decide)
    world.restart(3)
    world.publish()
    return world


@pytest.mark.requirement("497-10")
def test_the_partitions_that_one_fetch_brings_into_sync_go_in_one_request():
    world = rejoining()
    world.run(1500)
    (request,) = proposals(world)
    assert request.version == 3
    (topic,) = request.message.topics
    assert [part.partition_index for part in topic.partitions] == [0, 1, 2]
    assert all(part.isr == (1, 2, 3) for part in world.image.partitions[topic.topic_id].values())


@pytest.mark.requirement("497-11")
def test_each_member_is_named_with_the_broker_epoch_of_its_last_fetch():
    world = rejoining(1)
    world.run(1500)
    (part,) = proposals(world)[0].message.topics[0].partitions
    epochs = {entry.broker_id: entry.broker_epoch for entry in part.new_isr_with_epochs}
    assert epochs == {node: world.image.brokers[node].epoch for node in (1, 2, 3)}
    assert (part.partition_epoch, part.leader_epoch) == (1, 0)


def refusing(error, times, *, applies=False):
    def decorate(world, decide):
        left = [times]

        def refuse(message):
            if left[0] and isinstance(message, Request):
                left[0] -= 1
                if applies:
                    decide(message)
                return Response(error_code=error)
            return decide(message)

        return refuse

    return decorate


@pytest.mark.parametrize("error", [ErrorCode.NOT_CONTROLLER, ErrorCode.STALE_BROKER_EPOCH])
def test_a_refused_request_is_sent_again_until_the_controller_decides(error):
    world = rejoining(1, refusing(error, 3))
    world.run(2000)
    assert len(proposals(world)) == 4
    assert world.partition.isr == (1, 2, 3)


def test_a_proposal_whose_answer_was_lost_may_be_applied_and_stays_open():
    world = rejoining(1, refusing(ErrorCode.UNKNOWN_SERVER_ERROR, 1, applies=True))
    leader = world.brokers[1].replica.leader
    world.run(1500)
    assert world.partition.isr == (1, 2, 3)
    assert leader.isr.is_pending, "the second answer was INVALID_UPDATE_VERSION"
    assert leader.isr.maximal == {1, 2, 3}
    world.publish()
    assert not leader.isr.is_pending
    assert leader.isr.committed == (1, 2, 3)


@pytest.mark.requirement("497-11")
def test_a_new_controller_gets_the_proposal_of_an_unanswered_request():
    world = rejoining(1)
    held = None
    while held is None:
        held = step_to_proposal(world)
    world.run(500)
    assert world.partition.isr == (1, 2)
    world.controller = 101
    world.publish()
    world.run(500)
    assert world.partition.isr == (1, 2, 3)
    assert set(world.brokers[1].replica.leader.isr.maximal) == {1, 2, 3}


def test_a_late_refusal_of_a_former_controller_does_not_end_the_proposal():
    """The new controller may have accepted the same proposal, with its answer under way."""
    world = rejoining(1)
    held = None
    while held is None:
        held = step_to_proposal(world)
    world.controller = 101
    world.publish()
    again = None
    while again is None:
        again = step_to_proposal(world)
    leader = world.brokers[1].replica.leader
    world.decide(again[1].message)
    result = alter_partition_response.PartitionData(
        partition_index=0, error_code=ErrorCode.INELIGIBLE_REPLICA
    )
    topic_id = again[1].message.topics[0].topic_id
    topic = alter_partition_response.TopicData(topic_id=topic_id, partitions=(result,))
    held[0].outbox.resume(held[1].correlation, Response(topics=(topic,)), world.now)
    held[0].advance()
    assert leader.isr.maximal == {1, 2, 3}


def step_to_proposal(world):
    """Deliver until a proposal is about to leave, and take it off; None if time must pass."""
    for place, (_, item) in enumerate(world.queue):
        if is_proposal(item):
            taken = world.queue[place]
            del world.queue[place]
            return taken
    busy = [place for place, entry in enumerate(world.queue) if world._is_ready(entry)]
    if busy:
        world.deliver(busy[0])
    else:
        world.time_ms += 10
        for broker in world.brokers.values():
            if broker.is_up:
                broker.tick()
    return None


def is_proposal(item):
    return isinstance(item, Send) and isinstance(item.message, Request)
