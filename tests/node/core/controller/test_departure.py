"""Brokers shut down, are unregistered and fenced: what becomes of ids and leaderships."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller import brokers
from kraftproof.node.core.controller.partitions import fencing
from kraftproof.node.core.controller.partitions.change import change_partition
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.node.core.controller.desk import (
    SESSION_NS,
    Desk,
    creation,
    heartbeat,
    incarnation_id,
    registration,
    unregistration,
)


@pytest.mark.requirement("631-60")
@pytest.mark.requirement("631-61")
def test_controlled_shutdown_moves_leaderships_then_grants_and_frees_the_id() -> None:
    desk = Desk.active(brokers=3)
    epoch = desk.image.brokers[1].epoch
    desk.ask(creation("t", replicas=((1, 2, 3),)))
    first = desk.ask(heartbeat(1, epoch, want_shut_down=True))
    assert not first.should_shut_down
    [partition] = desk.image.in_isr(2)
    assert (partition.leader, partition.isr) == (2, (2, 3))
    assert not desk.ask(heartbeat(1, epoch)).should_shut_down
    second = desk.ask(heartbeat(1, epoch, want_shut_down=True))
    assert second.should_shut_down
    assert desk.image.brokers[1].fenced
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.NONE


@pytest.mark.requirement("631-44")
@pytest.mark.requirement("631-60")
def test_fenced_broker_is_told_that_it_may_stop_before_its_id_is_free() -> None:
    """Seed 1 of the simulation: the id was free although the answer had not granted it."""
    desk = Desk.active(brokers=1)
    epoch = desk.image.brokers[1].epoch
    desk.ask(heartbeat(1, epoch, want_fence=True))
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert desk.ask(heartbeat(1, epoch, want_fence=True, want_shut_down=True)).should_shut_down
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.NONE


@pytest.mark.requirement("631-49")
def test_broker_in_controlled_shutdown_is_fenced_when_it_asks() -> None:
    """Seed 48 of the simulation: the wish was ignored once the shutdown had begun."""
    desk = Desk.active(brokers=1)
    epoch = desk.image.brokers[1].epoch
    assert not desk.ask(heartbeat(1, epoch, want_shut_down=True)).should_shut_down
    answer = desk.ask(heartbeat(1, epoch, want_fence=True))
    assert answer.is_fenced
    assert answer.should_shut_down


@pytest.mark.requirement("631-44")
def test_granted_shutdown_frees_the_id_after_a_failover_too() -> None:
    desk = Desk.active(brokers=1)
    for _ in range(2):
        desk.ask(heartbeat(1, desk.image.brokers[1].epoch, want_shut_down=True))
    desk.lose()
    desk.win()
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.NONE


@pytest.mark.requirement("631-61")
def test_leadership_does_not_go_to_a_broker_that_shuts_down_as_well() -> None:
    desk = Desk.active(brokers=3)
    desk.ask(creation("t", replicas=((1, 2, 3),)))
    for broker_id in (2, 1):
        desk.ask(heartbeat(broker_id, desk.image.brokers[broker_id].epoch, want_shut_down=True))
    [partition] = desk.image.in_isr(3)
    assert (partition.leader, partition.isr) == (3, (3,))
    desk.ask(creation("u", partitions=5, factor=3))
    new = desk.image.partitions_of(desk.image.topic_ids["u"])
    assert {(one.leader, one.isr) for one in new} == {(3, (3,))}


@pytest.mark.requirement("631-62")
@pytest.mark.requirement("631-63")
@pytest.mark.requirement("631-64")
def test_unregistered_broker_is_gone_and_may_register_anew() -> None:
    desk = Desk.active(brokers=2)
    desk.ask(creation("t", replicas=((1, 2),)))
    assert desk.ask(unregistration(1)).error_code == ErrorCode.NONE
    assert sorted(desk.image.brokers) == [2]
    [partition] = desk.image.in_isr(2)
    assert (partition.leader, partition.isr) == (2, (2,))
    assert not desk.image.leads_any(1)
    again = desk.ask(unregistration(1))
    assert again.error_code == ErrorCode.NONE
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.NONE
    batches = desk.raft.log.read(0, 1 << 40)
    removed = [
        r for b in batches for r in b.records if isinstance(r, records.UnregisterBrokerRecord)
    ]
    assert len(removed) == 1


@pytest.mark.requirement("631-39")
def test_broker_that_falls_silent_is_fenced_and_stays_registered() -> None:
    desk = Desk.active()
    desk.ask(heartbeat(1, desk.ask(registration(1, rack="r1")).broker_epoch))
    before = desk.image.brokers[1]
    assert not before.fenced
    desk.tick(desk.monotonic + SESSION_NS)
    desk.commit()
    assert desk.image.brokers[1] == replace(before, fenced=True)
    desk.lose()
    desk.win()
    assert desk.image.brokers[1] == replace(before, fenced=True)
    restarted = Desk()
    for batch in desk.raft.log.read(0, 1 << 40):
        restarted.raft.log.append(batch)
    restarted.raft.epoch = desk.raft.epoch
    restarted.commit()
    restarted.win()
    assert restarted.image.brokers[1] == replace(before, fenced=True)


@pytest.mark.requirement("631-39")
def test_crashed_broker_stays_registered_and_fenced_with_what_it_told() -> None:
    desk = Desk.active()
    desk.ask(registration(1, rack="r1"))
    desk.lose()
    desk.win()
    broker = desk.image.brokers[1]
    assert (broker.fenced, broker.rack, broker.endpoints[0].port) == (True, "r1", 9001)
    assert broker.features[0].name == "metadata.version"


def led_by_another(*, in_controlled_shutdown: bool = False):
    """Broker 1 is fenced or shuts down, and yet in the ISR: no controller of ours writes that."""
    topic_id = incarnation_id(9)
    leader = 1 if in_controlled_shutdown else 2
    return apply_all(
        EMPTY_IMAGE,
        (
            records.RegisterBrokerRecord(
                broker_id=1,
                broker_epoch=1,
                fenced=not in_controlled_shutdown,
                in_controlled_shutdown=in_controlled_shutdown,
            ),
            records.RegisterBrokerRecord(broker_id=2, broker_epoch=2, fenced=False),
            records.TopicRecord(name="t", topic_id=topic_id),
            records.PartitionRecord(
                partition_id=0, topic_id=topic_id, replicas=(1, 2), isr=(1, 2), leader=leader
            ),
        ),
    )


@pytest.mark.requirement("631-60")
def test_shutdown_is_not_granted_to_a_broker_that_still_leads() -> None:
    image = led_by_another(in_controlled_shutdown=True)
    outcome = brokers.heartbeat(image, heartbeat(1, 1, want_shut_down=True))
    assert (outcome.reply.should_shut_down, outcome.records) == (False, ())


@pytest.mark.requirement("631-54")
def test_unfenced_broker_takes_no_leadership_that_another_has() -> None:
    image = led_by_another()
    assert len(fencing.unfence(image, image.brokers[1])) == 1


@pytest.mark.requirement("631-53")
def test_only_a_broker_that_may_lead_is_elected() -> None:
    for isr, leader in (((1, 2), 2), ((1,), -1), ((3,), -1)):
        image = led_by_another()
        was = Partition(topic_id=b"t" * 16, index=0, replicas=(1, 2, 3), isr=isr, leader=NodeId(9))
        record = change_partition(image, was, image.may_lead)
        assert record is not None
        assert record.leader == leader
