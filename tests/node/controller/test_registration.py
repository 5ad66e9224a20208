"""Brokers register, heartbeat, expire, shut down and go: what the controller makes of it."""

import pytest

from node.core.controller import brokers, fencing
from node.core.metadata.apply import apply_all
from node.core.metadata.image import EMPTY_IMAGE
from node.wire.errors import ErrorCode
from node.wire.messages import metadata as records
from tests.node.controller.desk import (
    SESSION_NS,
    Desk,
    creation,
    heartbeat,
    incarnation_id,
    registration,
    unregistration,
)


@pytest.mark.requirement("631-42")
def test_broker_epoch_is_the_next_log_offset_and_grows() -> None:
    desk = Desk.active()
    offset = desk.raft.log.end_offset
    first = desk.ask(registration(1))
    assert (first.error_code, first.broker_epoch) == (ErrorCode.NONE, offset)
    desk.monotonic += SESSION_NS
    second = desk.ask(registration(1, incarnation=2))
    assert second.broker_epoch > first.broker_epoch


@pytest.mark.requirement("631-42")
def test_same_incarnation_gets_the_same_epoch_and_writes_nothing_new() -> None:
    desk = Desk.active()
    first = desk.ask(registration(1))
    digest = desk.image.digest
    assert desk.ask(registration(1)).broker_epoch == first.broker_epoch
    assert desk.image.digest == digest


@pytest.mark.requirement("631-43")
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (registration(1, cluster="another"), ErrorCode.INCONSISTENT_CLUSTER_ID),
        (registration(1, level=3), ErrorCode.UNSUPPORTED_VERSION),
        (registration(-1), ErrorCode.INVALID_REQUEST),
    ],
)
def test_unacceptable_registration_registers_nothing(request_, error) -> None:
    desk = Desk.active()
    answer = desk.ask(request_)
    assert (answer.error_code, answer.broker_epoch) == (error, -1)
    assert not desk.image.brokers


@pytest.mark.requirement("631-44")
@pytest.mark.parametrize("unfenced", [True, False])
def test_other_incarnation_is_refused_until_a_session_without_contact(unfenced) -> None:
    desk = Desk.active()
    epoch = desk.join(1) if unfenced else desk.ask(registration(1)).broker_epoch
    desk.monotonic += SESSION_NS - 1
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert desk.image.brokers[1].epoch == epoch
    desk.ask(heartbeat(1, epoch, want_fence=not unfenced))
    desk.monotonic += SESSION_NS - 1
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    desk.monotonic += 1
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.NONE
    assert desk.image.brokers[1].fenced


@pytest.mark.requirement("631-44")
def test_refused_incarnation_does_not_renew_the_lease_of_the_live_one() -> None:
    desk = Desk.active()
    desk.join(1)
    desk.monotonic += SESSION_NS - 1
    desk.ask(registration(1, 2))
    desk.monotonic += 1
    assert desk.ask(registration(1, 2)).error_code == ErrorCode.NONE


@pytest.mark.requirement("631-53")
def test_new_incarnation_that_overtakes_the_fencing_moves_the_leaderships_too() -> None:
    desk = Desk.active()
    desk.join(1)
    desk.ask(creation("t", replicas=((1,),)))
    desk.monotonic += SESSION_NS
    desk.ask(registration(1, 2))
    [partition] = desk.image.in_isr(1)
    assert (partition.leader, partition.leader_epoch) == (-1, 1)


@pytest.mark.requirement("631-52")
def test_stale_or_unknown_epoch_gets_no_lease() -> None:
    desk = Desk.active()
    epoch = desk.join(1)
    desk.monotonic += SESSION_NS - 1
    for stale in (heartbeat(1, epoch - 1), heartbeat(1, epoch + 1), heartbeat(2, 0)):
        assert desk.ask(stale).error_code == ErrorCode.STALE_BROKER_EPOCH
    desk.tick(desk.monotonic + 1)
    desk.commit()
    assert desk.image.brokers[1].fenced


