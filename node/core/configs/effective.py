"""A topic's effective configurations: what was set for it, and Kafka's defaults for the rest.

Simplification: brokers have no dynamic configurations yet, so a value is the topic's own or the
default.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from msgspec import Struct

from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS

SetConfigs = Mapping[str, str]
"""What was set for one topic, by name."""


class ConfigSource(IntEnum):
    """Where a value comes from, by its number in answers."""

    DYNAMIC_TOPIC = 1
    DEFAULT = 5


class EffectiveConfig(Struct, frozen=True):
    """One configuration of a topic."""

    name: str
    value: str | None
    source: ConfigSource


def effective_configs(configs: SetConfigs) -> Iterator[EffectiveConfig]:
    """Yield each configuration that a topic has, by name."""
    for name, default in _DEFAULTS:
        if name in configs:
            yield EffectiveConfig(name, configs[name], ConfigSource.DYNAMIC_TOPIC)
        elif default is not None:
            yield default


_DEFAULTS: Final = tuple(
    (
        definition.name,
        None
        if definition.is_internal
        else EffectiveConfig(definition.name, definition.default, ConfigSource.DEFAULT),
    )
    for definition in TOPIC_DEFINITIONS
)
"""Each configuration's name, and the entry that shows its default unless it is internal."""
