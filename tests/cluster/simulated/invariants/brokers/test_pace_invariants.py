"""A broker that asks the controller too late or too early goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.pace import BrokersKeepPace
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

HEARTBEAT = broker_heartbeat_request.BrokerHeartbeatRequest()
REGISTRATION = broker_registration_request.BrokerRegistrationRequest()
SERVED = broker_heartbeat_response.BrokerHeartbeatResponse()
REFUSED = broker_heartbeat_response.BrokerHeartbeatResponse(error_code=41)
REGISTERED = broker_registration_response.BrokerRegistrationResponse()
CONFIG = ClusterConfig(
    voters=(2,),
    timeouts=Timeouts(
        heartbeat_interval_ns=milliseconds(500),
        retry_backoff_ns=milliseconds(20),
        retry_backoff_max_ns=milliseconds(1000),
        request_ns=milliseconds(1000),
    ),
)


@pytest.mark.parametrize(
    ("first", "answer", "wait_ms", "is_right"),
    [
        (HEARTBEAT, SERVED, 500, True),
        (HEARTBEAT, SERVED, 700, False),
        (HEARTBEAT, SERVED, 400, False),
        (HEARTBEAT, REFUSED, 15, True),
        (HEARTBEAT, REFUSED, 1000, True),
        (HEARTBEAT, REFUSED, 5, False),
        (HEARTBEAT, REFUSED, 1200, False),
        (HEARTBEAT, None, 2000, True),
        (HEARTBEAT, None, 2200, False),
        (REGISTRATION, REGISTERED, 0, True),
        (REGISTRATION, REGISTERED, 200, False),
    ],
)
def test_the_next_request_comes_in_time(first, answer, wait_ms, is_right):
    harness = MonitorHarness(BrokersKeepPace(CONFIG))
    broker = harness.process(4)
    broker.moves(leader=2)
    harness.now_ns += milliseconds(1)
    broker.sends(first)
    if answer is not None:
        broker.hears(2, first, answer)
    harness.now_ns += milliseconds(wait_ms)
    broker.sends(HEARTBEAT)
    assert (harness.reported == []) == is_right


def test_a_new_wish_waits_for_no_back_off():
    """The simulation showed this at seed 90160: the broker caught up after a refusal."""
    harness = MonitorHarness(BrokersKeepPace(CONFIG))
    broker = harness.process(4)
    broker.moves(leader=2)
    harness.now_ns += milliseconds(1)
    fencing = broker_heartbeat_request.BrokerHeartbeatRequest(want_fence=True)
    broker.sends(fencing)
    broker.hears(2, fencing, REFUSED)
    broker.sends(HEARTBEAT)
    assert harness.reported == []


def test_the_back_off_doubles():
    harness = MonitorHarness(BrokersKeepPace(CONFIG))
    broker = harness.process(4)
    broker.moves(leader=2)
    harness.now_ns += milliseconds(1)
    for answer, wait_ms in ((SERVED, 500), (SERVED, 500), (REFUSED, 20), (REFUSED, 40)):
        broker.sends(HEARTBEAT)
        broker.hears(2, HEARTBEAT, answer)
        harness.now_ns += milliseconds(wait_ms)
    broker.sends(HEARTBEAT)
    assert harness.reported == []
    broker.hears(2, HEARTBEAT, REFUSED)
    harness.now_ns += milliseconds(200)
    broker.sends(HEARTBEAT)
    assert len(harness.reported) == 1


def test_pauses_and_a_new_leader_are_excuses():
    harness = MonitorHarness(BrokersKeepPace(CONFIG))
    broker = harness.process(4)
    broker.moves(leader=2)
    broker.sends(HEARTBEAT)
    broker.hears(2, HEARTBEAT, SERVED)
    broker.sleeps(milliseconds(9000))
    harness.now_ns += milliseconds(500)
    broker.sends(HEARTBEAT)
    broker.moves(leader=-1)
    harness.now_ns += milliseconds(9000)
    broker.moves(leader=3)
    broker.sends(HEARTBEAT, to=3)
    assert harness.reported == []
