"""Answer DescribeConfigs from the broker's committed image (KIP-133; KIP-631 "ConfigRecord").

A broker describes topics, groups, client metrics, itself and the values of all brokers. The
description of a broker has every key of Kafka and of the broker's file. Simplifications:
answers contain no documentation texts, and the node has no loggers.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from immutables import Map

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.broker_keys import DEFINITIONS as BROKER_KEYS
from kraftproof.node.core.configs.broker_keys import definition_of
from kraftproof.node.core.configs.definition import ConfigType, Definition
from kraftproof.node.core.configs.effective import (
    NO_LAYERS,
    ConfigSource,
    EffectiveConfig,
    Layers,
    SetConfigs,
    effective_configs,
    layers_of,
    topic_values,
)
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource, definitions_of
from kraftproof.node.core.configs.values import DEFINITIONS
from kraftproof.node.core.controller.configs.resource_names import (
    ResourceError,
    check_exists,
    check_name,
)
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS, config_right
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_configs_request, describe_configs_response

TOPIC: Final = Resource.TOPIC
"""The resource type of a topic."""
Request = describe_configs_request.DescribeConfigsRequest
Asked = describe_configs_request.DescribeConfigsResource
Result = describe_configs_response.DescribeConfigsResult
Entry = describe_configs_response.DescribeConfigsResourceResult
Synonym = describe_configs_response.DescribeConfigsSynonym
_SECRET_WORDS: Final = ("password", "secret", "jaas", "keystore.key")
"""Parts of the names of configurations with a secret value."""
_OWN_SOURCES: Final = {
    Resource.CLIENT_METRICS: ConfigSource.CLIENT_METRICS,
    Resource.GROUP: ConfigSource.GROUP,
}


class ConfigAnswers:
    """The descriptions of resources by one broker."""

    def __init__(self, node_id: NodeId, static: SetConfigs) -> None:
        self._node_id = node_id
        self._static = static

    def describe(
        self,
        image: MetadataImage,
        request: Request,
        event: Received,
        authorizer: Authorizer | None = None,
    ) -> describe_configs_response.DescribeConfigsResponse:
        """Return the configurations of each requested resource, in the order of the request."""
        layers = layers_of(image, self._node_id, self._static)
        with_synonyms = request.include_synonyms
        unset = _unset_entries(layers, with_synonyms=with_synonyms)
        return describe_configs_response.DescribeConfigsResponse(
            results=tuple(
                _denied(authorizer, event, asked)
                or self._describe(image, layers, asked, unset, with_synonyms=with_synonyms)
                for asked in request.resources
            )
        )

    def _describe(
        self,
        image: MetadataImage,
        layers: Layers,
        asked: Asked,
        unset: Mapping[str, Entry],
        *,
        with_synonyms: bool,
    ) -> Result:
        kind, name, keys = asked.resource_type, asked.resource_name, asked.configuration_keys
        try:
            self._check(image, kind, name)
        except ResourceError as refused:
            reason = None if kind == TOPIC and refused.error == _UNKNOWN else refused.reason
            return _refusal(asked, refused.error, reason)
        own = image.configs.get((kind, name), Map())
        match kind:
            case Resource.TOPIC:
                set_here = _set_entries(own, layers, with_synonyms=with_synonyms)
                entries = _wanted(_of_topic(unset, set_here), keys)
            case Resource.BROKER if name == ALL_BROKERS:
                shown = Layers(all_brokers=own)
                entries = _wanted(_of_broker(shown, own, with_synonyms=with_synonyms), keys)
            case Resource.BROKER:
                names = {*BROKER_KEYS, *layers.static, *layers.all_brokers, *own}
                entries = _wanted(
                    _of_broker(layers, dict.fromkeys(names, ""), with_synonyms=with_synonyms),
                    keys,
                )
            case Resource.BROKER_LOGGER:
                entries = ()
            case _:
                entries = _wanted(_of_other(kind, own, with_synonyms=with_synonyms), keys)
        return Result(resource_type=kind, resource_name=name, configs=entries)

    def _check(self, image: MetadataImage, kind: int, name: str) -> None:
        """Refuse a resource that this broker can't describe.

        Raises:
            ResourceError: the resource is unknown, or is another broker.
        """
        if kind == Resource.BROKER_LOGGER or (kind == Resource.BROKER and name != ALL_BROKERS):
            check_is_this_broker(self._node_id, name)
            return
        if kind == Resource.TOPIC and not name:
            raise ResourceError(ErrorCode.INVALID_TOPIC_EXCEPTION, "the topic has no name")
        check_name(kind, name)
        check_exists(image, kind, name)


_UNKNOWN: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def check_is_this_broker(node_id: NodeId, name: str) -> None:
    """Refuse the configurations of another broker, for which clients must ask that broker.

    Raises:
        ResourceError: the name is not the id of this broker.
    """
    if name != str(node_id):
        raise ResourceError(
            ErrorCode.INVALID_REQUEST, f"this is broker {node_id}, not {name[:200]!r}"
        )


def _wanted(entries: Iterable[Entry], keys: tuple[str, ...] | None) -> tuple[Entry, ...]:
    if not keys:
        return tuple(entries)
    wanted = frozenset(keys)
    return tuple(entry for entry in entries if entry.name in wanted)


def _of_broker(layers: Layers, names: Mapping[str, str], *, with_synonyms: bool) -> Iterator[Entry]:
    """Yield the named configurations of a broker, with the first value by precedence."""
    dynamic = definitions_of(Resource.BROKER)
    for name in sorted(names):
        definition = definition_of(name) or Definition(name=name, type=ConfigType.STRING)
        if definition.is_internal:
            continue
        values = list(layers.found(name))
        if definition.default is not None and layers.all_brokers is not names:
            values.append((definition.default, ConfigSource.DEFAULT))
        is_secret = definition.type is ConfigType.PASSWORD or _sounds_secret(name)
        value, source = values[0] if values else (None, ConfigSource.DEFAULT)
        synonyms = tuple(
            Synonym(name=name, value=None if is_secret else text, source=origin)
            for text, origin in values
        )
        yield Entry(
            name=name,
            value=None if is_secret else value,
            read_only=name not in dynamic,
            config_source=source,
            is_sensitive=is_secret,
            synonyms=synonyms if with_synonyms else (),
            config_type=definition.type,
        )


def _sounds_secret(name: str) -> bool:
    """Return whether an unknown configuration may be a password; the value is never shown."""
    return definition_of(name) is None and any(word in name for word in _SECRET_WORDS)


def _of_other(kind: int, own: SetConfigs, *, with_synonyms: bool) -> Iterator[Entry]:
    """Yield the configurations of a group or of client metrics."""
    for name, definition in sorted(definitions_of(kind).items()):
        values = [(definition.default, ConfigSource.DEFAULT)]
        if name in own:
            values.insert(0, (own[name], _OWN_SOURCES[Resource(kind)]))
        value, source = values[0]
        synonyms = tuple(Synonym(name=name, value=text, source=origin) for text, origin in values)
        yield Entry(
            name=name,
            value=value,
            config_source=source,
            synonyms=synonyms if with_synonyms else (),
            config_type=definition.type,
        )


def _unset_entries(layers: Layers, *, with_synonyms: bool) -> Mapping[str, Entry]:
    """Return the configurations of a topic without own ones; all topics of a request share them."""
    defaults = _DEFAULTS[with_synonyms]
    if layers is NO_LAYERS:
        return defaults
    return {
        config.name: defaults[config.name]
        if config.source is ConfigSource.DEFAULT
        else _entry(config, {}, layers, with_synonyms=with_synonyms)
        for config in effective_configs({}, layers)
    }


def _set_entries(own: SetConfigs, layers: Layers, *, with_synonyms: bool) -> dict[str, Entry]:
    """Return the known configurations of a topic, by name."""
    return {
        name: _entry(
            EffectiveConfig(name, value, ConfigSource.DYNAMIC_TOPIC),
            own,
            layers,
            with_synonyms=with_synonyms,
        )
        for name, value in own.items()
        if name in DEFINITIONS
    }


def _of_topic(unset: Mapping[str, Entry], own: dict[str, Entry]) -> Iterable[Entry]:
    """Return the configurations of a topic in order of names."""
    entries = {**unset, **own}
    if len(entries) > len(unset):  # the topic sets an internal configuration
        entries = dict(sorted(entries.items()))
    return entries.values()


def _entry(
    config: EffectiveConfig, configs: SetConfigs, layers: Layers, *, with_synonyms: bool
) -> Entry:
    definition = DEFINITIONS[config.name]
    synonyms = tuple(
        Synonym(name=one.name, value=one.value, source=one.source)
        for one in topic_values(definition, configs, layers)
    )
    return Entry(
        name=config.name,
        value=config.value,
        config_source=config.source,
        config_type=definition.type,
        synonyms=synonyms if with_synonyms else (),
    )


_DEFAULTS: Final = tuple(
    {
        config.name: _entry(config, {}, NO_LAYERS, with_synonyms=wanted)
        for config in effective_configs({})
    }
    for wanted in (False, True)
)
"""The entries of unset configurations: without synonyms, and with synonyms."""


def _denied(authorizer: Authorizer | None, event: Received, asked: Asked) -> Result | None:
    """Return the refusal of a resource whose configurations the client may not describe."""
    right = config_right(asked.resource_type, asked.resource_name)
    if authorizer is None or right is None:
        return None
    kind, name = right
    if authorizer.allows_part(event, name, kind):
        return None
    return _refusal(asked, ERRORS[kind], "the configurations may not be described")


def _refusal(asked: Asked, error: ErrorCode, message: str | None) -> Result:
    return Result(
        error_code=error,
        error_message=message,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )
