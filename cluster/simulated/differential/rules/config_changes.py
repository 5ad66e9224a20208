"""Compare the part of a change of configurations that a broker decides with a reference."""

from collections import Counter
from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.broker.config_changes import split
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_configs_request,
    alter_configs_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
)

ROUNDS: Final = 40
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
VALUES: Final = {
    "max.connections": ("5", "6", "many"),
    "log.cleanup.policy": ("compact", "delete", "neither"),
    "min.insync.replicas": ("1", "2", "0"),
    "unclean.leader.election.enable": ("true", "false", "perhaps"),
}
"""Keys that a running broker may change: two legal values and an illegal one."""
FIXED: Final = ("node.id", "log.dirs", "no.such.key", "listeners")
"""Keys that no running broker changes."""
OF_ONE_BROKER: Final = "ssl.keystore.location"
"""A key that each broker has for itself."""
Results = list[tuple[int, str, int]]


def compare_config_changes(random: Random) -> None:
    """Split drawn requests, and merge the answers of a controller.

    Raises:
        DifferenceError: a resource is refused or forwarded wrongly, or its answer is lost.
    """
    for _ in range(ROUNDS):
        _compare(random, random.choice((0, 1, 12)), is_legacy=random.random() < 0.3)


def _compare(random: Random, own: int, *, is_legacy: bool) -> None:
    asked = [draw_resource(random, own, is_legacy=is_legacy) for _ in range(random.randint(0, 4))]
    request = request_of(tuple(asked), is_legacy=is_legacy)
    found = split(request, NodeId(own))
    errors = errors_of(asked, own, is_legacy=is_legacy)
    refused = {place: int(refusal.error) for place, refusal in found.refused.items()}
    due = {place: int(error) for place, error in enumerate(errors) if error is not None}
    same("the resources that a broker decides", refused, due)
    rest = tuple(one for one, error in zip(asked, errors, strict=True) if error is None)
    forwarded = None if found.forwarded is None else found.forwarded.resources
    same("the resources for the controller", forwarded, None if due and not rest else rest)
    given = [random.choice((ErrorCode.NONE, ErrorCode.INVALID_CONFIG)) for _ in rest]
    answer = answer_of(rest, given, is_legacy=is_legacy)
    merged: Any = found.merge(answer if rest else random.choice((None, answer)))
    decided = iter(given)
    expected: Results = [
        (one.resource_type, one.resource_name, next(decided) if error is None else error)
        for one, error in zip(asked, errors, strict=True)
    ]
    told = [(one.resource_type, one.resource_name, one.error_code) for one in merged.responses]
    same("the merged answer", told, expected)


def draw_resource(random: Random, own: int, *, is_legacy: bool) -> Any:  # noqa: ANN401 - of either request
    """Return the changes of a resource: right, wrong, or of another broker."""
    kind = random.choice((TOPIC, BROKER, BROKER, BROKER, LOGGER, METRICS, GROUP, 3))
    name = random.choice((str(own), str(own), "", "7") if kind in {BROKER, LOGGER} else ("t", "u"))
    configs = tuple(
        _draw_config(random, is_legacy=is_legacy) for _ in range(random.choice((0, 1, 1, 2)))
    )
    if is_legacy:
        return alter_configs_request.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=configs
        )
    return incremental_alter_configs_request.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=configs
    )


def _draw_config(random: Random, *, is_legacy: bool) -> Any:  # noqa: ANN401 - of either request
    key = random.choice((*VALUES, *VALUES, *FIXED, OF_ONE_BROKER))
    value = random.choice((*VALUES.get(key, ("x",))[:2], *VALUES.get(key, ("x",)), None))
    if is_legacy:
        return alter_configs_request.AlterableConfig(name=key, value=value)
    operation = random.choice((SET, SET, SET, DELETE, APPEND, SUBTRACT))
    return incremental_alter_configs_request.AlterableConfig(
        name=key, config_operation=operation, value=value
    )


def request_of(asked: tuple[Any, ...], *, is_legacy: bool) -> Any:  # noqa: ANN401 - either request
    """Return a request with the changes of some resources."""
    legacy = alter_configs_request.AlterConfigsRequest
    incremental = incremental_alter_configs_request.IncrementalAlterConfigsRequest
    return (legacy if is_legacy else incremental)(resources=asked, validate_only=False)


def answer_of(rest: tuple[Any, ...], errors: list[ErrorCode], *, is_legacy: bool) -> Any:  # noqa: ANN401
    """Return the answer of a controller with an error for each resource."""
    legacy, incremental = alter_configs_response, incremental_alter_configs_response
    whole: Any = incremental.IncrementalAlterConfigsResponse
    part: Any = incremental.AlterConfigsResourceResponse
    if is_legacy:
        whole, part = legacy.AlterConfigsResponse, legacy.AlterConfigsResourceResponse
    return whole(
        responses=tuple(
            part(
                error_code=error,
                error_message=None,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one, error in zip(rest, errors, strict=True)
        )
    )


def errors_of(asked: list[Any], own: int, *, is_legacy: bool) -> list[ErrorCode | None]:
    """Return the broker's own decisions about resources; None for the controller."""
    times = Counter((one.resource_type, one.resource_name) for one in asked)
    return [
        _error(one, own, times[one.resource_type, one.resource_name], is_legacy=is_legacy)
        for one in asked
    ]


def _error(asked: Any, own: int, times: int, *, is_legacy: bool) -> ErrorCode | None:  # noqa: ANN401
    """Return the broker's own decision about a resource; None for the controller."""
    kind, name = asked.resource_type, asked.resource_name
    operations = [SET if is_legacy else one.config_operation for one in asked.configs]
    changes = [*zip(asked.configs, operations, strict=True)]
    is_foreign = name not in {str(own)} | ({""} if kind == BROKER else set())
    if (
        times > 1
        or kind not in {TOPIC, BROKER, LOGGER, METRICS, GROUP}
        or any(one.value is None and operation != DELETE for one, operation in changes)
        or (kind in {BROKER, LOGGER} and is_foreign)
    ):
        return ErrorCode.INVALID_REQUEST
    if kind == LOGGER:
        return ErrorCode.INVALID_CONFIG if changes else ErrorCode.NONE
    if kind == BROKER and any(_is_wrong(one, operation, name) for one, operation in changes):
        return ErrorCode.INVALID_REQUEST
    return None


def _is_wrong(config: Any, operation: int, name: str) -> bool:  # noqa: ANN401 - of either request
    """Return whether a running broker can't take over a configuration."""
    if config.name in FIXED or (config.name == OF_ONE_BROKER and not name):
        return True
    is_illegal = config.name in VALUES and config.value == VALUES[config.name][2]
    return operation == SET and is_illegal
