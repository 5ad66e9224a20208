"""A forwarded request with more or less time than its client has goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.forwarding import ForwardsKeepDeadlines
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Forward
from kraftproof.node.wire.messages import create_topics_request, create_topics_response
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

CONFIG = ClusterConfig(voters=(1,), timeouts=Timeouts(request_ns=milliseconds(600)))


def creates(timeout_ms):
    topic = create_topics_request.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    return create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=timeout_ms)


@pytest.mark.parametrize(
    ("passed_ms", "waits_ms", "connect_ms", "is_right"),
    [
        (900, 900, None, True),
        (500, 500, None, True),
        (1000, 900, None, False),
        (2000, 900, None, False),
        (900, 3000, None, False),
        (300, 300, None, False),
        (900, 900, 600, True),
        (900, 900, 601, False),
        (500, 500, 550, False),
    ],
)
def test_a_forwarded_request_has_the_rest_of_its_clients_time(
    passed_ms, waits_ms, connect_ms, is_right
):
    harness = MonitorHarness(ForwardsKeepDeadlines(CONFIG))
    broker = harness.process(4)
    broker.receives(creates(1000), on_controller_listener=False)
    harness.now_ns += milliseconds(500)
    forward = Forward(
        destination=1,
        correlation=1,
        message=creates(passed_ms),
        version=7,
        principal=ANONYMOUS,
        client_host="h",
        timeout_ns=milliseconds(waits_ms),
        connect_ns=milliseconds(min(waits_ms, 600) if connect_ms is None else connect_ms),
    )
    for heard in harness.monitor.on_response[type(forward.message)]:
        heard(broker, forward, create_topics_response.CreateTopicsResponse())
    assert (harness.reported == []) == is_right
