"""Brokers register, heartbeat, expire, shut down and go: what the controller makes of it."""

import pytest
from msgspec.structs import replace

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import broker_registration_request
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, RegisterBrokerRecord
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.node.core.controller.desk import (
    SESSION_NS,
    Desk,
    creation,
    heartbeat,
    incarnation_id,
    registration,
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
def test_same_incarnation_gets_the_same_epoch_and_the_same_registration() -> None:
    desk = Desk.active()
    first = desk.ask(registration(1))
    digest, end = desk.image.digest, desk.raft.log.end_offset
    assert desk.ask(registration(1)).broker_epoch == first.broker_epoch
    assert desk.image.digest == digest
    [batch] = desk.raft.log.read(end, 1 << 20)
    [record] = batch.records
    assert isinstance(record, RegisterBrokerRecord), "as with Kafka, the record is written again"


@pytest.mark.requirement("631-42")
@pytest.mark.parametrize("stops", [False, True], ids=["unfenced", "in controlled shutdown"])
def test_same_incarnation_amends_its_registration_and_keeps_its_standing(stops) -> None:
    desk = Desk.active(brokers=1)
    epoch = desk.image.brokers[1].epoch
    desk.ask(creation("t"))
    if stops:
        desk.ask(heartbeat(1, epoch, want_shut_down=True))
    was = desk.image.brokers[1]
    partitions = desk.image.in_isr(1)
    assert desk.ask(registration(1, rack="r2")).broker_epoch == epoch
    assert desk.image.brokers[1] == replace(was, rack="r2")
    assert (was.fenced, was.in_controlled_shutdown) == (False, stops)
    assert desk.image.in_isr(1) == partitions


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


OTHER_FEATURE = broker_registration_request.Feature(
    name="other", min_supported_version=1, max_supported_version=2
)


@pytest.mark.requirement("631-43")
@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"log_dirs": ()}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (ZERO_UUID,)}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (Uuid((99).to_bytes(16, "big")),)}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (incarnation_id(7),) * 2}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": registration(1).log_dirs}, ErrorCode.INVALID_REGISTRATION),
        ({"features": ()}, ErrorCode.INVALID_REGISTRATION),
        ({"features": (OTHER_FEATURE,)}, ErrorCode.UNSUPPORTED_VERSION),
        (
            {"features": (*registration(2).features, OTHER_FEATURE)},
            ErrorCode.UNSUPPORTED_VERSION,
        ),
        ({"is_migrating_zk_broker": True}, ErrorCode.BROKER_ID_NOT_REGISTERED),
    ],
)
def test_a_registration_is_judged_as_kafka_does(changed, error) -> None:
    desk = Desk.active()
    desk.ask(registration(1))
    answer = desk.ask(replace(registration(2), **changed))
    assert (answer.error_code, answer.broker_epoch) == (error, -1)
    assert sorted(desk.image.brokers) == [1]


@pytest.mark.requirement("631-43")
def test_a_broker_that_lacks_a_finalized_feature_is_refused() -> None:
    desk = Desk.active()
    desk.lose()
    desk.raft.replicate((FeatureLevelRecord(name="other", feature_level=2),))
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
    answer = desk.ask(registration(2))
    assert (answer.error_code, answer.broker_epoch) == (ErrorCode.UNSUPPORTED_VERSION, -1)
    has_it = replace(registration(2), features=(*registration(2).features, OTHER_FEATURE))
    assert desk.ask(has_it).error_code == ErrorCode.NONE
    assert sorted(desk.image.brokers) == [2]


def test_registered_directories_are_kept_in_the_image() -> None:
    desk = Desk.active()
    desk.ask(registration(1, log_dirs=(Uuid((100).to_bytes(16, "big")), incarnation_id(9))))
    assert desk.image.brokers[1].log_dirs == (Uuid((100).to_bytes(16, "big")), incarnation_id(9))


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
