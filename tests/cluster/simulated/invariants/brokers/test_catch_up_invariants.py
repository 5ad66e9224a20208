"""A broker that serves clients before its image has caught up goes red."""

import pytest

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.brokers.catch_up import BrokersServeAfterCatchUp
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import (
    MonitorHarness,
    batch_of,
    broker,
    image_of,
)


def test_a_broker_that_opens_with_an_image_from_before_its_start():
    committed_log = CommittedLog()
    harness = MonitorHarness(BrokersServeAfterCatchUp(committed_log))
    committed_log.commit(batch_of(0, 1), 1, 0)
    ready, early, former = harness.process(4), harness.process(5), harness.process(6)
    ready.publishes(2, image_of(broker(4, 1)))
    ready.opens()
    assert harness.reported == []
    early.opens()
    former.publishes(1, image_of(broker(6, 0)))
    former.opens()
    assert harness.reported == [
        "the image has epoch None, but the log had 1 at the start",
        "the image has epoch 0, but the log had 1 at the start",
    ]


@pytest.mark.parametrize(
    ("offset", "said"),
    [(3, []), (1, ["the image has epoch None, but the log had 1 at the start"])],
    ids=["after the registration", "before the registration"],
)
def test_a_registration_that_has_gone_before_the_broker_caught_up(offset, said):
    """The simulation showed this at seed 911824: a client unregistered the broker meanwhile."""
    committed_log = CommittedLog()
    harness = MonitorHarness(BrokersServeAfterCatchUp(committed_log))
    committed_log.commit(batch_of(0, 1), 1, 0)
    process = harness.process(4)
    committed_log.commit(batch_of(1, 1, broker(4, 1)), 1, 0)
    gone = records.UnregisterBrokerRecord(broker_id=4, broker_epoch=1)
    committed_log.commit(batch_of(2, 1, gone), 1, 0)
    process.publishes(offset, image_of())
    process.opens()
    assert harness.reported == said
