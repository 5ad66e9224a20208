"""Tagged fields that this node does not know: kept by image, digest and snapshot."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.tools.record_json import record_data
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata_records import decode_record, encode_record
from kraftproof.node.wire.types import Uuid

TAGS = ((77, b"of a newer node"),)
ID = Uuid(bytes([1] * 16))
TOPIC = records.TopicRecord(name="t", topic_id=ID)
PARTITION = records.PartitionRecord(partition_id=0, topic_id=ID, replicas=(1,), isr=(1,), leader=1)
CONFIG = records.ConfigRecord(resource_type=2, resource_name="t", name="k", value="v")
BROKER = records.RegisterBrokerRecord(
    broker_id=1,
    broker_epoch=5,
    end_points=(records.BrokerEndpoint(name="L", host="h", unknown_tags=TAGS),),
)
FEATURE = records.FeatureLevelRecord(name="f", feature_level=1)
CASES = [
    ((), BROKER),
    ((), TOPIC),
    ((TOPIC,), PARTITION),
    ((TOPIC,), CONFIG),
    ((), FEATURE),
    ((), records.ProducerIdsRecord(broker_id=1, broker_epoch=5, next_producer_id=9)),
]


def told_by_log(image, log):
    """Compare an image with the simulator's own reading of the log."""
    batch = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=tuple(log))
    return first_difference(entities_of_log([batch]), entities_of_image(image))


@pytest.mark.requirement("631-15")
@pytest.mark.parametrize(("before", "record"), CASES, ids=lambda case: type(case).__name__)
def test_they_are_kept_and_counted(before, record):
    tagged = replace(record, unknown_tags=TAGS)
    image = apply_all(EMPTY_IMAGE, (*before, tagged))
    plain = apply_all(EMPTY_IMAGE, (*before, record))
    assert image.digest != plain.digest
    assert rebuild(image) == image
    written = [decode_record(encode_record(one)) for one in records_of(image)]
    assert tagged in written
    assert len(written) == len(before) + 1
    assert apply_all(EMPTY_IMAGE, tuple(written)) == image
    assert told_by_log(image, (*before, tagged)) is None
    assert "unknownTags" not in record_data(record)
    assert record_data(tagged)["unknownTags"]


def test_they_go_with_their_entity():
    tagged = tuple(replace(one, unknown_tags=TAGS) for one in (TOPIC, PARTITION, CONFIG, FEATURE))
    image = apply_all(EMPTY_IMAGE, (*tagged, replace(BROKER, unknown_tags=TAGS)))
    gone = (
        records.RemoveTopicRecord(topic_id=ID),
        records.FeatureLevelRecord(name="f", feature_level=0),
        records.UnregisterBrokerRecord(broker_id=1, broker_epoch=5),
    )
    assert apply_all(image, gone) == EMPTY_IMAGE
    log = (*tagged, replace(BROKER, unknown_tags=TAGS), *gone)
    assert told_by_log(EMPTY_IMAGE, log) is None


def test_a_plain_record_replaces_one_with_unknown_fields():
    tagged = tuple(replace(one, unknown_tags=TAGS) for one in (CONFIG, FEATURE, BROKER))
    image = apply_all(EMPTY_IMAGE, (*tagged, CONFIG, FEATURE, BROKER))
    assert image == apply_all(EMPTY_IMAGE, (CONFIG, FEATURE, BROKER))


def test_a_change_leaves_them_and_its_own_are_dropped():
    partition, broker = (replace(one, unknown_tags=TAGS) for one in (PARTITION, BROKER))
    image = apply_all(EMPTY_IMAGE, (TOPIC, partition, broker))
    changed = apply_all(
        image,
        (
            records.PartitionChangeRecord(
                topic_id=ID, partition_id=0, leader=-1, unknown_tags=((5, b"x"),)
            ),
            records.BrokerRegistrationChangeRecord(
                broker_id=1, broker_epoch=5, fenced=-1, unknown_tags=((5, b"x"),)
            ),
        ),
    )
    [kept] = changed.partitions_of(ID)
    assert kept.unknown_tags == changed.brokers[1].unknown_tags == TAGS
