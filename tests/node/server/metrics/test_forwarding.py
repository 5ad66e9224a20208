"""Forwarded requests are counted from their Envelope to the answer or the time-out."""

import pytest

from kraftproof.node.core.base.types import Monotonic, NodeId
from kraftproof.node.core.effects import Forward
from kraftproof.node.core.events import Answered, Tick, Unanswered
from kraftproof.node.server.metrics.forwarding import ForwardingMetrics
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest
from kraftproof.node.wire.messages.generated.create_topics_response import CreateTopicsResponse
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS

SECOND_NS = 1_000_000_000
PENDING = "num-client-forwarding-to-controller-count"
SENT = "num-messages-redirected-count"
REFUSED = "request-forwarding-to-controller-authorization-fail-count"


def forward(correlation: int) -> Forward:
    return Forward(
        destination=NodeId(1),
        correlation=correlation,
        message=CreateTopicsRequest(),
        version=7,
        principal=ANONYMOUS,
        client_host="127.0.0.1",
        timeout_ns=1,
        connect_ns=1,
    )


def counts(metrics: ForwardingMetrics) -> list[float]:
    found = metrics.gauges(Monotonic(10 * SECOND_NS))
    return [found[name] for name in (PENDING, SENT, REFUSED)]


@pytest.mark.requirement("590-20")
@pytest.mark.requirement("590-21")
def test_a_forwarded_request_is_pending_until_its_answer_or_time_out() -> None:
    metrics, now = ForwardingMetrics(Monotonic(0)), Monotonic(SECOND_NS)
    metrics.stepped(Tick(), [forward(1), forward(2), forward(3)], now)
    assert counts(metrics) == [3, 3, 0]
    metrics.stepped(Answered(correlation=1, message=CreateTopicsResponse()), [], now)
    metrics.stepped(Unanswered(correlation=2), [forward(4)], now)
    metrics.stepped(Answered(correlation=99, message=CreateTopicsResponse()), [], now)
    assert counts(metrics) == [2, 4, 0]
    refused = EnvelopeResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    moved = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    metrics.stepped(Answered(correlation=3, message=moved), [], now)
    metrics.stepped(Answered(correlation=4, message=refused), [], now)
    assert counts(metrics) == [0, 4, 1]
    found = metrics.gauges(Monotonic(10 * SECOND_NS))
    assert found["num-messages-redirected-rate"] == pytest.approx(0.4)
    assert found["num-client-forwarding-to-controller-rate"] == pytest.approx(0.4)
