"""Answer DescribeConfigs from the broker's committed image (KIP-133; KIP-631 "ConfigRecord").

Only topics have configurations. Simplification: answers contain no documentation texts.
"""

from typing import Final

from immutables import Map

from kraftproof.node.core.configs.effective import (
    ConfigSource,
    EffectiveConfig,
    SetConfigs,
    effective_configs,
)
from kraftproof.node.core.configs.values import DEFINITIONS
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.names import is_legal_name
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_configs_request, describe_configs_response

TOPIC: Final = 2
"""The resource type of a topic."""
Entry = describe_configs_response.DescribeConfigsResourceResult
Synonym = describe_configs_response.DescribeConfigsSynonym


def describe(
    image: MetadataImage, request: describe_configs_request.DescribeConfigsRequest
) -> describe_configs_response.DescribeConfigsResponse:
    """Return the configurations of each requested resource, in the order of the request."""
    return describe_configs_response.DescribeConfigsResponse(
        results=tuple(
            _describe(image, resource, with_synonyms=request.include_synonyms)
            for resource in request.resources
        )
    )


def _describe(
    image: MetadataImage,
    resource: describe_configs_request.DescribeConfigsResource,
    *,
    with_synonyms: bool,
) -> describe_configs_response.DescribeConfigsResult:
    kind, name = resource.resource_type, resource.resource_name
    if kind != TOPIC:
        return _refusal(resource, ErrorCode.INVALID_REQUEST, f"resource type {kind} is no topic")
    if not is_legal_name(name):
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
        return _refusal(resource, error, f"{name[:260]!r} is no topic name")
    if image.topic_named(name) is None:
        return _refusal(resource, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    return describe_configs_response.DescribeConfigsResult(
        resource_type=kind,
        resource_name=name,
        configs=_entries(
            image.configs.get((kind, name), Map()),
            resource.configuration_keys,
            with_synonyms=with_synonyms,
        ),
    )


def _entries(
    configs: SetConfigs, keys: tuple[str, ...] | None, *, with_synonyms: bool
) -> tuple[Entry, ...]:
    # Default entries are shared, since a request may name thousands of topics.
    defaults = _DEFAULTS[with_synonyms]
    if not configs and not keys:
        return tuple(defaults.values())
    wanted = frozenset(keys or DEFINITIONS)
    return tuple(
        defaults[config.name]
        if config.source is ConfigSource.DEFAULT
        else _entry(config, with_synonyms=with_synonyms)
        for config in effective_configs(configs)
        if config.name in wanted
    )


def _entry(config: EffectiveConfig, *, with_synonyms: bool) -> Entry:
    return Entry(
        name=config.name,
        value=config.value,
        config_source=config.source,
        config_type=DEFINITIONS[config.name].type,
        synonyms=_synonyms(config) if with_synonyms else (),
    )


def _synonyms(config: EffectiveConfig) -> tuple[Synonym, ...]:
    """Return the value and its fallbacks in order of precedence."""
    definition = DEFINITIONS[config.name]
    default = tuple(
        Synonym(name=name, value=definition.default, source=ConfigSource.DEFAULT)
        for name in definition.synonyms[:1]
    )
    if config.source is ConfigSource.DEFAULT:
        return default
    return (Synonym(name=config.name, value=config.value, source=config.source), *default)


_DEFAULTS: Final = tuple(
    {config.name: _entry(config, with_synonyms=wanted) for config in effective_configs({})}
    for wanted in (False, True)
)
"""The entries of unset configurations: without synonyms, and with synonyms."""


def _refusal(
    resource: describe_configs_request.DescribeConfigsResource,
    error: ErrorCode,
    message: str | None,
) -> describe_configs_response.DescribeConfigsResult:
    return describe_configs_response.DescribeConfigsResult(
        error_code=error,
        error_message=message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
