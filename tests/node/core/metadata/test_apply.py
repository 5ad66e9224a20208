"""What each record does to an image, and that the derived parts are kept right."""

from random import Random

import pytest

from kraftproof.node.core.metadata.apply import apply, apply_all, apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.digest import recompute_digest
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.control import LeaderChange
from kraftproof.node.wire.types import Uuid


def uuid(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


def broker(broker_id: int, epoch: int, *, fenced: bool = True) -> records.RegisterBrokerRecord:
    return records.RegisterBrokerRecord(
        broker_id=broker_id, incarnation_id=uuid(epoch), broker_epoch=epoch, fenced=fenced
    )


def partition(topic: int, index: int = 0, **fields) -> records.PartitionRecord:
    given = {"replicas": (1, 2), "isr": (1, 2), "leader": 1, "leader_epoch": 0, **fields}
    return records.PartitionRecord(
        partition_id=index, topic_id=uuid(topic), partition_epoch=0, **given
    )


def topic(number: int, name: str = "t") -> records.TopicRecord:
    return records.TopicRecord(name=name, topic_id=uuid(number))


BASE = apply_all(EMPTY_IMAGE, (broker(1, 5), broker(2, 6), topic(1), partition(1)))


@pytest.mark.requirement("631-17")
def test_registration_record_registers_with_all_it_says() -> None:
    endpoint = records.BrokerEndpoint(name="CLIENT", host="h", port=1)
    feature = records.BrokerFeature(name="f", min_supported_version=1, max_supported_version=2)
    record = records.RegisterBrokerRecord(
        broker_id=7,
        incarnation_id=uuid(3),
        broker_epoch=9,
        end_points=(endpoint,),
        features=(feature,),
        rack="r",
        fenced=False,
        in_controlled_shutdown=True,
    )
    registered = apply(EMPTY_IMAGE, record).brokers[7]
    assert (registered.epoch, registered.incarnation, registered.rack) == (9, uuid(3), "r")
    assert (registered.endpoints, registered.features) == ((endpoint,), (feature,))
    assert (registered.fenced, registered.in_controlled_shutdown) == (False, True)


@pytest.mark.requirement("631-18")
def test_unregistration_removes_the_broker() -> None:
    record = records.UnregisterBrokerRecord(broker_id=1, broker_epoch=5)
    assert sorted(apply(BASE, record).brokers) == [2]


@pytest.mark.requirement("631-24")
@pytest.mark.parametrize(
    ("on", "off"),
    [
        (records.UnfenceBrokerRecord(id=1, epoch=5), records.FenceBrokerRecord(id=1, epoch=5)),
        (
            records.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=5, fenced=-1),
            records.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=5, fenced=1),
        ),
    ],
)
def test_fencing_records_of_both_kinds_replay_alike(on, off) -> None:
    unfenced = apply(BASE, on)
    assert not unfenced.brokers[1].fenced
    assert apply(unfenced, off) == BASE


@pytest.mark.requirement("631-24")
@pytest.mark.parametrize(
    "record",
    [
        records.FenceBrokerRecord(id=1, epoch=4),
        records.UnfenceBrokerRecord(id=1, epoch=6),
        records.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=6, fenced=-1),
        records.UnregisterBrokerRecord(broker_id=1, broker_epoch=4),
        records.FenceBrokerRecord(id=9, epoch=4),
        broker(1, 4),
        topic(2, "t"),
        topic(1, "u"),
        partition(9),
        records.PartitionChangeRecord(topic_id=uuid(1), partition_id=3),
        records.PartitionChangeRecord(topic_id=uuid(9), partition_id=0),
        records.RemoveTopicRecord(topic_id=uuid(9)),
        records.EndTransactionRecord(),
        records.AbortTransactionRecord(),
    ],
    ids=repr,
)
def test_record_that_contradicts_the_image_is_refused(record) -> None:
    with pytest.raises(ApplyError):
        apply(BASE, record)


@pytest.mark.requirement("631-20")
def test_partition_record_says_all_of_a_partition() -> None:
    record = partition(
        1,
        3,
        replicas=(2, 1, 3),
        isr=(1,),
        removing_replicas=(2,),
        adding_replicas=(3,),
        leader=-1,
        leader_epoch=4,
        leader_recovery_state=1,
        directories=(uuid(7), uuid(8), uuid(9)),
    )
    made = apply(BASE, record).partitions[uuid(1)][3]
    assert (made.replicas, made.isr, made.removing, made.adding) == ((2, 1, 3), (1,), (2,), (3,))
    assert (made.leader, made.leader_epoch, made.recovery_state) == (-1, 4, 1)
    assert made.directories == (uuid(7), uuid(8), uuid(9))


@pytest.mark.requirement("631-22")
def test_partition_change_changes_what_it_names_and_counts() -> None:
    def change(**fields):
        record = records.PartitionChangeRecord(topic_id=uuid(1), partition_id=0, **fields)
        return apply(BASE, record).partitions[uuid(1)][0]

    was = BASE.partitions[uuid(1)][0]
    shrunk = change(isr=(1,))
    assert (shrunk.isr, shrunk.leader, shrunk.leader_epoch) == ((1,), 1, 0)
    assert shrunk.partition_epoch == was.partition_epoch + 1
    moved = change(leader=2)
    assert (moved.isr, moved.leader, moved.leader_epoch) == ((1, 2), 2, 1)
    assert change(leader=-1).leader == -1
    grown = change(replicas=(1, 2, 3), adding_replicas=(3,), leader_recovery_state=1)
    assert (grown.replicas, grown.adding, grown.recovery_state) == ((1, 2, 3), (3,), 1)


