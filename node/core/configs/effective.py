"""Compute the effective configurations of a resource: the first value by precedence (KIP-226).

A topic's own value comes first, then the values of the topic's broker: dynamic values of this
broker, of all brokers, the broker's file, and Kafka's default. A broker names a configuration
otherwise than a topic, for example `log.retention.ms` for `retention.ms`.

The controller stores the value of a broker unchecked, as in Kafka: a client of the controller
listener may set any text. An illegal value of a broker is ignored.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.definition import Definition
from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource
from kraftproof.node.core.configs.values import is_legal, whole_number
from kraftproof.node.core.metadata.image import MetadataImage

SetConfigs = Mapping[str, str]
"""The own values of a resource by name."""


class ConfigSource(IntEnum):
    """The source of a value, with its number in answers."""

    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_ALL_BROKERS = 3
    STATIC = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


class Layers(Struct, frozen=True, kw_only=True):
    """The values of a broker by precedence, by the broker's names."""

    broker: SetConfigs = Map()
    all_brokers: SetConfigs = Map()
    static: SetConfigs = Map()

    @property
    def names(self) -> frozenset[str]:
        """Return the names that have a value, before the defaults."""
        return frozenset((*self.broker, *self.all_brokers, *self.static))

    def found(self, name: str) -> Iterator[tuple[str, ConfigSource]]:
        """Yield the values of a configuration with their sources, without the default."""
        layers = (
            (self.broker, ConfigSource.DYNAMIC_BROKER),
            (self.all_brokers, ConfigSource.DYNAMIC_ALL_BROKERS),
            (self.static, ConfigSource.STATIC),
        )
        for values, source in layers:
            if name in values:
                yield values[name], source


NO_LAYERS: Final = Layers()


def layers_of(image: MetadataImage, node_id: NodeId, static: SetConfigs) -> Layers:
    """Return the values of a broker; `static` is the content of the broker's file."""
    broker = image.configs.get((Resource.BROKER, str(node_id)), Map())
    all_brokers = image.configs.get((Resource.BROKER, ALL_BROKERS), Map())
    if not broker and not all_brokers and not static:
        return NO_LAYERS
    return Layers(broker=broker, all_brokers=all_brokers, static=static)


def values_for_topics(static: Iterable[tuple[str, str]]) -> SetConfigs:
    """Return the values of a node's file that stand for values of topics."""
    return {name: value for name, value in static if name in _BROKER_NAMES}


class Value(Struct, frozen=True):
    """A value of a configuration, by the name that has the value."""

    name: str
    value: str | None
    source: ConfigSource
    factor: int = 1
    """The number of the topic's units in one unit of the value."""

    @property
    def effective(self) -> str | None:
        """Return the value in the topic's unit; a negative number has no limit and is -1.

        A text that is no number has no value in another unit.
        """
        if self.factor == 1 or self.value is None:
            return self.value
        number = whole_number(self.value)
        return None if number is None else str(max(number * self.factor, -1))


def topic_values(definition: Definition, configs: SetConfigs, layers: Layers) -> Iterator[Value]:
    """Yield the values of a topic's configuration by precedence; the default is the last."""
    if definition.name in configs:
        yield Value(definition.name, configs[definition.name], ConfigSource.DYNAMIC_TOPIC)
    for name in definition.synonyms[:1]:
        for value in _broker_values(definition, name, layers):
            text = value.effective
            if text is not None and is_legal(definition, text):
                yield value
        yield Value(name, definition.default, ConfigSource.DEFAULT)


def _broker_values(definition: Definition, name: str, layers: Layers) -> Iterator[Value]:
    """Yield the values of a broker for a topic's configuration, legal or not."""
    for text, source in layers.found(name):
        yield Value(name, text, source)
    for other, factor in definition.converted:
        for text, source in layers.found(other):
            yield Value(other, text, source, factor)


class EffectiveConfig(Struct, frozen=True):
    """A configuration of a topic with its value."""

    name: str
    value: str | None
    source: ConfigSource


def effective_configs(configs: SetConfigs, layers: Layers = NO_LAYERS) -> Iterator[EffectiveConfig]:
    """Yield each configuration of a topic in order of names."""
    of_brokers = layers.names
    for definition, broker_names, default in _DEFAULTS:
        name = definition.name
        if name in configs:
            yield EffectiveConfig(name, configs[name], ConfigSource.DYNAMIC_TOPIC)
        elif not of_brokers.isdisjoint(broker_names):
            first = next(topic_values(definition, configs, layers))
            yield EffectiveConfig(name, first.effective, first.source)
        elif default is not None:
            yield default


def _broker_names(definition: Definition) -> tuple[str, ...]:
    """Return the names of a topic's configuration in a broker's values."""
    if not definition.synonyms:
        return ()
    return (definition.synonyms[0], *(other for other, _ in definition.converted))


_DEFAULTS: Final = tuple(
    (
        definition,
        _broker_names(definition),
        None
        if definition.is_internal
        else EffectiveConfig(definition.name, definition.default, ConfigSource.DEFAULT),
    )
    for definition in TOPIC_DEFINITIONS
)
"""Each configuration with a broker's names of it, and the default's entry unless it is internal."""
_BROKER_NAMES: Final = frozenset(name for _, names, _ in _DEFAULTS for name in names)
"""The names by which a broker's values stand for values of topics."""
