"""What a broker asks for and is told: the invariant goes red at each way to get it wrong."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.brokers.heartbeats import (
    MAX_DELAYS,
    HeartbeatRequestsHonoured,
)
from kraftproof.node.wire.messages import broker_heartbeat_request, broker_heartbeat_response
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import (
    MonitorHarness,
    batch_of,
    broker,
    image_of,
    partition,
    topic,
)

EPOCH = 3
SERVES = {"current_metadata_offset": EPOCH}


def change(**changes):
    return records.BrokerRegistrationChangeRecord(broker_id=4, broker_epoch=EPOCH, **changes)


class HeartbeatHarness:
    """An active controller with broker 4 registered at epoch 3."""

    def __init__(self, *, fenced):
        self.committed_log = CommittedLog()
        self.harness = MonitorHarness(HeartbeatRequestsHonoured(Registry(self.committed_log)))
        self.process = self.harness.process(1)
        self.offset = EPOCH
        self.commits(broker(4, EPOCH, fenced=fenced))

    def commits(self, *written):
        self.committed_log.commit(batch_of(self.offset, 1, *written), 1, 0)
        self.offset += len(written)

    def asks(self, *, current_metadata_offset=0, want_fence=False, want_shut_down=False):
        return self.process.receives(
            broker_heartbeat_request.BrokerHeartbeatRequest(
                broker_id=4,
                broker_epoch=EPOCH,
                current_metadata_offset=current_metadata_offset,
                want_fence=want_fence,
                want_shut_down=want_shut_down,
            )
        )

    def is_told(self, event, *, fenced, stop=False):
        self.process.replies(
            event,
            broker_heartbeat_response.BrokerHeartbeatResponse(
                is_fenced=fenced, should_shut_down=stop
            ),
        )
        return self.harness.reported


def test_a_broker_is_told_what_it_is():
    heartbeats = HeartbeatHarness(fenced=False)
    assert heartbeats.is_told(heartbeats.asks(**SERVES), fenced=False) == []
    event = heartbeats.asks(want_fence=True)
    heartbeats.commits(change(fenced=1))
    assert heartbeats.is_told(event, fenced=True) == []


def test_a_fence_that_was_never_written():
    heartbeats = HeartbeatHarness(fenced=False)
    assert len(heartbeats.is_told(heartbeats.asks(want_fence=True), fenced=True)) == 1


def test_a_wish_to_be_fenced_that_is_ignored():
    heartbeats = HeartbeatHarness(fenced=False)
    (violation,) = heartbeats.is_told(heartbeats.asks(want_fence=True), fenced=False)
    assert "requests fencing" in violation


def test_what_changes_meanwhile_may_be_told_either_way():
    heartbeats = HeartbeatHarness(fenced=False)
    event = heartbeats.asks(**SERVES)
    heartbeats.commits(change(fenced=1))
    assert heartbeats.is_told(event, fenced=True) == []


def test_a_wish_to_serve_that_is_ignored():
    heartbeats = HeartbeatHarness(fenced=True)
    assert heartbeats.is_told(heartbeats.asks(current_metadata_offset=EPOCH - 1), fenced=True) == []
    (violation,) = heartbeats.is_told(heartbeats.asks(**SERVES), fenced=True)
    assert "requests to serve" in violation


def test_a_broker_in_controlled_shutdown_serves_no_more():
    heartbeats = HeartbeatHarness(fenced=True)
    heartbeats.commits(change(in_controlled_shutdown=1))
    assert heartbeats.is_told(heartbeats.asks(**SERVES), fenced=True) == []


@pytest.mark.parametrize(("offset", "reported"), [(EPOCH, 0), (EPOCH - 1, 1)])
def test_a_broker_is_unfenced_when_it_has_caught_up(offset, reported):
    heartbeats = HeartbeatHarness(fenced=True)
    heartbeats.asks(current_metadata_offset=offset)
    heartbeats.process.appends(change(fenced=-1))
    assert len(heartbeats.harness.reported) == reported


def test_a_shutdown_that_nobody_asked_for():
    heartbeats = HeartbeatHarness(fenced=True)
    event = heartbeats.asks(current_metadata_offset=0)
    (violation,) = heartbeats.is_told(event, fenced=True, stop=True)
    assert "without a request" in violation


def stopping(heartbeats, times):
    for _ in range(times):
        heartbeats.is_told(heartbeats.asks(want_shut_down=True), fenced=False)
    return len(heartbeats.harness.reported)


LEAVING = records.RegisterBrokerRecord(
    broker_id=4,
    broker_epoch=EPOCH,
    end_points=(),
    features=(),
    fenced=False,
    in_controlled_shutdown=True,
)


def test_a_shutdown_that_nothing_stands_in_the_way_of():
    heartbeats = HeartbeatHarness(fenced=False)
    heartbeats.process.publishes(9, image_of(LEAVING))
    assert stopping(heartbeats, MAX_DELAYS) == 0
    heartbeats.is_told(heartbeats.asks(want_shut_down=True), fenced=False, stop=True)
    assert stopping(heartbeats, MAX_DELAYS) == 0
    assert stopping(heartbeats, 1) == 1


OTHER = broker_heartbeat_request.BrokerHeartbeatRequest(broker_id=5, broker_epoch=4)


def heartbeat_of(process, request, offset):
    """Answer a heartbeat of a broker that has read up to an offset."""
    event = process.receives(replace(request, current_metadata_offset=offset))
    process.replies(event, broker_heartbeat_response.BrokerHeartbeatResponse())


def test_a_shutdown_waits_for_what_is_appended_before_its_first_answer():
    """Seed 940075 with the workload log: a request is decided later than it arrives."""
    heartbeats = HeartbeatHarness(fenced=False)
    process = heartbeats.process
    process.publishes(9, image_of(LEAVING, broker(5, 4)))
    process.leads(epoch=1)
    process.appends(records.NoOpRecord())
    heartbeat_of(process, OTHER, process.log.end_offset - 1)
    first = heartbeats.asks(want_shut_down=True)
    process.appends(records.NoOpRecord())
    assert heartbeats.is_told(first, fenced=False) == []
    assert stopping(heartbeats, 2 * MAX_DELAYS) == 0
    heartbeat_of(process, OTHER, process.log.end_offset - 1)
    assert stopping(heartbeats, MAX_DELAYS) == 0
    assert stopping(heartbeats, 1) == 1


def test_a_second_reign_waits_until_the_others_have_read_its_log():
    """Seed 900375: a leader leads again, and does not know where in the log the moves are."""
    heartbeats = HeartbeatHarness(fenced=False)
    process = heartbeats.process
    process.publishes(9, image_of(LEAVING, broker(5, 4)))
    process.leads(epoch=1)
    stopping(heartbeats, 1)
    process.appends(*[records.NoOpRecord()] * 3)
    process.leads(epoch=2)
    heartbeat_of(process, OTHER, process.log.end_offset - 3)
    assert stopping(heartbeats, 2 * MAX_DELAYS) == 0
    heartbeat_of(process, OTHER, process.log.end_offset - 1)
    assert stopping(heartbeats, MAX_DELAYS) == 0
    assert stopping(heartbeats, 1) == 1


def test_a_shutdown_waits_for_the_last_leadership():
    heartbeats = HeartbeatHarness(fenced=False)
    leads = (topic(), partition(isr=(4, 5), leader=4))
    heartbeats.process.publishes(9, image_of(LEAVING, *leads))
    assert stopping(heartbeats, 3 * MAX_DELAYS) == 0
