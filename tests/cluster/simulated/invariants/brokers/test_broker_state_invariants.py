"""A broker whose state has another number than Kafka's goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.broker_states import BrokerStateIsAccurate
from kraftproof.node.core.events import Stop
from kraftproof.node.wire.messages import broker_heartbeat_request, broker_heartbeat_response
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

HEARTBEAT = broker_heartbeat_request.BrokerHeartbeatRequest()
FENCED = broker_heartbeat_response.BrokerHeartbeatResponse(is_fenced=True)
UNFENCED = broker_heartbeat_response.BrokerHeartbeatResponse(is_fenced=False)
REFUSED = broker_heartbeat_response.BrokerHeartbeatResponse(is_fenced=False, error_code=41)


@pytest.mark.parametrize(
    ("does", "state", "is_right"),
    [
        ((), 1, True),
        ((), 2, False),
        (("opens",), 2, True),
        (("opens",), 3, False),
        (("opens", FENCED, REFUSED), 3, False),
        (("opens", UNFENCED), 3, True),
        ((UNFENCED,), 3, False),
        (("opens", UNFENCED), 6, False),
        (("opens", UNFENCED, "stop"), 6, True),
        (("stop",), 7, True),
        (("stop",), 3, False),
    ],
)
def test_the_state_follows_from_what_the_broker_did(does, state, is_right) -> None:
    harness = MonitorHarness(BrokerStateIsAccurate())
    process = harness.process(4)
    for deed in does:
        if deed == "opens":
            process.opens()
        elif deed == "stop":
            process.event = Stop()
        else:
            process.hears(2, HEARTBEAT, deed)
    process.moves(broker_state=state)
    assert (harness.reported == []) == is_right


def test_a_broker_stays_in_the_states_of_its_shutdown_until_the_restart() -> None:
    harness = MonitorHarness(BrokerStateIsAccurate())
    process = harness.process(4)
    process.event = Stop()
    process.moves(broker_state=6)
    process.event = None
    process.moves(broker_state=7)
    assert harness.reported == []
    process.moves(broker_state=3)
    [fault] = harness.reported
    assert "is 3, not 6 or 7" in fault
    process.status = None
    process.restarts([])
    process.moves(broker_state=1)
    assert len(harness.reported) == 1
