"""Read the configurations of a topic for the partitions (KIP-631 "ConfigRecord").

The order of precedence is Kafka's: the topic, this broker, every broker, the default.
"""

from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.values import DEFINITIONS, InvalidConfigError, read_value
from kraftproof.node.core.metadata.image import MetadataImage

_TOPIC: Final = 2
_BROKER: Final = 4


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


def topic_settings(image: MetadataImage, topic: str, node_id: NodeId) -> TopicSettings:
    """Return the settings of a topic on this broker."""
    configs = (
        image.configs.get((_TOPIC, topic), Map()),
        image.configs.get((_BROKER, str(node_id)), Map()),
        image.configs.get((_BROKER, ""), Map()),
    )
    policy = _words(_value(configs, "cleanup.policy"))
    return TopicSettings(
        min_isr=_number(configs, "min.insync.replicas"),
        max_message_bytes=_number(configs, "max.message.bytes"),
        segment_bytes=_number(configs, "segment.bytes"),
        retention_ms=_number(configs, "retention.ms"),
        retention_bytes=_number(configs, "retention.bytes"),
        is_compacted="compact" in policy,
        is_deleted="delete" in policy,
        uses_append_time=_value(configs, "message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=_number(configs, "message.timestamp.before.max.ms"),
        timestamp_after_max_ms=_number(configs, "message.timestamp.after.max.ms"),
        flush_messages=_number(configs, "flush.messages"),
    )


def _value(configs: tuple[Map[str, str], ...], name: str) -> object:
    """Return the first legal value by precedence; a record of an older node may be illegal."""
    definition = DEFINITIONS[name]
    names = (name, *definition.synonyms)
    for level, entries in enumerate(configs):
        for candidate in names[:1] if level == 0 else names:
            if candidate in entries:
                try:
                    return read_value(name, entries[candidate])
                except InvalidConfigError:
                    continue
    return read_value(name, definition.default or "")


def _number(configs: tuple[Map[str, str], ...], name: str) -> int:
    value = _value(configs, name)
    return value if isinstance(value, int) else 0


def _words(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
