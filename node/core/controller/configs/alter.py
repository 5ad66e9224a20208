"""Decide IncrementalAlterConfigs and AlterConfigs for every kind of resource (KIP-339, KIP-133).

Each resource changes as a whole or not at all, and independent of the other resources. The records
of a request are one batch. See resource_names.py for the names of resources, and
node/core/broker/config_changes.py for the part of a request that a broker decides.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final

from immutables import Map

from kraftproof.node.core.configs.resources import (
    Resource,
    check_configs,
    definitions_of,
    is_list,
)
from kraftproof.node.core.configs.values import LONGEST_VALUE, InvalidConfigError
from kraftproof.node.core.controller.configs.resource_names import (
    ResourceError,
    check_exists,
    check_name,
)
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.fencing import elections
from kraftproof.node.core.controller.partitions.unclean import allows_more
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_configs_request,
    alter_configs_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record

IncrementalRequest = incremental_alter_configs_request.IncrementalAlterConfigsRequest
IncrementalResource = incremental_alter_configs_request.AlterConfigsResource
Alteration = incremental_alter_configs_request.AlterableConfig
LegacyRequest = alter_configs_request.AlterConfigsRequest
LegacyResource = alter_configs_request.AlterConfigsResource

MAX_RECORDS: Final = 10_000
"""Kafka's limit on the records of a request."""
_TOO_MANY: Final = f"more than {MAX_RECORDS} records, which are the most that a request may write"
NO_RECEIVER: Final = (
    "client metrics can't be subscribed to: no node of this cluster has a receiver for them"
)
Values = Mapping[str, str | None]
"""The new value of each changed configuration; None removes the configuration."""


class Operation(IntEnum):
    """The operation of an alteration."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def incremental_alter_configs(image: MetadataImage, request: IncrementalRequest) -> Outcome:
    """Set, delete, append to and subtract from single configurations."""
    response = incremental_alter_configs_response
    result = response.AlterConfigsResourceResponse
    return _decide(image, request, _altered, result, response.IncrementalAlterConfigsResponse)


def alter_configs(image: MetadataImage, request: LegacyRequest) -> Outcome:
    """Replace all configurations of resources; an unnamed configuration is removed."""
    response = alter_configs_response
    result = response.AlterConfigsResourceResponse
    return _decide(image, request, _replaced, result, response.AlterConfigsResponse)


def _decide(
    image: MetadataImage,
    request: IncrementalRequest | LegacyRequest,
    wanted: Callable[[MetadataImage, Any], Values],
    result: Callable[..., Any],
    response: Callable[..., Any],
) -> Outcome:
    """Decide each resource on its own.

    `wanted` returns the new values of a resource; `result` and `response` make the answer.
    """
    times = Counter((entry.resource_type, entry.resource_name) for entry in request.resources)
    results = []
    written: list[Record] = []
    for resource in request.resources:
        error, reason = ErrorCode.NONE, None
        key = (resource.resource_type, resource.resource_name)
        try:
            _check_once(times[key])
            written += _records(image, key, wanted(image, resource))
        except ResourceError as refused:
            error, reason = refused.error, refused.reason
        results.append(
            result(
                error_code=error, error_message=reason, resource_type=key[0], resource_name=key[1]
            )
        )
        if len(written) > MAX_RECORDS:
            return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, _TOO_MANY))
    reply = response(responses=tuple(results))
    if request.validate_only:
        return Outcome(reply=reply)
    return Outcome(reply=reply, records=(*written, *_elections(image, written)))


def _elections(image: MetadataImage, written: list[Record]) -> tuple[Record, ...]:
    """Return the elections that become possible as soon as unclean elections are allowed."""
    if not any(map(allows_more, written)):
        return ()
    after = apply_all(image, tuple(written))
    return elections(after, after.without_leader()[:MAX_RECORDS], after.may_lead)


def _check_once(times: int) -> None:
    if times > 1:
        raise ResourceError(ErrorCode.INVALID_REQUEST, "the resource is named twice")


def _check_names(configs: tuple[Any, ...]) -> None:
    if len({config.name for config in configs}) != len(configs):
        raise ResourceError(ErrorCode.INVALID_REQUEST, "a configuration is named twice")


def _altered(image: MetadataImage, resource: IncrementalResource) -> Values:
    """Return the new values after the alterations of a resource.

    Raises:
        ResourceError: an alteration is impossible.
    """
    _check_names(resource.configs)
    present = image.configs.get((resource.resource_type, resource.resource_name), Map())
    return {
        alteration.name: _value(resource.resource_type, present, alteration)
        for alteration in resource.configs
    }


def _value(kind: int, present: Mapping[str, str], alteration: Alteration) -> str | None:
    name, value, operation = alteration.name, alteration.value, alteration.config_operation
    if operation == Operation.DELETE:
        return None
    if operation not in set(Operation):
        raise ResourceError(ErrorCode.INVALID_REQUEST, f"there is no operation {operation}")
    if value is None:
        raise ResourceError(ErrorCode.INVALID_REQUEST, f"{name[:200]} has no value")
    if operation == Operation.SET:
        return value
    if not is_list(kind, name):
        raise ResourceError(ErrorCode.INVALID_CONFIG, f"{name[:200]} is no list")
    if len(value) > LONGEST_VALUE:
        reason = f"{name[:200]}: {len(value)} characters, {LONGEST_VALUE} are the most"
        raise ResourceError(ErrorCode.INVALID_CONFIG, reason)
    base = present.get(name, definitions_of(kind)[name].default or "")
    members = [member for member in base.split(",") if member]
    for member in value.split(","):
        if operation == Operation.SUBTRACT and member in members:
            members.remove(member)
        elif operation == Operation.APPEND and member not in members:
            members.append(member)
    return ",".join(members)


def _replaced(image: MetadataImage, resource: LegacyResource) -> Values:
    """Return the new values if a resource has the given configurations only.

    Raises:
        ResourceError: a configuration has no value, or is named twice.
    """
    _check_names(resource.configs)
    for config in resource.configs:
        if config.value is None:
            raise ResourceError(ErrorCode.INVALID_REQUEST, f"{config.name[:200]} has no value")
    present = image.configs.get((resource.resource_type, resource.resource_name), Map())
    given: dict[str, str | None] = {config.name: config.value for config in resource.configs}
    return {**given, **dict.fromkeys(sorted(present.keys() - given.keys()))}


def _records(image: MetadataImage, key: tuple[int, str], values: Values) -> list[Record]:
    """Return the records of a resource's new values.

    A broker gets a record for an unchanged value, too, since the broker then reads its files anew.

    Raises:
        ResourceError: the resource does not exist, or the values are illegal.
    """
    kind, name = key
    check_name(kind, name)
    present = image.configs.get(key, Map())
    after = {entry: values.get(entry, present.get(entry)) for entry in sorted({*present, *values})}
    try:
        check_configs(kind, {entry: text for entry, text in after.items() if text is not None})
    except InvalidConfigError as error:
        raise ResourceError(ErrorCode.INVALID_CONFIG, str(error)) from error
    check_exists(image, kind, name)
    if kind == Resource.CLIENT_METRICS and any(text is not None for text in values.values()):
        raise ResourceError(ErrorCode.INVALID_REQUEST, NO_RECEIVER)
    return [
        records.ConfigRecord(resource_type=kind, resource_name=name, name=entry, value=text)
        for entry, text in values.items()
        if kind == Resource.BROKER or text != present.get(entry)
    ]
