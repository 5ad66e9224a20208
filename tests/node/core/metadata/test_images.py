"""A snapshot describes its image exactly: the fewest records, in one order, and back."""

from random import Random

import pytest
from immutables import Map
from msgspec.structs import replace

from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.metadata.apply import apply, apply_all
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import (
    RECORDS_A_BATCH,
    SnapshotError,
    batches_of,
    load,
    records_of,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader

ID = SnapshotId(900, 7)
STORED = StoredSnapshot(snapshot=ID, size=1)


def uuid(number):
    return number.to_bytes(16, "big")


EVERYTHING = (
    records.FeatureLevelRecord(name="metadata.version", feature_level=21),
    records.FeatureLevelRecord(name="another.feature", feature_level=2),
    records.RegisterBrokerRecord(
        broker_id=3,
        incarnation_id=uuid(1),
        broker_epoch=5,
        end_points=(records.BrokerEndpoint(name="CLIENT", host="h", port=1),),
        features=(records.BrokerFeature(name="f", max_supported_version=2),),
        rack="r",
        fenced=False,
        in_controlled_shutdown=True,
        log_dirs=(uuid(44), uuid(45)),
        cordoned_log_dirs=(uuid(45),),
        unknown_tags=((90, b"of a newer node"),),
    ),
    records.RegisterBrokerRecord(broker_id=1, incarnation_id=uuid(2), broker_epoch=6),
    records.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=6, log_dirs=(uuid(46),)),
    records.TopicRecord(name="b", topic_id=uuid(11)),
    records.TopicRecord(name="a", topic_id=uuid(12)),
    records.PartitionRecord(
        partition_id=1,
        topic_id=uuid(11),
        replicas=(1, 3, 4),
        isr=(3, 1),
        removing_replicas=(4,),
        adding_replicas=(1,),
        leader=3,
        leader_recovery_state=1,
        leader_epoch=8,
        partition_epoch=9,
        directories=(uuid(5), uuid(6), uuid(7)),
        eligible_leader_replicas=(4,),
        last_known_elr=(1, 4),
        unknown_tags=((91, b""), (92, b"x")),
    ),
    records.PartitionRecord(
        partition_id=0,
        topic_id=uuid(11),
        replicas=(1,),
        isr=(1,),
        leader=-1,
        leader_epoch=0,
        partition_epoch=0,
    ),
    records.ConfigRecord(resource_type=2, resource_name="b", name="k", value="v"),
    records.ConfigRecord(resource_type=4, resource_name="", name="k", value=""),
    records.ProducerIdsRecord(broker_id=3, broker_epoch=5, next_producer_id=1000),
    records.RegisterControllerRecord(controller_id=9, incarnation_id=uuid(9)),
    records.DelegationTokenRecord(owner="User:a", token_id="t", issue_timestamp=1),
    records.UserScramCredentialRecord(name="u", mechanism=1, salt=b"s", iterations=4096),
    records.AccessControlEntryRecord(id=uuid(70), resource_name="x", principal="User:a"),
    records.ZkMigrationStateRecord(zk_migration_state=0),
    records.ClientQuotaRecord(
        entity=(records.EntityData(entity_type="user", entity_name="u"),), key="k", value=2.5
    ),
)
IMAGE = apply_all(EMPTY_IMAGE, EVERYTHING)


def through_bytes(image):
    data = encode_batches(batches_of(ID, image, 1234))
    return load(STORED, decode_batches(data))


@pytest.mark.requirement("631-32")
def test_every_entity_of_every_type_comes_back():
    loaded = through_bytes(IMAGE)
    assert loaded.image == IMAGE
    assert loaded.image.digest == IMAGE.digest == rebuild(loaded.image).digest
    assert (loaded.stored, loaded.timestamp_ms) == (STORED, 1234)


@pytest.mark.requirement("631-32")
def test_there_is_one_record_an_entity():
    """The registration's change is in the registration."""
    assert len(list(records_of(IMAGE))) == len(EVERYTHING) - 1
    assert list(records_of(EMPTY_IMAGE)) == []


@pytest.mark.requirement("631-32")
def test_a_snapshot_of_an_image_without_one_entity_lacks_just_that():
    everything = list(records_of(IMAGE))
    topics = [record for record in everything if isinstance(record, records.TopicRecord)]
    assert 0 < len(topics) < len(everything) / 2
    for left_out in range(len(everything)):
        rest = [record for index, record in enumerate(everything) if index != left_out]
        if not isinstance(everything[left_out], records.TopicRecord):
            assert apply_all(EMPTY_IMAGE, tuple(rest)).digest != IMAGE.digest


