"""The faults of an answer to DescribeConfigs, by the image and by Kafka's definitions (KIP-133).

A configuration is shown with the value that is set for the topic, or with its default. See
broker_answers.py for the invariant.
"""

from collections.abc import Iterator
from typing import Final

from kraftproof.node.core.configs.definition import Definition
from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_configs_request, describe_configs_response

TOPIC_CONFIGS: Final = 2
"""The resource type of a topic."""
SET_FOR_TOPIC, DEFAULT = 1, 5
"""The sources of a value."""
KNOWN: Final = {definition.name: definition for definition in TOPIC_DEFINITIONS}
Entry = describe_configs_response.DescribeConfigsResourceResult
Synonyms = list[tuple[str, str | None, int]]


def config_faults(
    image: MetadataImage,
    request: describe_configs_request.DescribeConfigsRequest,
    message: describe_configs_response.DescribeConfigsResponse,
) -> Iterator[str]:
    """Describe differences between the answered and the right configurations of topics."""
    if len(message.results) != len(request.resources):
        yield f"answers {len(message.results)} resources of {len(request.resources)} requested"
        return
    for asked, result in zip(request.resources, message.results, strict=True):
        name, kind = asked.resource_name, asked.resource_type
        is_known = kind == TOPIC_CONFIGS and name in image.topic_ids
        if (result.resource_type, result.resource_name) != (kind, name):
            yield f"answers resource {result.resource_name} of type {result.resource_type}"
        if is_known != (result.error_code == ErrorCode.NONE):
            yield f"topic {name}: error {result.error_code}, but in the image: {is_known}"
        elif is_known:
            held = dict(image.configs.get((TOPIC_CONFIGS, name), {}))
            for fault in _topic_faults(held, request, asked, result):
                yield f"topic {name}: {fault}"


def _topic_faults(
    held: dict[str, str],
    request: describe_configs_request.DescribeConfigsRequest,
    asked: describe_configs_request.DescribeConfigsResource,
    result: describe_configs_response.DescribeConfigsResult,
) -> Iterator[str]:
    """Describe the faults of the entries of a topic, whose own values are `held`."""
    wanted = set(asked.configuration_keys or ()) or {*KNOWN}
    names = [
        name for name in sorted(wanted & {*KNOWN}) if name in held or not KNOWN[name].is_internal
    ]
    said = [entry.name for entry in result.configs]
    if sorted(said) != names:
        differing = sorted({*said} ^ {*names})
        yield f"answers {len(said)} configurations, not {len(names)}, such as {differing[:3]}"
        return
    for entry in result.configs:
        known, own = KNOWN[entry.name], held.get(entry.name)
        fault = _entry_fault(entry, known, own, with_synonyms=request.include_synonyms)
        if fault is not None:
            yield fault


def _entry_fault(
    entry: Entry, known: Definition, own: str | None, *, with_synonyms: bool
) -> str | None:
    """Describe the fault of an entry; a default value has its broker-wide name as a synonym."""
    value, source = (known.default, DEFAULT) if own is None else (own, SET_FOR_TOPIC)
    if (entry.value, entry.config_source) != (value, source):
        return f"{entry.name} is {entry.value} of source {entry.config_source}, not {value}"
    if entry.config_type != known.type:
        return f"{entry.name} is of type {entry.config_type}, not {known.type}"
    right: Synonyms = []
    if with_synonyms and own is not None:
        right.append((entry.name, own, SET_FOR_TOPIC))
    if with_synonyms and known.synonyms:
        right.append((known.synonyms[0], known.default, DEFAULT))
    told = [(one.name, one.value, one.source) for one in entry.synonyms]
    return None if told == right else f"{entry.name} has the synonyms {told}, not {right}"
