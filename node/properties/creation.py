"""Parse the keys about topics that a broker has created by itself (KIP-590, KIP-631)."""

from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.base.config import InternalTopics
from kraftproof.node.properties.keys import ConfigError, Reader

AUTO_KEY: Final = "auto.create.topics.enable"
INTERNAL_KEYS: Final[Mapping[str, tuple[str, int]]] = {
    "offsets.topic.num.partitions": ("group_partitions", 1 << 30),
    "offsets.topic.segment.bytes": ("group_segment_bytes", (1 << 31) - 1),
    "offsets.topic.replication.factor": ("group_factor", 32767),
    "transaction.state.log.num.partitions": ("transaction_partitions", 1 << 30),
    "transaction.state.log.replication.factor": ("transaction_factor", 32767),
    "transaction.state.log.min.isr": ("transaction_min_isr", 32767),
    "transaction.state.log.segment.bytes": ("transaction_segment_bytes", (1 << 31) - 1),
    "share.coordinator.state.topic.min.isr": ("share_min_isr", 32767),
    "share.coordinator.state.topic.segment.bytes": ("share_segment_bytes", (1 << 31) - 1),
    "share.coordinator.state.topic.num.partitions": ("share_partitions", 1 << 30),
    "share.coordinator.state.topic.replication.factor": ("share_factor", 32767),
}
"""The keys of whole numbers, with their fields in InternalTopics and their largest values."""


def read_auto_creation(reader: Reader) -> bool:
    """Return whether Metadata creates missing topics; true without the key, as in Kafka.

    Raises:
        ConfigError: the value is neither true nor false.
    """
    text = (reader.text(AUTO_KEY) or "true").lower()
    if text not in {"true", "false"}:
        raise ConfigError(f"{AUTO_KEY}={text}: is not valid, true or false is expected")
    return text == "true"


def read_internal_topics(reader: Reader) -> InternalTopics:
    """Return the sizes of the internal topics.

    Raises:
        ConfigError: a number is out of bounds.
    """
    default = InternalTopics()
    values = {
        field: reader.integer(key, getattr(default, field), 1, largest)
        for key, (field, largest) in INTERNAL_KEYS.items()
    }
    return InternalTopics(**values)
