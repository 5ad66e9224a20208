"""An image that lags behind a few committed records goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.image_pace import ImagesFollowAtOnce
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
