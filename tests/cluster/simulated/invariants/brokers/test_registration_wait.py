"""A broker may give up after its time without a registration, and not before."""

from kraftproof.cluster.simulated.invariants.brokers.registration_wait import RegistrationWait
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

WAIT_NS = milliseconds(5_000)
CONFIG = ClusterConfig(voters=(1,), timeouts=Timeouts(initial_registration_ns=WAIT_NS))


def test_the_time_begins_at_the_start_and_at_a_stale_epoch():
    wait = RegistrationWait(CONFIG)
    harness = MonitorHarness(wait)
    broker = harness.process(4)
    harness.now_ns += WAIT_NS // 2
    assert not wait.may_give_up(broker)
    harness.now_ns += WAIT_NS
    assert wait.may_give_up(broker)
    registration = broker_registration_request.BrokerRegistrationRequest()
    answer = broker_registration_response.BrokerRegistrationResponse(broker_epoch=5)
    broker.hears(1, registration, answer)
    assert not wait.may_give_up(broker)
    stale = broker_heartbeat_response.BrokerHeartbeatResponse(
        error_code=ErrorCode.STALE_BROKER_EPOCH
    )
    broker.hears(1, broker_heartbeat_request.BrokerHeartbeatRequest(), stale)
    assert not wait.may_give_up(broker)
    harness.now_ns += WAIT_NS
    assert wait.may_give_up(broker)