@pytest.mark.requirement("631-48")
@pytest.mark.requirement("631-49")
def test_unfencing_needs_caught_up_metadata_and_the_brokers_wish() -> None:
    desk = Desk.active()
    epoch = desk.ask(registration(1)).broker_epoch
    behind = desk.ask(heartbeat(1, epoch, at=epoch - 1))
    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    starting = desk.ask(heartbeat(1, epoch, at=epoch, want_fence=True))
    assert (starting.is_caught_up, starting.is_fenced) == (True, True)
    ready = desk.ask(heartbeat(1, epoch, at=epoch))
    assert (ready.is_caught_up, ready.is_fenced) == (True, False)
    assert not desk.image.brokers[1].fenced


@pytest.mark.requirement("631-49")
def test_unfencing_is_answered_only_once_committed() -> None:
    desk = Desk.active()
    epoch = desk.ask(registration(1)).broker_epoch
    request = desk.send(heartbeat(1, epoch))
    assert desk.replies() == []
    assert [reply.request for reply in desk.commit()] == [request]


@pytest.mark.requirement("631-50")
@pytest.mark.requirement("631-51")
def test_silent_broker_is_fenced_by_record_and_unfenced_by_its_next_heartbeat() -> None:
    desk = Desk.active()
    epoch = desk.join(1)
    deadline = desk.controller.deadline()
    assert deadline == desk.monotonic + SESSION_NS
    desk.tick(deadline - 1)
    desk.commit()
    assert not desk.image.brokers[1].fenced
    desk.tick(deadline)
    assert not desk.image.brokers[1].fenced
    desk.commit()
    assert desk.image.brokers[1].fenced
    assert not desk.ask(heartbeat(1, epoch)).is_fenced
    assert desk.image.brokers[1].epoch == epoch


@pytest.mark.requirement("631-50")
def test_steps_of_the_wall_clock_neither_end_nor_lengthen_a_lease() -> None:
    desk = Desk.active()
    desk.join(1)
    deadline = desk.controller.deadline()
    desk.wall += 10**15
    desk.tick(deadline - 1)
    desk.commit()
    assert not desk.image.brokers[1].fenced
    desk.wall -= 10**16
    desk.tick(deadline)
    desk.commit()
    assert desk.image.brokers[1].fenced


@pytest.mark.requirement("631-50")
def test_new_active_controller_gives_every_broker_a_full_lease() -> None:
    desk = Desk.active()
    desk.join(1)
    desk.ask(registration(2))
    desk.lose()
    desk.monotonic += 10 * SESSION_NS
    desk.win()
    assert desk.controller.deadline() == desk.monotonic + SESSION_NS
    for broker_id in (1, 2):
        refused = desk.ask(registration(broker_id, 2))
        assert refused.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    desk.tick(desk.monotonic + SESSION_NS)
    desk.commit()
    assert desk.image.brokers[1].fenced


@pytest.mark.requirement("631-53")
def test_two_brokers_that_expire_at_once_do_not_overwrite_each_other() -> None:
    desk = Desk.active(brokers=3)
    desk.ask(creation("t", replicas=((1, 2, 3),)))
    desk.monotonic += SESSION_NS - 1
    desk.ask(heartbeat(3, desk.image.brokers[3].epoch))
    desk.tick(desk.monotonic + 1)
    desk.commit()
    [partition] = desk.image.in_isr(3)
    assert (partition.isr, partition.leader) == ((3,), 3)
    assert partition.leader_epoch == 2


@pytest.mark.requirement("631-53")
@pytest.mark.requirement("631-54")
def test_last_isr_member_stays_without_a_leader_and_leads_again() -> None:
    desk = Desk.active(brokers=2)
    desk.ask(creation("t", replicas=((1, 2),)))
    desk.tick(desk.monotonic + SESSION_NS)
    desk.commit()
    [partition] = desk.image.in_isr(2)
    assert (partition.isr, partition.leader) == ((2,), -1)
    assert desk.image.in_isr(1) == []
    desk.ask(heartbeat(2, desk.image.brokers[2].epoch))
    [again] = desk.image.in_isr(2)
    assert (again.leader, again.leader_epoch) == (2, partition.leader_epoch + 1)


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
    assert fencing.elect(led_by_another(), (1, 2), (1, 2)) == 2
    assert fencing.elect(led_by_another(), (1, 2), (1,)) == -1
    assert fencing.elect(led_by_another(), (1, 2, 3), (3,)) == -1
