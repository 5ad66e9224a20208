"""List the kinds of resources with configurations, and check the values of a resource (KIP-133).

Kafka judges the configurations of a broker at that broker, since the legal values depend on the
broker's own files; see node/core/broker/config_changes.py. The controller checks the other kinds.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from kraftproof.node.core.configs.definition import ConfigType, Definition
from kraftproof.node.core.configs.generated.resources import (
    BROKER_DEFINITIONS,
    CLIENT_METRICS_DEFINITIONS,
    GROUP_DEFINITIONS,
)
from kraftproof.node.core.configs.values import (
    DEFINITIONS,
    LONGEST_VALUE,
    InvalidConfigError,
    check_topic_configs,
    parse_value,
)


class Resource(IntEnum):
    """The kind of a resource, with its number in requests and records."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


ALL_BROKERS: Final = ""
"""The name of the resource whose values hold for every broker."""
_DEFINITIONS: Final[Mapping[int, Mapping[str, Definition]]] = {
    Resource.TOPIC: DEFINITIONS,
    Resource.BROKER: {entry.name: entry for entry in BROKER_DEFINITIONS},
    Resource.CLIENT_METRICS: {entry.name: entry for entry in CLIENT_METRICS_DEFINITIONS},
    Resource.GROUP: {entry.name: entry for entry in GROUP_DEFINITIONS},
}


def definitions_of(resource: int) -> Mapping[str, Definition]:
    """Return the definitions of a kind of resource by name; none for an unknown kind."""
    return _DEFINITIONS.get(resource, {})


def is_list(resource: int, name: str) -> bool:
    """Return whether values can be appended to a configuration."""
    definition = definitions_of(resource).get(name)
    return definition is not None and definition.type is ConfigType.LIST


def check_configs(resource: int, configs: Mapping[str, str]) -> None:
    """Refuse illegal configurations of a resource.

    Raises:
        InvalidConfigError: a name is unknown, or a value is illegal.
    """
    if resource == Resource.TOPIC:
        check_topic_configs(configs)
        return
    known = definitions_of(resource)
    for name, text in configs.items():
        if len(text) > LONGEST_VALUE:
            raise InvalidConfigError(
                f"{name[:200]} has {len(text)} characters, {LONGEST_VALUE} are the most"
            )
        definition = known.get(name)
        if resource == Resource.BROKER:
            continue
        if definition is None:
            raise InvalidConfigError(f"{name[:200]!r} is no configuration of this resource")
        parse_value(definition, text)
