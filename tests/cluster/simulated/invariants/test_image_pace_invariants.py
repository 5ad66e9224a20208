"""An image that lags behind a few committed records, or takes too many at once, goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.image_pace import (
    ImagesFollowAtOnce,
    LargeBatchesTakeSteps,
)
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

FEW = (records.NoOpRecord(),) * 3
MANY = (records.NoOpRecord(),) * 101
REMOVAL = (records.RemoveTopicRecord(),)


@pytest.mark.parametrize(
    ("written", "image_offset", "is_right"),
    [(FEW, 3, True), (FEW, 0, False), (MANY, 0, True), (REMOVAL, 0, True)],
)
def test_a_step_applies_few_records(written, image_offset, is_right):
    harness = MonitorHarness(ImagesFollowAtOnce())
    node = harness.process(1)
    node.moves()
    batch = node.appends(*written)
    node.moves(log_end=batch.next_offset)
    node.moves(high_watermark=batch.next_offset, image_offset=image_offset)
    assert (harness.reported == []) == is_right


LARGE = (records.NoOpRecord(),) * 501


@pytest.mark.parametrize(
    ("written", "role", "is_at_once", "is_right"),
    [
        (LARGE, "follower", True, False),
        (LARGE, "follower", False, True),
        (LARGE, "leader", True, True),
        (MANY, "follower", True, True),
    ],
)
def test_a_replica_takes_steps_for_a_large_batch(written, role, is_at_once, is_right):
    harness = MonitorHarness(LargeBatchesTakeSteps())
    node = harness.process(1)
    node.moves(role=role)
    end = node.appends(*written).next_offset
    node.moves(log_end=end)
    node.moves(high_watermark=end, image_offset=end if is_at_once else 0)
    node.moves(image_offset=end)
    assert (harness.reported == []) == is_right
