"""A forwarded request with more or less time than its client has goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.forwarding import ForwardsKeepDeadlines
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Forward
from kraftproof.node.wire.messages import create_topics_request, create_topics_response
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness


def creates(timeout_ms):
    topic = create_topics_request.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    return create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=timeout_ms)


@pytest.mark.parametrize(
    ("passed_ms", "waits_ms", "is_right"),
    [
        (900, 900, True),
        (500, 500, True),
        (1000, 900, False),
        (2000, 900, False),
        (900, 3000, False),
        (300, 300, False),
    ],
)
def test_a_forwarded_request_has_the_rest_of_its_clients_time(passed_ms, waits_ms, is_right):
    harness = MonitorHarness(ForwardsKeepDeadlines())
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
        connect_ns=milliseconds(waits_ms),
    )
    for heard in harness.monitor.on_response[type(forward.message)]:
        heard(broker, forward, create_topics_response.CreateTopicsResponse())
    assert (harness.reported == []) == is_right
