"""The second telling of what records mean covers all that an image has, and sees what it lacks."""

import pytest
from immutables import Map
from msgspec.structs import asdict, fields, replace

from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition, Topic
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import batch_of, image_of
from tests.node.core.metadata.test_images import EVERYTHING, IMAGE, uuid

DERIVED = {"topic_ids", "unified_names", "by_broker", "quotas", "acls", "digest", "before"}
"""What final_checks.py has rebuilt from the rest."""
BROKER, TOPIC, PARTITION = 3, uuid(11), 1
CHANGES = (
    records.UnfenceBrokerRecord(id=1, epoch=6),
    records.FenceBrokerRecord(id=1, epoch=6),
    records.BrokerRegistrationChangeRecord(
        broker_id=3, broker_epoch=5, fenced=1, in_controlled_shutdown=-1
    ),
    records.PartitionChangeRecord(
        partition_id=1,
        topic_id=TOPIC,
        isr=(1,),
        leader=1,
        replicas=(1, 3),
        removing_replicas=(),
        adding_replicas=(3,),
        leader_recovery_state=0,
        directories=(uuid(8), uuid(9)),
    ),
    records.PartitionChangeRecord(partition_id=1, topic_id=TOPIC, leader=3),
    records.PartitionChangeRecord(
        partition_id=1, topic_id=TOPIC, eligible_leader_replicas=(1, 3), last_known_elr=(3,)
    ),
    records.ClearElrRecord(topic_name="b"),
    records.BrokerRegistrationChangeRecord(
        broker_id=3, broker_epoch=5, cordoned_log_dirs=(uuid(44),)
    ),
    records.FeatureLevelRecord(name="another.feature", feature_level=0),
    records.ConfigRecord(resource_type=4, resource_name="", name="k", value=None),
    records.ClientQuotaRecord(
        entity=(records.EntityData(entity_type="user", entity_name="u"),), key="k", remove=True
    ),
    records.RemoveDelegationTokenRecord(token_id="t"),
    records.RemoveUserScramCredentialRecord(name="u", mechanism=1),
    records.RemoveAccessControlEntryRecord(id=uuid(70)),
    records.UnregisterBrokerRecord(broker_id=1, broker_epoch=6),
    records.RemoveTopicRecord(topic_id=TOPIC),
)


@pytest.mark.parametrize("changes", range(len(CHANGES) + 1))
def test_it_says_what_apply_says(changes):
    written = EVERYTHING + CHANGES[:changes]
    log = entities_of_log([batch_of(0, 1, *written)])
    assert first_difference(log, entities_of_image(image_of(*written))) is None


@pytest.mark.parametrize("skipped", range(len(CHANGES)))
def test_it_sees_a_change_that_was_skipped(skipped):
    log = entities_of_log([batch_of(0, 1, *EVERYTHING, CHANGES[skipped])])
    is_seen = first_difference(log, entities_of_image(IMAGE)) is not None
    assert is_seen == (skipped != 1)  # who is fenced already is fenced no further


def test_it_keeps_each_field_of_each_entity():
    log = entities_of_log([batch_of(0, 1, *EVERYTHING)])
    kept = (
        (log["broker", BROKER], BrokerRegistration),
        (log["topic", TOPIC], Topic),
        (log["partition", TOPIC, PARTITION], Partition),
    )
    for entity, kind in kept:
        assert entity.keys() == {field.name for field in fields(kind)}


def another(value):
    """A value of the same type that is not the same."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case bytes():
            return bytes(reversed(value))
        case tuple():
            return value[:-1]
        case _:
            raise AssertionError(value)


def changed_entities():
    """The image with one field of one broker, topic and partition lost, each in its turn."""
    broker = IMAGE.brokers[BROKER]
    for name, value in asdict(broker).items():
        brokers = IMAGE.brokers.set(BROKER, replace(broker, **{name: another(value)}))
        yield f"broker {name}", replace(IMAGE, brokers=brokers)
    topic = IMAGE.topics[TOPIC]
    lost = replace(topic, name=another(topic.name))
    renamed = replace(
        IMAGE,
        topics=IMAGE.topics.set(TOPIC, lost),
        topic_ids=IMAGE.topic_ids.delete(topic.name).set(lost.name, TOPIC),
    )
    yield "topic name", renamed
    partition = IMAGE.partitions[TOPIC][PARTITION]
    for name, value in asdict(partition).items():
        siblings = IMAGE.partitions[TOPIC].set(
            PARTITION, replace(partition, **{name: another(value)})
        )
        yield f"partition {name}", replace(IMAGE, partitions=IMAGE.partitions.set(TOPIC, siblings))


@pytest.mark.parametrize(
    ("what", "image"), list(changed_entities()), ids=lambda part: str(part)[:30]
)
def test_it_sees_each_field_that_an_image_has_wrong(what, image):
    log = entities_of_log([batch_of(0, 1, *EVERYTHING)])
    assert first_difference(log, entities_of_image(image)) is not None, what


@pytest.mark.parametrize(
    "name", [field.name for field in fields(MetadataImage) if field.name not in DERIVED]
)
def test_it_sees_each_kind_of_entity_that_an_image_lacks(name):
    log = entities_of_log([batch_of(0, 1, *EVERYTHING)])
    lacking = replace(IMAGE, **{name: Map()})
    if name == "topics":
        lacking = replace(lacking, topic_ids=Map())
    assert first_difference(log, entities_of_image(lacking)) is not None
