"""Read the configurations of a topic for the partitions (KIP-631 "ConfigRecord").

The order of precedence is Kafka's: the topic, this broker, every broker, the default.
"""

from functools import lru_cache
from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.effective import Layers, SetConfigs, layers_of, topic_values
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource
from kraftproof.node.core.configs.values import DEFINITIONS, InvalidConfigError, Value, read_value
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.types import Uuid

NO_STATIC: Final[SetConfigs] = Map()


class TopicSettings(Struct, frozen=True, kw_only=True):
    """The effective configurations of a topic."""

    min_isr: int
    max_message_bytes: int
    segment_bytes: int
    retention_ms: int
    """The age at which records are removed; -1 for never."""
    retention_bytes: int
    """The maximum size, with removal of the oldest records; -1 for no limit."""
    is_compacted: bool
    is_deleted: bool
    """Whether retention removes old records."""
    uses_append_time: bool
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    flush_messages: int

    @property
    def flushes_each_append(self) -> bool:
        """Return whether an append is flushed before any acknowledgement (profile `durable`)."""
        return self.flush_messages == 1


INTERNAL = "internal.segment.bytes"
"""The setting for segments below the minimum of segment.bytes (KIP-1030)."""


def topic_settings(
    image: MetadataImage, topic: str, node_id: NodeId, static: SetConfigs = NO_STATIC
) -> TopicSettings:
    """Return the settings of a topic on this broker; `static` is the broker's own file."""
    configs = image.configs.get((Resource.TOPIC, topic), Map())
    return _settings(configs, layers_of(image, node_id, Map(static)))


@lru_cache(maxsize=128)
def _settings(configs: Map[str, str], layers: Layers) -> TopicSettings:
    """Return the settings of equal configurations, as most of a thousand topics have, once."""

    def value(name: str) -> Value:
        return _first_legal(name, configs, layers)

    def number(name: str) -> int:
        found = value(name)
        return found if isinstance(found, int) else 0

    policy = value("cleanup.policy")
    policies = policy if isinstance(policy, tuple) else ()
    return TopicSettings(
        min_isr=number("min.insync.replicas"),
        max_message_bytes=number("max.message.bytes"),
        segment_bytes=number(INTERNAL if configs.get(INTERNAL) is not None else "segment.bytes"),
        retention_ms=number("retention.ms"),
        retention_bytes=number("retention.bytes"),
        is_compacted="compact" in policies,
        is_deleted="delete" in policies,
        uses_append_time=value("message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=number("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=number("message.timestamp.after.max.ms"),
        flush_messages=number("flush.messages"),
    )


def has_new_settings(
    before: MetadataImage | None, image: MetadataImage, topic_id: Uuid, node_id: NodeId
) -> bool:
    """Return whether the configurations of a topic may differ from those of an earlier image."""
    if before is None:
        return True
    if before.configs is image.configs:
        return False
    own = (Resource.TOPIC, image.topics[topic_id].name)
    every = (Resource.BROKER, ALL_BROKERS)
    broker = (Resource.BROKER, str(node_id))
    was, now = before.configs.get, image.configs.get
    return was(own) != now(own) or was(broker) != now(broker) or was(every) != now(every)


def _first_legal(name: str, configs: SetConfigs, layers: Layers) -> Value:
    """Return the first legal value by precedence; a record of an older node may be illegal."""
    definition = DEFINITIONS[name]
    for entry in topic_values(definition, configs, layers):
        try:
            return read_value(name, entry.effective or "")
        except InvalidConfigError:
            continue
    return read_value(name, definition.default or "")
