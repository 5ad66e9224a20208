"""The meter of a node: what of the shell's work it times."""

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.metrics.catalogue import RAFT
from kraftproof.node.server.metrics.node_metrics import Meter
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest

LEADING = NodeStatus(
    role="leader",
    epoch=Epoch(3),
    leader=NodeId(1),
    high_watermark=Offset(0),
    flushed=Offset(0),
    log_end=Offset(0),
    image_offset=Offset(0),
    image_digest=0,
    broker_state=None,
    voted_for=NodeId(1),
    last_epoch=Epoch(2),
    snapshot_end=Offset(0),
)


def at(milliseconds: int) -> Monotonic:
    return Monotonic(milliseconds * 1_000_000)


def request_time_ms(meter: Meter) -> float:
    (value,) = (
        family.samples[0].value
        for family in text_string_to_metric_families(meter.text())
        if family.name == f"{RAFT}request_time_avg"
    )
    return value


@pytest.mark.requirement("595-74")
def test_requests_that_change_metadata_are_timed_and_others_are_not() -> None:
    now = [at(0)]
    clock = lambda: Instant(now[-1], WallClock(0))  # noqa: E731 - a clock of one line
    meter = Meter(("127.0.0.1", 0), LEADING, clock, lambda: 0)
    now.append(at(50))
    meter.answered(ApiVersionsRequest(), at(0))
    assert math.isnan(request_time_ms(meter))
    meter.answered(CreateTopicsRequest(), at(20))
    assert request_time_ms(meter) == 30