def test_the_order_of_the_maps_does_not_show():
    shuffled = replace(IMAGE, brokers=Map(), others=Map(), configs=Map(), features=Map())
    for name in ("brokers", "others", "configs", "features"):
        entries = list(getattr(IMAGE, name).items())
        Random(5).shuffle(entries)
        shuffled = replace(shuffled, **{name: Map(entries)})
    assert encode_batches(batches_of(ID, shuffled, 1)) == encode_batches(batches_of(ID, IMAGE, 1))


@pytest.mark.requirement("631-36")
def test_header_and_footer_frame_whole_batches_of_bounded_size():
    image = EMPTY_IMAGE
    for number in range(RECORDS_A_BATCH + 3):
        image = apply(image, records.TopicRecord(name=f"t{number}", topic_id=uuid(number)))
    batches = list(batches_of(ID, image, 77))
    assert [len(batch.records) for batch in batches] == [1, RECORDS_A_BATCH, 3, 1]
    assert batches[0].records == (SnapshotHeader(last_contained_log_timestamp=77),)
    assert batches[-1].records == (SnapshotFooter(),)
    assert [batch.is_control for batch in batches] == [True, False, False, True]
    assert {(batch.epoch, batch.timestamp_ms) for batch in batches} == {(7, 77)}
    assert [batch.base_offset for batch in batches] == [0, 1, 501, 504]


@pytest.mark.requirement("631-36")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda batches: [], "first record is no SnapshotHeader"),
        (lambda batches: batches[1:], "first record is no SnapshotHeader"),
        (lambda batches: batches[:-1], "last record is no SnapshotFooter"),
        (lambda batches: [batches[0], batches[-1]], "offset"),
        (
            lambda batches: [
                batches[0],
                Batch(
                    base_offset=1,
                    epoch=7,
                    timestamp_ms=0,
                    records=(records.UnfenceBrokerRecord(id=1, epoch=1),),
                ),
                replace(batches[-1], base_offset=2),
            ],
            "broker 1 is not registered",
        ),
    ],
)
def test_batches_that_are_no_whole_snapshot_are_refused(change, said):
    batches = list(batches_of(ID, IMAGE, 0))
    with pytest.raises(SnapshotError, match=said):
        load(STORED, change(batches))


@pytest.mark.requirement("631-33")
@pytest.mark.parametrize("seed", range(20))
def test_any_snapshot_and_the_records_after_it_give_the_image_of_the_whole_log(seed):
    """Topics come, change and go at random; a snapshot is taken at each point."""
    random, image, log = Random(seed), EMPTY_IMAGE, []
    broker = records.RegisterBrokerRecord(broker_id=1, broker_epoch=0)
    log.append(broker)
    image = apply(image, broker)
    for number in range(40):
        record = any_change(image, number, random)
        log.append(record)
        image = apply(image, record)
    assert len(log) == 41
    for point in range(len(log) + 1):
        before = apply_all(EMPTY_IMAGE, tuple(log[:point]))
        after = apply_all(through_bytes(before).image, tuple(log[point:]))
        assert after == image
        assert after.digest == image.digest


def any_change(image, number, random):
    topics = image.sorted_topics()
    if not topics or random.random() < 0.4:
        return records.TopicRecord(name=f"t{number}", topic_id=uuid(number))
    topic = random.choice(topics)
    partitions = image.partitions_of(topic.topic_id)
    match random.randrange(5):
        case 0:
            return records.RemoveTopicRecord(topic_id=topic.topic_id)
        case 1:
            value = random.choice([None, "v"])
            return records.ConfigRecord(
                resource_type=2, resource_name=topic.name, name="k", value=value
            )
        case 2 if partitions:
            partition = random.choice(partitions)
            return records.PartitionChangeRecord(
                topic_id=topic.topic_id, partition_id=partition.index, leader=1, isr=(1,)
            )
        case 3:
            return records.BrokerRegistrationChangeRecord(
                broker_id=1, broker_epoch=0, fenced=random.choice([-1, 1])
            )
        case _:
            return records.PartitionRecord(
                partition_id=len(partitions),
                topic_id=topic.topic_id,
                replicas=(1,),
                isr=(1,),
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            )
