"""Each invariant of images and brokers goes red at what it forbids."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.cluster.simulated.invariants.metadata import (
    FencedBrokersLeadNothing,
    ImagesAgree,
    LeadersAreInSync,
    PartitionEpochsRiseByOne,
)
from kraftproof.node.core.base.snapshot_ids import SnapshotId
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


def test_images_that_differ_at_one_offset():
    harness = MonitorHarness(ImagesAgree())
    harness.process(1).publishes(3, image_of(broker(4, 1)))
    harness.process(2).publishes(3, image_of(broker(4, 1)))
    assert harness.reported == []
    harness.process(3).publishes(3, image_of(broker(4, 2)))
    assert len(harness.reported) == 1


def test_an_image_that_goes_back():
    harness = MonitorHarness(ImagesAgree())
    process = harness.process(1)
    process.publishes(3, image_of(broker(4, 1)))
    process.publishes(2, image_of())
    assert harness.reported == ["the image went back from offset 3 to 2"]


def test_a_fenced_broker_that_leads():
    harness = MonitorHarness(FencedBrokersLeadNothing())
    fine = image_of(broker(4, 1), broker(5, 2), topic(), partition(isr=(4, 5), leader=4))
    harness.process(1).publishes(4, fine)
    assert harness.reported == []
    fenced = records.BrokerRegistrationChangeRecord(broker_id=4, broker_epoch=1, fenced=1)
    bad = image_of(broker(4, 1), broker(5, 2), topic(), partition(isr=(4, 5), leader=4), fenced)
    harness.process(1).publishes(5, bad)
    assert harness.reported[0] == "broker 4 is fenced, but leads"


def test_a_fenced_broker_may_be_the_last_of_an_isr_without_a_leader():
    harness = MonitorHarness(FencedBrokersLeadNothing())
    alone = image_of(broker(4, 1, fenced=True), topic(), partition(isr=(4,), leader=-1))
    harness.process(1).publishes(3, alone)
    assert harness.reported == []
    both = partition(isr=(4, 5), leader=5)
    harness.process(1).publishes(
        4, image_of(broker(4, 1, fenced=True), broker(5, 2), topic(), both)
    )
    assert len(harness.reported) == 1


def published_partition(made, *brokers):
    committed_log = CommittedLog()
    harness = MonitorHarness(LeadersAreInSync(committed_log))
    written = (*(brokers or (broker(4, 1), broker(5, 2))), topic(), made)
    committed_log.commit(batch_of(0, 1, *written), 1, 0)
    harness.process(1).publishes(len(written), image_of(*written))
    return harness.reported


@pytest.mark.parametrize(
    "made",
    [
        partition(isr=(5,), leader=4),
        partition(isr=(), leader=-1),
        partition(isr=(4, 5), leader=4, replicas=(4, 6)),
        partition(isr=(4, 5), leader=-1),
    ],
    ids=["leader out of sync", "empty isr", "isr out of the replicas", "no leader"],
)
def test_a_partition_that_can_not_be(made):
    assert len(published_partition(made)) == 1


def test_a_partition_that_can_be():
    assert published_partition(partition(isr=(4, 5), leader=5)) == []
    gone = broker(4, 1, fenced=True)
    assert published_partition(partition(isr=(4,), leader=-1), gone) == []


def test_a_broker_that_comes_back_leads_what_nobody_leads():
    committed_log = CommittedLog()
    harness = MonitorHarness(LeadersAreInSync(committed_log))
    back = records.BrokerRegistrationChangeRecord(broker_id=4, broker_epoch=1, fenced=-1)
    committed_log.commit(batch_of(3, 1, back), 1, 0)
    before = (broker(4, 1, fenced=True), topic(), partition(isr=(4,), leader=-1))
    harness.process(1).publishes(4, image_of(*before, back))
    assert len(harness.reported) == 1


WRITTEN = (
    broker(4, 1, fenced=True),
    broker(5, 2),
    records.BrokerRegistrationChangeRecord(broker_id=4, broker_epoch=1, fenced=-1),
    topic(),
    partition(isr=(4, 5), leader=4),
    records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(5,), leader=5),
    records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(5, 4)),
)


def test_the_reference_says_what_apply_says():
    for length in range(len(WRITTEN) + 1):
        written = WRITTEN[:length]
        log = [batch_of(0, 1, *written)] if written else []
        assert first_difference(entities_of_log(log), entities_of_image(image_of(*written))) is None
    removed = (*WRITTEN, records.RemoveTopicRecord(topic_id=TOPIC))
    unregistered = (*removed, records.UnregisterBrokerRecord(broker_id=4, broker_epoch=1))
    for written in (removed, unregistered):
        found = entities_of_image(image_of(*written))
        assert first_difference(entities_of_log([batch_of(0, 1, *written)]), found) is None


def test_the_reference_sees_a_record_that_was_skipped():
    log = entities_of_log([batch_of(0, 1, *WRITTEN)])
    for skipped in (2, 5, 6):
        written = WRITTEN[:skipped] + WRITTEN[skipped + 1 :]
        assert first_difference(log, entities_of_image(image_of(*written))) is not None


def chain(*changes):
    """A process that has committed a topic with one partition, and these changes of it."""
    harness = MonitorHarness(PartitionEpochsRiseByOne())
    process = harness.process(1)
    process.appends(topic(), partition(isr=(4, 5), leader=4))
    for change in changes:
        process.appends(records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **change))
    return harness, process


def shows(partition_epoch, leader_epoch):
    shown = replace(
        partition(isr=(4, 5), leader=4), partition_epoch=partition_epoch, leader_epoch=leader_epoch
    )
    return image_of(topic(), shown)


@pytest.mark.parametrize(
    ("epochs", "reported"), [((2, 1), 0), ((1, 1), 1), ((3, 1), 1), ((2, 0), 1), ((2, 2), 1)]
)
def test_epochs_of_partitions_count_their_changes(epochs, reported):
    harness, process = chain({"isr": (4,)}, {"leader": 5})
    process.publishes(4, shows(*epochs))
    assert len(harness.reported) == reported


def test_epochs_are_followed_from_image_to_image():
    harness, process = chain({"isr": (4,)}, {"isr": (4, 5)})
    process.publishes(2, shows(0, 0))
    process.publishes(3, shows(1, 0))
    assert harness.reported == []
    process.publishes(4, shows(3, 0))
    assert len(harness.reported) == 1


def test_what_was_removed_is_remembered_no_longer():
    invariant = PartitionEpochsRiseByOne()
    process = MonitorHarness(invariant).process(1)
    process.appends(topic(), partition(isr=(4, 5), leader=4))
    process.publishes(2, shows(0, 0))
    assert len(invariant._epochs) == 1
    process.appends(records.RemoveTopicRecord(topic_id=TOPIC))
    process.publishes(3, image_of())
    assert invariant._epochs == {}


def test_what_a_snapshot_has_swallowed_is_not_counted():
    harness, process = chain({"isr": (4,)})
    process.log.reset(SnapshotId(9, 1))
    process.appends(records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(4, 5)))
    process.publishes(10, shows(7, 3))
    assert harness.reported == []
