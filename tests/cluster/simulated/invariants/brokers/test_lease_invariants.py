"""Each invariant of broker epochs and leases goes red at what it forbids."""

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.brokers.leases import (
    CurrentEpochsOnly,
    OneIncarnationPerSession,
)
from kraftproof.cluster.simulated.invariants.brokers.sessions import (
    LOOK_EACH_NS,
    TICK_NS,
    FencedInTime,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    SESSION_NS,
    MonitorHarness,
    batch_of,
    broker,
    image_of,
)


class Leasing:
    """An active controller with broker 4 registered at its epoch."""

    def __init__(self, *make):
        self.committed_log = CommittedLog()
        self.registry = Registry(self.committed_log)
        self.harness = MonitorHarness(*(invariant(self.registry) for invariant in make))
        self.process = self.harness.process(1)
        self.process.leads(1)
        self.register(0, b"a")

    def register(self, epoch, incarnation, offset=None):
        record = broker(4, epoch, incarnation=incarnation)
        batch = batch_of(epoch if offset is None else offset, 1, record)
        self.committed_log.commit(batch, 1, self.harness.now_ns)
        self.process.steps()

    def heartbeat(self, epoch, error=ErrorCode.NONE, **wants):
        request = broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=4, broker_epoch=epoch, **wants
        )
        event = self.process.receives(request)
        answer = broker_heartbeat_response.BrokerHeartbeatResponse(error_code=error)
        self.process.replies(event, answer)

    def registration(self, epoch, incarnation, error=ErrorCode.NONE):
        request = broker_registration_request.BrokerRegistrationRequest(
            broker_id=4, incarnation_id=Uuid(incarnation * 16)
        )
        event = self.process.receives(request)
        answer = broker_registration_response.BrokerRegistrationResponse(
            broker_epoch=epoch, error_code=error
        )
        self.process.replies(event, answer)

    @property
    def reported(self):
        return self.harness.reported


def test_a_heartbeat_under_an_epoch_that_was_superseded():
    leasing = Leasing(CurrentEpochsOnly)
    leasing.heartbeat(0)
    leasing.register(7, b"b")
    leasing.heartbeat(7)
    leasing.heartbeat(0, ErrorCode.STALE_BROKER_EPOCH)
    assert leasing.reported == []
    leasing.heartbeat(0)
    assert leasing.reported == ["broker 4: accepted epoch 0, but at least 7 is current"]


def test_a_heartbeat_after_the_broker_was_unregistered():
    leasing = Leasing(CurrentEpochsOnly)
    gone = records.UnregisterBrokerRecord(broker_id=4, broker_epoch=0)
    leasing.committed_log.commit(batch_of(1, 1, gone), 1, 0)
    leasing.heartbeat(0)
    assert leasing.reported == ["broker 4: accepted epoch 0, but at least 1 is current"]


def test_a_registration_that_is_given_anothers_epoch():
    leasing = Leasing(CurrentEpochsOnly)
    leasing.registration(0, b"a")
    assert leasing.reported == []
    leasing.registration(0, b"b")
    assert len(leasing.reported) == 1


def living(registry):
    return OneIncarnationPerSession(CONFIG, registry)


def test_a_second_incarnation_within_the_session_of_the_first():
    leasing = Leasing(CurrentEpochsOnly, living)
    leasing.heartbeat(0)
    leasing.harness.now_ns += SESSION_NS
    leasing.register(7, b"b")
    assert leasing.reported == []
    leasing.heartbeat(7)
    leasing.harness.now_ns += SESSION_NS - 1
    leasing.register(9, b"c")
    assert leasing.reported == ["broker 4: id reassigned 2.000 s after a contact"]


def test_an_id_is_free_when_its_broker_has_left_even_if_it_was_not_told():
    leasing = Leasing(CurrentEpochsOnly, living)
    leasing.heartbeat(0)
    leaves = records.BrokerRegistrationChangeRecord(
        broker_id=4, broker_epoch=0, in_controlled_shutdown=1
    )
    leasing.committed_log.commit(batch_of(5, 1, leaves), 1, 0)
    leasing.committed_log.commit(batch_of(6, 1, FENCES), 1, 0)
    leasing.register(7, b"b")
    assert leasing.reported == []


def test_an_id_is_free_when_a_broker_that_was_fenced_leaves():
    leasing = Leasing(CurrentEpochsOnly, living)
    leasing.heartbeat(0)
    leasing.committed_log.commit(batch_of(5, 1, FENCES), 1, 0)
    leaves = records.BrokerRegistrationChangeRecord(
        broker_id=4, broker_epoch=0, in_controlled_shutdown=1
    )
    leasing.committed_log.commit(batch_of(6, 1, leaves), 1, 0)
    leasing.register(7, b"b")
    assert leasing.reported == []


def test_a_broker_that_was_only_fenced_has_not_left():
    leasing = Leasing(CurrentEpochsOnly, living)
    leasing.heartbeat(0)
    leasing.committed_log.commit(batch_of(6, 1, FENCES), 1, 0)
    leasing.register(7, b"b")
    assert len(leasing.reported) == 1


def test_a_broker_epoch_that_does_not_rise():
    leasing = Leasing(living)
    leasing.register(7, b"b")
    leasing.register(7, b"c", offset=8)
    assert leasing.reported == ["epoch does not rise: broker 4: 7 after 7"]


