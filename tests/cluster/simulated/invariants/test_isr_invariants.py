"""Who may enter an ISR, record by record."""

import pytest

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.metadata import IsrMembersAreActive
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import (
    TOPIC,
    MonitorHarness,
    batch_of,
    broker,
    image_of,
    partition,
    topic,
)

Change = records.BrokerRegistrationChangeRecord
FENCED = Change(broker_id=5, broker_epoch=2, fenced=1)
UNFENCED = Change(broker_id=5, broker_epoch=2, fenced=-1)
LEAVING = Change(broker_id=5, broker_epoch=2, in_controlled_shutdown=1)
UNREGISTERED = records.UnregisterBrokerRecord(broker_id=5, broker_epoch=2)
BROKERS = (broker(4, 1), broker(5, 2))
CREATED = (topic(), partition(isr=(4, 5), leader=4))


def isr(*members):
    return records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=members)


def reported(*written):
    """What is told when these have been committed, a batch each, and an image is published."""
    committed_log = CommittedLog()
    harness = MonitorHarness(IsrMembersAreActive(committed_log))
    for offset, record in enumerate(written):
        committed_log.commit(batch_of(offset, 1, record), 1, 0)
    assert harness.reported == []
    harness.process(1).publishes(len(written), image_of())
    return harness.reported


@pytest.mark.parametrize("state", [FENCED, LEAVING, UNREGISTERED])
def test_who_may_not_be_in_the_first_isr(state):
    [violation] = reported(*BROKERS, state, *CREATED)
    assert violation.startswith("broker 5, ")


@pytest.mark.parametrize("state", [FENCED, LEAVING, UNREGISTERED])
def test_who_may_not_come_into_one(state):
    assert len(reported(*BROKERS, *CREATED, isr(4), state, isr(4, 5))) == 1


@pytest.mark.parametrize("state", [FENCED, LEAVING, UNREGISTERED])
def test_who_was_in_it_may_stay(state):
    """The last one has to, and others leave in the same batch or later."""
    assert reported(*BROKERS, *CREATED, state, isr(5, 4), isr(5)) == []


def test_who_is_back_may_come_in():
    assert reported(*BROKERS, FENCED, UNFENCED, *CREATED, isr(4), isr(4, 5)) == []
    again = broker(5, 9)
    assert reported(*BROKERS, *CREATED, isr(4), LEAVING, again, isr(4, 5)) == []


def test_a_topic_that_is_removed_leaves_nothing_behind():
    committed_log = CommittedLog()
    invariant = IsrMembersAreActive(committed_log)
    for offset, record in enumerate(
        (*BROKERS, *CREATED, records.RemoveTopicRecord(topic_id=TOPIC))
    ):
        committed_log.commit(batch_of(offset, 1, record), 1, 0)
    assert invariant._isrs == {}
