"""A heartbeat with a wrong offset, epoch or wish goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.heartbeat_contents import HeartbeatsAreAccurate
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

REGISTRATION = broker_registration_request.BrokerRegistrationRequest()
REGISTERED = broker_registration_response.BrokerRegistrationResponse(broker_epoch=7)
REFUSED = broker_registration_response.BrokerRegistrationResponse(error_code=5, broker_epoch=9)
GRANTED = broker_heartbeat_response.BrokerHeartbeatResponse(should_shut_down=True)


def heartbeat(**changes):
    fields = {"broker_id": 4, "broker_epoch": 7, "current_metadata_offset": 9, "want_fence": True}
    return broker_heartbeat_request.BrokerHeartbeatRequest(**(fields | changes))


def broker():
    harness = MonitorHarness(HeartbeatsAreAccurate())
    process = harness.process(4)
    process.moves(leader=2)
    process.hears(2, REGISTRATION, REGISTERED)
    process.hears(2, REGISTRATION, REFUSED)
    process.publishes(10, EMPTY_IMAGE)
    return harness, process


@pytest.mark.parametrize(
    ("sent", "is_right"),
    [
        (heartbeat(), True),
        (heartbeat(current_metadata_offset=10), False),
        (heartbeat(current_metadata_offset=8), False),
        (heartbeat(broker_epoch=9), False),
        (heartbeat(broker_id=5), False),
        (heartbeat(want_fence=False), False),
        (heartbeat(want_fence=False, want_shut_down=True), True),
    ],
)
def test_a_heartbeat_says_what_the_broker_has(sent, is_right) -> None:
    harness, process = broker()
    process.sends(sent)
    assert (harness.reported == []) == is_right


def test_a_broker_wants_to_serve_once_it_listens() -> None:
    harness, process = broker()
    process.opens()
    process.sends(heartbeat(want_fence=False))
    assert harness.reported == []
    process.sends(heartbeat())
    [fault] = harness.reported
    assert "want_fence is True with open listeners" in fault


@pytest.mark.parametrize(("to", "is_right"), [(2, False), (3, True)])
def test_no_heartbeat_follows_a_granted_shutdown(to, is_right) -> None:
    harness, process = broker()
    stops = heartbeat(want_fence=False, want_shut_down=True)
    process.sends(stops)
    process.hears(2, stops, GRANTED)
    process.sends(stops, to=to)
    assert (harness.reported == []) == is_right


def test_a_restart_forgets_the_grant() -> None:
    harness, process = broker()
    process.sends(heartbeat())
    process.hears(2, heartbeat(), GRANTED)
    process.restarts([])
    process.hears(2, REGISTRATION, REGISTERED)
    process.sends(heartbeat(current_metadata_offset=-1))
    assert harness.reported == []