def test_an_incarnation_may_amend_its_registration():
    leasing = Leasing(living)
    leasing.register(7, b"b")
    leasing.register(7, b"b", offset=8)
    assert leasing.reported == []


def test_the_same_incarnation_is_given_another_epoch():
    leasing = Leasing(living)
    leasing.register(7, b"a")
    assert leasing.reported == ["broker 4: new epoch 7 for the incarnation with epoch 0"]


def test_the_same_incarnation_begins_anew_once_it_was_unregistered():
    leasing = Leasing(CurrentEpochsOnly, living)
    leasing.heartbeat(0)
    gone = records.UnregisterBrokerRecord(broker_id=4, broker_epoch=0)
    leasing.committed_log.commit(batch_of(1, 1, gone), 1, 0)
    leasing.register(7, b"a")
    assert leasing.reported == []
    leasing.register(9, b"a")
    assert len(leasing.reported) == 1


def in_time(registry):
    return FencedInTime(CONFIG, registry)


FENCES = records.BrokerRegistrationChangeRecord(broker_id=4, broker_epoch=0, fenced=1)


def test_a_broker_that_is_fenced_before_its_session_is_over():
    leasing = Leasing(in_time)
    leasing.harness.now_ns += SESSION_NS // 2
    leasing.heartbeat(0)
    leasing.harness.now_ns += SESSION_NS
    leasing.process.appends(FENCES)
    assert leasing.reported == []
    leasing.heartbeat(0)
    leasing.harness.now_ns += SESSION_NS - 1
    leasing.process.appends(FENCES)
    assert leasing.reported == ["broker 4 was fenced 2.000 s after a contact"]


def test_a_broker_that_wants_to_be_fenced():
    leasing = Leasing(in_time)
    leasing.heartbeat(0, want_fence=True)
    leasing.process.appends(FENCES)
    assert leasing.reported == []


def test_a_broker_that_is_not_fenced_when_its_session_is_long_over():
    leasing = Leasing(in_time)
    leasing.process.publishes(1, image_of(broker(4, 0)))
    leasing.harness.now_ns += SESSION_NS + LOOK_EACH_NS
    leasing.process.steps()
    assert leasing.reported == []
    leasing.harness.now_ns += LOOK_EACH_NS
    leasing.process.steps()
    assert leasing.reported == ["broker 4: unfenced after 2.500 s"]


def test_a_stale_heartbeat_keeps_nobody_alive():
    leasing = Leasing(in_time)
    leasing.register(7, b"b")
    leasing.process.publishes(8, image_of(broker(4, 7)))
    for _ in range(5):
        leasing.harness.now_ns += SESSION_NS // 4
        leasing.heartbeat(0, ErrorCode.STALE_BROKER_EPOCH)
    assert len(leasing.reported) == 1


def test_what_is_not_acknowledged_yet_may_be_the_fencing():
    leasing = Leasing(in_time)
    leasing.process.publishes(1, image_of(broker(4, 0)))
    leasing.process.moves(log_end=9)
    leasing.harness.now_ns += SESSION_NS + 2 * LOOK_EACH_NS
    leasing.process.steps()
    assert leasing.reported == []
    leasing.harness.now_ns += SESSION_NS
    leasing.process.steps()
    assert len(leasing.reported) == 1


def test_a_controller_that_sleeps_fences_nobody():
    leasing = Leasing(in_time)
    leasing.process.publishes(1, image_of(broker(4, 0)))
    leasing.process.sleeps(5 * SESSION_NS)
    leasing.process.steps()
    assert leasing.reported == []


def test_an_id_that_is_refused_when_the_session_of_its_owner_is_long_over():
    leasing = Leasing(in_time)
    leasing.heartbeat(0)
    leasing.harness.now_ns += SESSION_NS + TICK_NS
    leasing.registration(-1, b"b", ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    assert leasing.reported == []
    leasing.heartbeat(7, ErrorCode.STALE_BROKER_EPOCH)
    leasing.harness.now_ns += SESSION_NS + TICK_NS + 1
    leasing.registration(-1, b"b", ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    assert leasing.reported == ["broker 4: id not released 2.250 s after a contact"]


def test_a_registration_that_is_written_and_times_out_holds_its_id():
    """The simulation showed this at seed 95000: a slow disk let the request time out."""
    leasing = Leasing(in_time)
    leasing.heartbeat(0)
    leasing.harness.now_ns += SESSION_NS + TICK_NS
    leasing.process.appends(broker(4, 5, incarnation=b"b"))
    leasing.registration(-1, b"b", ErrorCode.REQUEST_TIMED_OUT)
    leasing.harness.now_ns += TICK_NS
    leasing.registration(-1, b"c", ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    assert leasing.reported == []
    leasing.harness.now_ns += SESSION_NS + 1
    leasing.registration(-1, b"c", ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    assert len(leasing.reported) == 1


def test_a_broker_that_asks_a_new_leader_to_be_fenced_before_the_leader_is_active():
    """The simulation showed this at seed 3001682: the request waited for the high watermark."""
    leasing = Leasing(in_time)
    leasing.process.moves(role="follower", epoch=2, leader=2)
    leasing.process.leads(3, log_end=5, high_watermark=0)
    leasing.heartbeat(0, want_fence=True)
    leasing.process.leads(3, log_end=6, high_watermark=6)
    leasing.process.appends(FENCES, epoch=3)
    assert leasing.reported == []
