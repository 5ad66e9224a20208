"""What a broker asks for and is told: the invariant goes red at each way to get it wrong."""

import pytest

from kraftproof.cluster.simulated.committed.committed_log import Ledger
from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.heartbeats import MOST_DELAYS, WishesAreGranted
from kraftproof.node.wire.messages import broker_heartbeat_request, broker_heartbeat_response
from kraftproof.node.wire.messages import metadata as records
from tests.simulated.witnesses import (
    Court,
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


class Wishing:
    """An active controller with broker 4 registered at epoch 3."""

    def __init__(self, *, fenced):
        self.ledger = Ledger()
        self.court = Court(WishesAreGranted(Registry(self.ledger)))
        self.process = self.court.process(1)
        self.offset = EPOCH
        self.commits(broker(4, EPOCH, fenced=fenced))

    def commits(self, *written):
        self.ledger.commit(batch_of(self.offset, 1, *written), 1, 0)
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
        return self.court.objections


def test_a_broker_is_told_what_it_is():
    wishing = Wishing(fenced=False)
    assert wishing.is_told(wishing.asks(**SERVES), fenced=False) == []
    event = wishing.asks(want_fence=True)
    wishing.commits(change(fenced=1))
    assert wishing.is_told(event, fenced=True) == []


def test_a_fence_that_was_never_written():
    wishing = Wishing(fenced=False)
    assert len(wishing.is_told(wishing.asks(want_fence=True), fenced=True)) == 1


def test_a_wish_to_be_fenced_that_is_ignored():
    wishing = Wishing(fenced=False)
    (objection,) = wishing.is_told(wishing.asks(want_fence=True), fenced=False)
    assert "asks to be fenced" in objection


def test_what_changes_meanwhile_may_be_told_either_way():
    wishing = Wishing(fenced=False)
    event = wishing.asks(**SERVES)
    wishing.commits(change(fenced=1))
    assert wishing.is_told(event, fenced=True) == []


def test_a_wish_to_serve_that_is_ignored():
    wishing = Wishing(fenced=True)
    assert wishing.is_told(wishing.asks(current_metadata_offset=EPOCH - 1), fenced=True) == []
    (objection,) = wishing.is_told(wishing.asks(**SERVES), fenced=True)
    assert "asks to serve" in objection


def test_a_broker_in_controlled_shutdown_serves_no_more():
    wishing = Wishing(fenced=True)
    wishing.commits(change(in_controlled_shutdown=1))
    assert wishing.is_told(wishing.asks(**SERVES), fenced=True) == []


@pytest.mark.parametrize(("offset", "objections"), [(EPOCH, 0), (EPOCH - 1, 1)])
def test_a_broker_is_unfenced_when_it_has_caught_up(offset, objections):
    wishing = Wishing(fenced=True)
    wishing.asks(current_metadata_offset=offset)
    wishing.process.appends(change(fenced=-1))
    assert len(wishing.court.objections) == objections


def test_a_shutdown_that_nobody_asked_for():
    wishing = Wishing(fenced=True)
    event = wishing.asks(current_metadata_offset=0)
    (objection,) = wishing.is_told(event, fenced=True, stop=True)
    assert "never asked for" in objection


def stopping(wishing, times):
    for _ in range(times):
        wishing.is_told(wishing.asks(want_shut_down=True), fenced=False)
    return len(wishing.court.objections)


LEAVING = records.RegisterBrokerRecord(
    broker_id=4,
    broker_epoch=EPOCH,
    end_points=(),
    features=(),
    fenced=False,
    in_controlled_shutdown=True,
)


def test_a_shutdown_that_nothing_stands_in_the_way_of():
    wishing = Wishing(fenced=False)
    wishing.process.publishes(9, image_of(LEAVING))
    assert stopping(wishing, MOST_DELAYS) == 0
    wishing.is_told(wishing.asks(want_shut_down=True), fenced=False, stop=True)
    assert stopping(wishing, MOST_DELAYS) == 0
    assert stopping(wishing, 1) == 1


def test_a_shutdown_waits_for_the_last_leadership():
    wishing = Wishing(fenced=False)
    leads = (topic(), partition(isr=(4, 5), leader=4))
    wishing.process.publishes(9, image_of(LEAVING, *leads))
    assert stopping(wishing, 3 * MOST_DELAYS) == 0