@pytest.mark.requirement("631-19")
def test_removed_topic_takes_partitions_and_configuration_along() -> None:
    config = records.ConfigRecord(resource_type=2, resource_name="t", name="a", value="1")
    kept = records.ConfigRecord(resource_type=2, resource_name="u", name="a", value="1")
    image = apply_all(BASE, (config, kept, records.RemoveTopicRecord(topic_id=uuid(1))))
    assert not image.topics
    assert not image.partitions
    assert not image.by_broker.isr
    assert dict(image.configs) == {(2, "u"): image.configs[2, "u"]}


@pytest.mark.requirement("631-21")
def test_null_deletes_a_configuration_key() -> None:
    config = records.ConfigRecord(resource_type=4, resource_name="1", name="a", value="1")
    null = records.ConfigRecord(resource_type=4, resource_name="1", name="a", value=None)
    image = apply(BASE, config)
    assert image.configs[4, "1"]["a"] == "1"
    assert apply(image, null) == BASE
    assert apply(BASE, null) == BASE


@pytest.mark.requirement("631-27")
def test_feature_level_zero_removes_the_feature() -> None:
    image = apply(BASE, records.FeatureLevelRecord(name="f", feature_level=3))
    assert image.features["f"] == 3
    assert apply(image, records.FeatureLevelRecord(name="f", feature_level=0)) == BASE


@pytest.mark.parametrize(
    ("adds", "drops"),
    [
        (
            records.AccessControlEntryRecord(id=uuid(1), principal="User:a"),
            records.RemoveAccessControlEntryRecord(id=uuid(1)),
        ),
        (
            records.UserScramCredentialRecord(name="a", mechanism=1),
            records.RemoveUserScramCredentialRecord(name="a", mechanism=1),
        ),
        (
            records.DelegationTokenRecord(token_id="x"),
            records.RemoveDelegationTokenRecord(token_id="x"),
        ),
        (
            records.ClientQuotaRecord(key="k", value=1.0),
            records.ClientQuotaRecord(key="k", remove=True),
        ),
    ],
    ids=repr,
)
def test_entities_that_are_only_kept_come_and_go(adds, drops) -> None:
    image = apply(BASE, adds)
    assert image.digest != BASE.digest
    assert rebuild(image) == image
    assert apply(image, drops) == BASE


@pytest.mark.requirement("631-30")
def test_records_of_released_logs_are_read() -> None:
    image = apply_all(
        BASE,
        (
            records.NoOpRecord(),
            records.ProducerIdsRecord(broker_id=1, next_producer_id=1000),
            records.RegisterControllerRecord(controller_id=1),
            records.ZkMigrationStateRecord(zk_migration_state=0),
        ),
    )
    assert len(image.others) == 3
    assert rebuild(image) == image


def test_control_batch_changes_nothing() -> None:
    batch = Batch(
        base_offset=0, epoch=1, timestamp_ms=0, is_control=True, records=(LeaderChange(),)
    )
    assert apply_batch(BASE, batch) is BASE


def test_digest_does_not_depend_on_order_or_path() -> None:
    entities = (broker(1, 5), broker(2, 6), topic(1), topic(2, "u"))
    there = apply_all(EMPTY_IMAGE, entities)
    back = apply_all(EMPTY_IMAGE, tuple(reversed(entities)))
    detour = apply_all(there, (topic(3, "v"), records.RemoveTopicRecord(topic_id=uuid(3))))
    assert there.digest == back.digest == detour.digest != EMPTY_IMAGE.digest
    assert there == back == detour


def test_digest_tells_apart_what_differs_in_one_field() -> None:
    digests = {
        apply(BASE, record).digest
        for record in (
            records.NoOpRecord(),
            records.UnfenceBrokerRecord(id=1, epoch=5),
            records.UnfenceBrokerRecord(id=2, epoch=6),
            records.PartitionChangeRecord(topic_id=uuid(1), partition_id=0),
            records.PartitionChangeRecord(topic_id=uuid(1), partition_id=0, isr=(1,)),
            records.PartitionChangeRecord(topic_id=uuid(1), partition_id=0, isr=(2,)),
        )
    }
    assert len(digests) == 6


@pytest.mark.parametrize("seed", range(5))
def test_indexes_and_digest_equal_those_from_scratch(seed) -> None:
    random, image = Random(seed), EMPTY_IMAGE
    for number in range(1, 6):
        image = apply(image, broker(number, number))
    for _ in range(200):
        image = apply(image, _random_record(random, image))
    assert rebuild(image) == image
    assert recompute_digest(image) == image.digest
    for index in (image.by_broker.isr, image.by_broker.leaders, image.by_broker.replicas):
        assert all(index.values())


def _random_record(random: Random, image):
    topics = sorted(image.topics)
    kind = random.randrange(5)
    if kind == 0 or not topics:
        number = random.randrange(1, 1 << 60)
        return topic(number, f"t{number}")
    chosen = random.choice(topics)
    if kind == 1 and len(topics) > 5:
        return records.RemoveTopicRecord(topic_id=chosen)
    indexes = sorted(image.partitions[chosen])
    isr = tuple(random.sample(range(1, 6), random.randrange(1, 4)))
    leader = random.choice([-1, *isr])
    if kind == 2 or not indexes:
        return records.PartitionRecord(
            partition_id=random.randrange(4),
            topic_id=chosen,
            replicas=isr,
            isr=isr[:2],
            leader=leader,
        )
    return records.PartitionChangeRecord(
        partition_id=random.choice(indexes),
        topic_id=chosen,
        isr=isr if random.random() < 0.7 else None,
        replicas=isr if random.random() < 0.3 else None,
        leader=leader if random.random() < 0.7 else -2,
    )
