"""Configurations of a broker that take effect without a restart."""

import pytest

from kraftproof.node.core.configs.dynamic import (
    EFFECTIVE_WHILE_RUNNING,
    MAX_CONNECTIONS,
    PRODUCER_EXPIRATION,
    TOPIC_DEFAULTS,
    UNCLEAN_ELECTIONS,
    broker_number,
)
from kraftproof.node.core.configs.effective import (
    ConfigSource,
    effective_configs,
    layers_of,
    topic_values,
)
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource
from kraftproof.node.core.configs.values import DEFINITIONS
from kraftproof.node.core.controller.partitions.change import Election
from kraftproof.node.core.controller.partitions.unclean import election_of
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.partition.settings import topic_settings
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.support.node.data_broker import TOPIC

pytestmark = pytest.mark.requirement("631-90")
CHANGES = {
    "log.cleanup.policy": ("compact", "is_compacted", True),
    "log.flush.interval.messages": ("1", "flush_messages", 1),
    "log.message.timestamp.after.max.ms": ("5", "timestamp_after_max_ms", 5),
    "log.message.timestamp.before.max.ms": ("6", "timestamp_before_max_ms", 6),
    "log.message.timestamp.type": ("LogAppendTime", "uses_append_time", True),
    "log.retention.bytes": ("7", "retention_bytes", 7),
    "log.retention.ms": ("8", "retention_ms", 8),
    "log.segment.bytes": ("1048576", "segment_bytes", 1048576),
    "message.max.bytes": ("9", "max_message_bytes", 9),
    "min.insync.replicas": ("2", "min_isr", 2),
}


def image_with(resource: str, name: str, value: str) -> MetadataImage:
    """Return an image with the topic `t` and a dynamic configuration of a broker."""
    return apply_all(
        EMPTY_IMAGE,
        (
            records.TopicRecord(name="t", topic_id=TOPIC),
            records.PartitionRecord(partition_id=0, topic_id=TOPIC, replicas=(1,), isr=(1,)),
            records.ConfigRecord(
                resource_type=Resource.BROKER, resource_name=resource, name=name, value=value
            ),
        ),
    )


def test_every_effective_key_has_a_test() -> None:
    others = {MAX_CONNECTIONS, PRODUCER_EXPIRATION, UNCLEAN_ELECTIONS}
    assert {*CHANGES} == {*TOPIC_DEFAULTS}
    assert {*CHANGES, *others} == {*EFFECTIVE_WHILE_RUNNING}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("resource", [ALL_BROKERS, "1"])
def test_a_default_of_topics_changes_their_settings(name: str, resource: str) -> None:
    text, field, value = CHANGES[name]
    before = topic_settings(EMPTY_IMAGE, "t", 1, {})
    after = topic_settings(image_with(resource, name, text), "t", 1, {})
    assert getattr(before, field) != value
    assert getattr(after, field) == value
    other_broker = topic_settings(image_with("2", name, text), "t", 1, {})
    assert getattr(other_broker, field) != value


@pytest.mark.parametrize("name", [MAX_CONNECTIONS, PRODUCER_EXPIRATION])
def test_the_own_value_comes_before_the_value_of_all_brokers_and_the_file(name: str) -> None:
    image = image_with(ALL_BROKERS, name, "5")
    assert broker_number(EMPTY_IMAGE, 1, name, 3) == 3
    assert broker_number(image, 1, name, 3) == 5
    own = records.ConfigRecord(
        resource_type=Resource.BROKER, resource_name="1", name=name, value="6"
    )
    image = apply_all(image, (own,))
    assert (broker_number(image, 1, name, 3), broker_number(image, 2, name, 3)) == (6, 5)


ILLEGAL = {
    **dict.fromkeys(CHANGES, "no value"),
    "log.message.timestamp.type": "Never",
    "log.retention.hours": "ten",
    "log.retention.minutes": "1e3",
    "log.roll.hours": "9" * 5000,
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_a_topic_ignores_an_illegal_value_of_its_broker(name: str) -> None:
    """The controller takes any text for a broker: no text may end the brokers or the controller."""
    image = image_with(ALL_BROKERS, name, ILLEGAL[name])
    assert topic_settings(image, "t", 1, {}) == topic_settings(EMPTY_IMAGE, "t", 1, {})
    assert list(effective_configs({}, layers_of(image, 1, {}))) == list(effective_configs({}))


def test_the_next_legal_value_of_a_broker_counts() -> None:
    image = image_with(ALL_BROKERS, "log.retention.ms", "8")
    own = records.ConfigRecord(
        resource_type=Resource.BROKER, resource_name="1", name="log.retention.ms", value="often"
    )
    image = apply_all(image, (own,))
    assert topic_settings(image, "t", 1, {"log.retention.ms": "5"}).retention_ms == 8
    layers = layers_of(image, 1, {"log.retention.ms": "5"})
    sources = [one.source for one in topic_values(DEFINITIONS["retention.ms"], {}, layers)]
    expected = (ConfigSource.DYNAMIC_ALL_BROKERS, ConfigSource.STATIC, ConfigSource.DEFAULT)
    assert sources == list(expected)


@pytest.mark.parametrize("text", ["many", "", "1e3", "-1", "9" * 5000])
@pytest.mark.parametrize("name", [MAX_CONNECTIONS, PRODUCER_EXPIRATION])
def test_a_broker_ignores_an_illegal_value_of_its_own(name: str, text: str) -> None:
    image = image_with("1", name, text)
    assert broker_number(image, 1, name, 3) == 3
    for_all = records.ConfigRecord(
        resource_type=Resource.BROKER, resource_name=ALL_BROKERS, name=name, value=" 5 "
    )
    assert broker_number(apply_all(image, (for_all,)), 1, name, 3) == 5


def test_unclean_elections_are_allowed_at_once() -> None:
    image = image_with(ALL_BROKERS, UNCLEAN_ELECTIONS, "true")
    partition = image.partitions[Uuid(TOPIC)][0]
    assert election_of(image, partition) is Election.UNCLEAN
