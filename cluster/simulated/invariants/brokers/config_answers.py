"""The faults of an answer to DescribeConfigs, by the image and by Kafka's definitions (KIP-133).

A configuration is shown with the value that is set for the topic, or with its default. See
broker_answers.py for the invariant.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from kraftproof.node.core.configs.definition import Definition
from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS
from kraftproof.node.core.configs.values import is_legal
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_configs_request, describe_configs_response

TOPIC_CONFIGS: Final = 2
"""The resource type of a topic."""
BROKER_CONFIGS: Final = 4
"""The resource type of a broker."""
SET_FOR_TOPIC, SET_FOR_BROKER, SET_FOR_ALL_BROKERS, STATIC, DEFAULT = 1, 2, 3, 4, 5
"""The sources of a value."""
KNOWN: Final = {definition.name: definition for definition in TOPIC_DEFINITIONS}
Entry = describe_configs_response.DescribeConfigsResourceResult
Synonyms = list[tuple[str, str | None, int]]


def config_faults(
    image: MetadataImage,
    node_id: int,
    request: describe_configs_request.DescribeConfigsRequest,
    message: describe_configs_response.DescribeConfigsResponse,
    static: Mapping[str, str],
) -> Iterator[str]:
    """Describe differences between the answered and the right configurations.

    Args:
        image: The image of the broker.
        node_id: The broker.
        request: The request.
        message: The answer.
        static: The broker's own file.
    """
    if len(message.results) != len(request.resources):
        yield f"answers {len(message.results)} resources of {len(request.resources)} requested"
        return
    for asked, result in zip(request.resources, message.results, strict=True):
        name, kind = asked.resource_name, asked.resource_type
        if (result.resource_type, result.resource_name) != (kind, name):
            yield f"answers resource {result.resource_name} of type {result.resource_type}"
        is_known = _is_described(image, node_id, kind, name)
        if is_known != (result.error_code == ErrorCode.NONE):
            yield f"resource {name}: error {result.error_code}, but it is described: {is_known}"
        elif is_known and kind == TOPIC_CONFIGS:
            held = _held(image, node_id, name, static)
            for fault in _topic_faults(held, request, asked, result):
                yield f"topic {name}: {fault}"
        elif is_known and not asked.configuration_keys:
            yield from _own_faults(image, kind, name, result)


def _is_described(image: MetadataImage, node_id: int, kind: int, name: str) -> bool:
    """Return whether a broker describes a resource: topics, itself, all brokers, others by name."""
    match kind:
        case 2:
            return name in image.topic_ids
        case 4:
            return name in {"", str(node_id)}
        case 8:
            return name == str(node_id)
        case 16 | 32:
            return bool(name)
        case _:
            return False


def _own_faults(
    image: MetadataImage,
    kind: int,
    name: str,
    result: describe_configs_response.DescribeConfigsResult,
) -> Iterator[str]:
    """Describe the set values of a resource that the answer lacks."""
    shown = {entry.name: entry.value for entry in result.configs if not entry.is_sensitive}
    for key, value in sorted(image.configs.get((kind, name), {}).items()):
        if key in shown and shown[key] != value:
            yield f"resource {name} of type {kind}: {key} is {shown[key]}, not {value}"


def _held(
    image: MetadataImage, node_id: int, topic: str, static: Mapping[str, str]
) -> dict[str, list[tuple[str, int]]]:
    """Return the set values of each configuration of a topic with their sources, by precedence.

    A broker ignores an illegal value of its own and of all brokers: nobody but a broker judges the
    value, and a client of the controllers may set any text. The legality of texts is compared
    apart (RulesMatchReference).
    """
    layers = (
        ((TOPIC_CONFIGS, topic), SET_FOR_TOPIC),
        ((BROKER_CONFIGS, str(node_id)), SET_FOR_BROKER),
        ((BROKER_CONFIGS, ""), SET_FOR_ALL_BROKERS),
    )
    held: dict[str, list[tuple[str, int]]] = {}
    for name, known in KNOWN.items():
        for resource, source in layers:
            key = name if source == SET_FOR_TOPIC else (*known.synonyms, "")[0]
            texts: Mapping[str, str] = image.configs.get(resource, {})
            if key in texts and (source == SET_FOR_TOPIC or is_legal(known, texts[key])):
                held.setdefault(name, []).append((texts[key], source))
        own = (*known.synonyms, "")[0]
        if own in static:
            held.setdefault(name, []).append((static[own], STATIC))
    return held


def _topic_faults(
    held: dict[str, list[tuple[str, int]]],
    request: describe_configs_request.DescribeConfigsRequest,
    asked: describe_configs_request.DescribeConfigsResource,
    result: describe_configs_response.DescribeConfigsResult,
) -> Iterator[str]:
    """Describe the faults of the entries of a topic, whose set values are `held`."""
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
        known, own = KNOWN[entry.name], held.get(entry.name, [])
        fault = _entry_fault(entry, known, own, with_synonyms=request.include_synonyms)
        if fault is not None:
            yield fault


def _entry_fault(
    entry: Entry, known: Definition, own: list[tuple[str, int]], *, with_synonyms: bool
) -> str | None:
    """Describe the fault of an entry; a default value has its broker-wide name as a synonym."""
    value, source = own[0] if own else (known.default, DEFAULT)
    if (entry.value, entry.config_source) != (value, source):
        return f"{entry.name} is {entry.value} of source {entry.config_source}, not {value}"
    if entry.config_type != known.type:
        return f"{entry.name} is of type {entry.config_type}, not {known.type}"
    right: Synonyms = []
    if with_synonyms:
        for text, origin in own:
            name = entry.name if origin == SET_FOR_TOPIC else known.synonyms[0]
            right.append((name, text, origin))
        right += [(name, known.default, DEFAULT) for name in known.synonyms[:1]]
    told = [(one.name, one.value, one.source) for one in entry.synonyms]
    return None if told == right else f"{entry.name} has the synonyms {told}, not {right}"
