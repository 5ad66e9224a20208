"""Compute a topic's effective configurations: its own values, and Kafka's defaults.

Simplification: brokers have no dynamic configurations.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from msgspec import Struct

from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS

SetConfigs = Mapping[str, str]
"""The own values of a topic by name."""


class ConfigSource(IntEnum):
    """The source of a value, with its number in answers."""

    DYNAMIC_TOPIC = 1
    DEFAULT = 5


class EffectiveConfig(Struct, frozen=True):
    """A configuration of a topic with its value."""

    name: str
    value: str | None
    source: ConfigSource


def effective_configs(configs: SetConfigs) -> Iterator[EffectiveConfig]:
    """Yield each configuration of a topic in order of names."""
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
"""The name of each configuration, and the default's entry unless the configuration is internal."""
