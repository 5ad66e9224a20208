"""The settings of a topic on a broker, and which image gives a topic other settings."""

import msgspec
import pytest
from immutables import Map

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage, Topic
from kraftproof.node.core.partition.settings import has_new_settings, topic_settings
from kraftproof.node.wire.types import Uuid

TOPIC = Uuid(bytes(15) + b"\1")
BROKER = NodeId(4)
RETENTION = Map({"retention.ms": "1"})


def image(configs: dict[tuple[int, str], Map[str, str]]) -> MetadataImage:
    topic = Topic(topic_id=TOPIC, name="ours")
    return msgspec.structs.replace(EMPTY_IMAGE, topics=Map({TOPIC: topic}), configs=Map(configs))


@pytest.mark.parametrize(
    ("resource", "is_other"),
    [
        ((Resource.TOPIC, "ours"), True),
        ((Resource.TOPIC, "theirs"), False),
        ((Resource.BROKER, "4"), True),
        ((Resource.BROKER, "5"), False),
        ((Resource.BROKER, ALL_BROKERS), True),
    ],
)
def test_a_topic_has_new_settings_by_its_own_its_brokers_and_all_brokers_configs(
    resource: tuple[Resource, str], is_other: bool
) -> None:
    with_entry, without = image({resource: RETENTION}), image({})
    assert has_new_settings(without, with_entry, TOPIC, BROKER) is is_other
    assert has_new_settings(with_entry, without, TOPIC, BROKER) is is_other
    assert not has_new_settings(with_entry, with_entry, TOPIC, BROKER)
    assert not has_new_settings(with_entry, image({resource: RETENTION}), TOPIC, BROKER)


def test_every_topic_has_new_settings_than_before_the_first_image() -> None:
    assert has_new_settings(None, image({}), TOPIC, BROKER)


def test_topics_with_equal_configs_share_their_settings() -> None:
    """A broker of many topics keeps the settings once, and not for each topic."""
    plain, other = image({}), image({(Resource.TOPIC, "theirs"): RETENTION})
    ours = topic_settings(plain, "ours", BROKER)
    assert topic_settings(other, "ours", BROKER) is ours
    assert topic_settings(other, "theirs", BROKER).retention_ms == 1 != ours.retention_ms
