"""Registrations, heartbeats, unregistrations and fencings of brokers, right and wrong."""

import pytest
from msgspec.structs import replace

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.errors import Code
from tests.checkers.kraft.specification.cluster import (
    CLUSTER,
    IMAGE,
    OFFSET,
    changed,
    image,
    moved,
    registered,
    wrong_answer,
    wrong_records,
)

LEFT_2 = (moved(0, isr=(1,)), moved(1, isr=(3,), leader=3))
LEFT_3 = (moved(1, isr=(2,)), moved(2, leader=-1))
FENCED_2 = image(changed(2, fenced=1), *LEFT_2)
FENCED_3 = image(changed(3, fenced=1), *LEFT_3)
LEVELS = rows.Feature(name="metadata.version", min_supported_version=1, max_supported_version=21)


def registering(broker_id, *, incarnation=b"j" * 16, **changes):
    fields = {
        "cluster_id": CLUSTER,
        "features": (LEVELS,),
        "log_dirs": (bytes([broker_id % 200]) * 16,),
        **changes,
    }
    return rows.BrokerRegistrationRequest(broker_id=broker_id, incarnation_id=incarnation, **fields)


def record(broker_id, **changes):
    fields = {"epoch": OFFSET, "incarnation": b"j" * 16, "fenced": True, **changes}
    return replace(registered(broker_id, **fields), features=(LEVELS,))


def test_a_new_broker_is_registered_and_fenced():
    asked, made = registering(4), record(4)
    assert wrong_records(asked, made) is None
    right = rows.BrokerRegistrationResponse(broker_epoch=OFFSET)
    assert wrong_answer(asked, (made,), right) is None
    assert "is answered" in wrong_answer(asked, (made,), replace(right, broker_epoch=1))
    for wrong in (
        record(4, epoch=OFFSET + 1),
        record(4, fenced=False),
        record(4, rack="r"),
        record(5),
        replace(made, features=()),
    ):
        assert wrong_records(asked, wrong) is not None


def test_a_new_incarnation_takes_the_old_one_out_of_its_partitions():
    assert wrong_records(registering(2), record(2), *LEFT_2) is None
    assert "ISR" in wrong_records(registering(2), record(2))


def test_the_same_incarnation_keeps_epoch_and_state():
    asked = registering(2, incarnation=b"i" * 16)
    assert wrong_records(asked, record(2, epoch=2, incarnation=b"i" * 16, fenced=False)) is None
    assert wrong_records(asked, record(2, incarnation=b"i" * 16, fenced=False)) is not None
    assert wrong_records(asked, record(2, epoch=2, incarnation=b"i" * 16)) is not None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "other"}, Code.INCONSISTENT_CLUSTER_ID),
        ({"features": ()}, Code.INVALID_REGISTRATION),
        ({"log_dirs": ()}, Code.INVALID_REGISTRATION),
        ({"log_dirs": (b"\1" * 16,)}, Code.INVALID_REGISTRATION),
        ({"log_dirs": (bytes(16),)}, Code.INVALID_REGISTRATION),
        ({"is_migrating_zk_broker": True}, Code.BROKER_ID_NOT_REGISTERED),
        ({"features": (replace(LEVELS, max_supported_version=20),)}, Code.UNSUPPORTED_VERSION),
    ],
)
def test_a_registration_is_refused_for_a_true_cause(changes, code):
    asked = registering(4, **changes)
    assert wrong_records(asked) is None
    assert "in spite" in wrong_records(asked, record(4))
    assert wrong_answer(asked, (), rows.BrokerRegistrationResponse(error_code=code)) is None
    other = rows.BrokerRegistrationResponse(error_code=Code.INVALID_CONFIG)
    assert "applies" in wrong_answer(asked, (), other)


def test_a_free_id_is_not_called_a_duplicate():
    duplicate = rows.BrokerRegistrationResponse(error_code=Code.DUPLICATE_BROKER_REGISTRATION)
    assert wrong_answer(registering(2), (), duplicate) is None
    assert "applies" in wrong_answer(registering(4), (), duplicate)
    gone = image(changed(2, fenced=1, leaves=1), *LEFT_2)
    assert "applies" in wrong_answer(registering(2), (), duplicate, before=gone)


def beating(broker_id, *, epoch=None, offset=OFFSET, fence=False, stop=False):
    return rows.BrokerHeartbeatRequest(
        broker_id=broker_id,
        broker_epoch=broker_id if epoch is None else epoch,
        current_metadata_offset=offset,
        want_fence=fence,
        want_shut_down=stop,
    )


def state(*, caught_up=True, fenced=False, stop=False, code=0):
    return rows.BrokerHeartbeatResponse(
        error_code=code, is_caught_up=caught_up, is_fenced=fenced, should_shut_down=stop
    )


def test_a_plain_heartbeat_changes_nothing():
    assert wrong_records(beating(2)) is None
    assert wrong_answer(beating(2), (), state()) is None
    assert "is true" in wrong_answer(beating(2), (), state(fenced=True))
    assert wrong_records(beating(2), changed(2, fenced=1), *LEFT_2) is not None


def test_a_heartbeat_of_another_epoch_is_stale():
    asked, stale = beating(2, epoch=9), state(code=Code.STALE_BROKER_EPOCH)
    assert wrong_records(asked) is None
    assert wrong_answer(asked, (), stale) is None
    assert wrong_answer(asked, (), state()) is not None
    assert wrong_answer(beating(2), (), stale) is not None
    assert wrong_records(asked, changed(2, fenced=1), *LEFT_2) is not None


