"""DescribeConfigs from the broker's own committed image (KIP-133; KIP-631 "ConfigRecord").

Topics only. Simplification: what was set is shown, and no defaults, for the values have no
effect yet; Kafka shows every configuration that a topic has.
"""

from collections.abc import Mapping
from typing import Final

from node.core.metadata.image import MetadataImage
from node.wire.errors import ErrorCode
from node.wire.messages import describe_configs_request, describe_configs_response

TOPIC: Final = 2
"""The resource type of a topic."""
DYNAMIC_TOPIC: Final = 1
"""The source of a value that was set for the topic itself."""


def describe(
    image: MetadataImage, request: describe_configs_request.DescribeConfigsRequest
) -> describe_configs_response.DescribeConfigsResponse:
    """Each resource asked for, in that order."""
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
    if image.topic_named(name) is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _refusal(resource, error, f"there is no topic {name}")
    values: Mapping[str, str] = image.configs.get((kind, name), {})
    wanted = resource.configuration_keys or values
    return describe_configs_response.DescribeConfigsResult(
        resource_type=kind,
        resource_name=name,
        configs=tuple(
            _entry(key, values[key], with_synonyms=with_synonyms)
            for key in sorted(set(wanted))
            if key in values
        ),
    )


def _entry(
    name: str, value: str, *, with_synonyms: bool
) -> describe_configs_response.DescribeConfigsResourceResult:
    itself = describe_configs_response.DescribeConfigsSynonym(
        name=name, value=value, source=DYNAMIC_TOPIC
    )
    return describe_configs_response.DescribeConfigsResourceResult(
        name=name,
        value=value,
        config_source=DYNAMIC_TOPIC,
        synonyms=(itself,) if with_synonyms else (),
    )


def _refusal(
    resource: describe_configs_request.DescribeConfigsResource, error: ErrorCode, message: str
) -> describe_configs_response.DescribeConfigsResult:
    return describe_configs_response.DescribeConfigsResult(
        error_code=error,
        error_message=message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
