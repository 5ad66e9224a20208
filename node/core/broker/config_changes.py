"""Decide the part of a change of configurations that only a broker can judge (KIP-226, KIP-412).

A client sends the changes of a broker to that broker, which refuses a configuration that can't
change while the broker runs, and a configuration of another broker. Loggers stay with the broker.
The rest of the request goes to the controller; `Split.merge` puts both results into one answer.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.broker.configs import check_is_this_broker
from kraftproof.node.core.configs.dynamic import BOUND_AT_START
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource, definitions_of
from kraftproof.node.core.configs.values import InvalidConfigError, parse_value
from kraftproof.node.core.controller.configs.alter import Operation
from kraftproof.node.core.controller.configs.resource_names import ResourceError
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_configs_request,
    incremental_alter_configs_request,
)

ConfigChange = (
    alter_configs_request.AlterConfigsRequest
    | incremental_alter_configs_request.IncrementalAlterConfigsRequest
)
CHANGES: Final = (
    alter_configs_request.AlterConfigsRequest,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest,
)
Resources = tuple[Any, ...]
"""The resources of either request, which have the same fields."""


class Split(Struct, frozen=True, kw_only=True):
    """A request of a client: what the controller decides, and the broker's own results."""

    request: ConfigChange
    forwarded: ConfigChange | None
    """The request with the resources for the controller; None without such a resource."""
    refused: Mapping[int, ResourceError]
    """The broker's refusals by the place of the resource."""

    def merge(self, answer: Message | None) -> Message:
        """Return the answer to the whole request, in the order of the request."""
        template: Any = refusal(self.request, ErrorCode.NONE)
        decided = iter(() if answer is None else getattr(answer, "responses", ()))
        results = tuple(
            replace(result, error_code=refused.error, error_message=refused.reason)
            if (refused := self.refused.get(place)) is not None
            else next(decided, result)
            for place, result in enumerate(template.responses)
        )
        merged: Message = replace(template, responses=results)
        return merged


def split(request: ConfigChange, node_id: NodeId) -> Split:
    """Judge the resources of brokers and loggers, and keep the others for the controller."""
    resources: Resources = request.resources
    times = Counter((entry.resource_type, entry.resource_name) for entry in resources)
    refused: dict[int, ResourceError] = {}
    rest = []
    for place, resource in enumerate(resources):
        try:
            _check(resource, node_id, times[resource.resource_type, resource.resource_name])
        except ResourceError as error:
            refused[place] = error
        else:
            rest.append(resource)
    forwarded = replace(request, resources=tuple(rest)) if rest or not refused else None
    return Split(request=request, forwarded=forwarded, refused=refused)


def _check(resource: Any, node_id: NodeId, times: int) -> None:  # noqa: ANN401 - see Resources
    """Refuse a resource that this broker must not forward.

    Raises:
        ResourceError: with the answer for the resource.
    """
    kind, name = resource.resource_type, resource.resource_name
    if times > 1:
        raise ResourceError(ErrorCode.INVALID_REQUEST, "the resource is named twice")
    if kind not in set(Resource):
        raise ResourceError(ErrorCode.INVALID_REQUEST, f"resource type {kind} has no values")
    for config in resource.configs:
        operation = getattr(config, "config_operation", Operation.SET)
        if config.value is None and operation != Operation.DELETE:
            raise ResourceError(ErrorCode.INVALID_REQUEST, f"{config.name[:200]} has no value")
    if kind == Resource.BROKER_LOGGER:
        check_is_this_broker(node_id, name)
        for config in resource.configs:
            reason = f"there is no logger {config.name[:200]}"
            raise ResourceError(ErrorCode.INVALID_CONFIG, reason)
        raise ResourceError(ErrorCode.NONE, "")
    if kind == Resource.BROKER:
        if name != ALL_BROKERS:
            check_is_this_broker(node_id, name)
        for config in resource.configs:
            _check_broker_config(config, is_for_all=name == ALL_BROKERS)


def _check_broker_config(config: Any, *, is_for_all: bool) -> None:  # noqa: ANN401 - see Resources
    """Refuse a configuration that a running broker can't take over."""
    definition = definitions_of(Resource.BROKER).get(config.name)
    if definition is None or config.name in BOUND_AT_START:
        reason = f"{config.name[:200]} can not change while the broker runs"
        raise ResourceError(ErrorCode.INVALID_REQUEST, reason)
    if is_for_all and definition.is_per_broker:
        reason = f"{config.name} can be set for a single broker only"
        raise ResourceError(ErrorCode.INVALID_REQUEST, reason)
    operation = getattr(config, "config_operation", Operation.SET)
    if operation == Operation.SET and config.value is not None:
        try:
            parse_value(definition, config.value)
        except InvalidConfigError as error:
            raise ResourceError(ErrorCode.INVALID_REQUEST, str(error)) from error