def test_a_broker_asks_to_be_fenced():
    asked, written = beating(2, fence=True), (changed(2, fenced=1), *LEFT_2)
    assert wrong_records(asked, *written) is None
    assert wrong_answer(asked, written, state(fenced=True)) is None
    assert "is unfenced" in wrong_records(asked)


@pytest.mark.parametrize(
    ("moves", "complaint"),
    [
        pytest.param(LEFT_2[1:], "has the ISR", id="a partition is forgotten"),
        pytest.param((LEFT_2[0], moved(1, isr=(3,))), "led by 2", id="it still leads"),
        pytest.param((LEFT_2[0], moved(1, isr=(3,), leader=-1)), "no leader", id="no election"),
        pytest.param((LEFT_2[0], moved(1, isr=(3,), leader=1)), "led by 1", id="not in the ISR"),
        pytest.param((*LEFT_2, moved(2, leader=-1)), "lost its leader", id="another's partition"),
        pytest.param((*LEFT_2, moved(0, isr=(1,))), "changed 2 times", id="a change too many"),
    ],
)
def test_partitions_of_a_broker_that_is_fenced(moves, complaint):
    assert complaint in wrong_records(beating(2, fence=True), changed(2, fenced=1), *moves)
    assert complaint in wrong_records(None, changed(2, fenced=1), *moves)


def test_the_last_member_of_an_isr_stays_without_a_leader():
    assert wrong_records(None, changed(3, fenced=1), *LEFT_3) is None
    emptied = (LEFT_3[0], moved(2, isr=(), leader=-1))
    assert "has the ISR" in wrong_records(None, changed(3, fenced=1), *emptied)


def test_a_broker_that_has_caught_up_is_unfenced_and_leads_again():
    asked, written = beating(3), (changed(3, fenced=-1), moved(2, leader=3))
    assert wrong_records(asked, *written, before=FENCED_3) is None
    assert "no leader" in wrong_records(asked, written[0], before=FENCED_3)
    assert "is fenced" in wrong_records(asked, before=FENCED_3)
    late = beating(3, offset=2)
    assert wrong_records(late, before=FENCED_3) is None
    assert wrong_answer(late, (), state(caught_up=False, fenced=True), before=FENCED_3) is None
    assert wrong_records(late, *written, before=FENCED_3) is not None


def test_a_controlled_shutdown_moves_leaderships_before_it_is_granted():
    asked, begun = beating(2, stop=True), (changed(2, leaves=1), *LEFT_2)
    assert wrong_records(asked, *begun) is None
    assert wrong_answer(asked, begun, state()) is None
    assert "is true" in wrong_answer(asked, begun, state(stop=True))
    assert "led by 2" in wrong_records(
        asked, changed(2, leaves=1), moved(0, isr=(1,)), moved(1, isr=(3,))
    )
    leaving = image(*begun)
    assert wrong_records(asked, changed(2, fenced=1), before=leaving) is None
    granted = state(fenced=True, stop=True)
    assert wrong_answer(asked, (changed(2, fenced=1),), granted, before=leaving) is None


def test_a_shutdown_is_not_granted_to_a_leader():
    leads = image(changed(2, leaves=1))
    assert "not unfenced and shutting down" in wrong_records(
        beating(2, stop=True), changed(2, fenced=1), *LEFT_2, before=leads
    )


def test_a_broker_is_unregistered():
    asked = rows.UnregisterBrokerRequest(broker_id=2)
    made = rows.UnregisterBrokerRecord(broker_id=2, broker_epoch=2)
    assert wrong_records(asked, made, *LEFT_2) is None
    assert "has the ISR" in wrong_records(asked, made)
    assert "has written nothing" in wrong_records(asked)
    other = rows.UnregisterBrokerRecord(broker_id=1, broker_epoch=1)
    assert "not 2" in wrong_records(asked, other, moved(0, isr=(2,), leader=2))
    done = rows.UnregisterBrokerResponse()
    assert wrong_answer(asked, (made,), done) is None
    unknown = replace(done, error_code=Code.BROKER_ID_NOT_REGISTERED)
    assert wrong_answer(asked, (made,), unknown) is not None
    nobody = rows.UnregisterBrokerRequest(broker_id=9)
    assert wrong_records(nobody) is None
    assert wrong_answer(nobody, (), unknown) is None


@pytest.mark.parametrize(
    ("written", "before"),
    [
        pytest.param((changed(2, fenced=-1),), FENCED_2, id="unfenced"),
        pytest.param((changed(2, leaves=1), *LEFT_2), IMAGE, id="shut down"),
        pytest.param((changed(2, fenced=1),), FENCED_2, id="fenced twice"),
        pytest.param((moved(0, isr=(2,), leader=2),), IMAGE, id="a partition changes"),
        pytest.param((record(4),), IMAGE, id="a registration"),
        pytest.param((rows.AbortTransactionRecord(),), IMAGE, id="no transaction is open"),
        pytest.param((rows.OtherRecord(kind="ProducerIdsRecord"),), IMAGE, id="another record"),
        pytest.param(
            (rows.FeatureLevelRecord(name="metadata.version", feature_level=22),),
            IMAGE,
            id="a level",
        ),
    ],
)
def test_a_controller_writes_nothing_else_without_a_request(written, before):
    if not isinstance(written[0], rows.AbortTransactionRecord):
        assert wrong_records(None, *written, before=before) is not None
    else:
        with pytest.raises(ValueError, match="none is open"):
            wrong_records(None, *written, before=before)


def test_two_brokers_are_fenced_in_one_batch():
    written = (
        changed(2, fenced=1),
        *LEFT_2,
        changed(3, fenced=1),
        moved(1, leader=-1),
        moved(2, leader=-1),
    )
    assert wrong_records(None, *written) is None
