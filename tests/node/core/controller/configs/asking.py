"""Requests about configurations. No tests here."""

from kraftproof.node.wire.messages import (
    alter_configs_request,
    incremental_alter_configs_request,
)

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
Change = tuple[str, str | None] | tuple[str, str | None, int]


def resource(kind: int, name: str, *changes: Change):
    alteration = incremental_alter_configs_request.AlterableConfig
    return incremental_alter_configs_request.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=tuple(
            alteration(name=one[0], value=one[1], config_operation=one[2] if one[2:] else SET)
            for one in changes
        ),
    )


def incremental(*resources, validate_only: bool = False):
    return incremental_alter_configs_request.IncrementalAlterConfigsRequest(
        resources=resources, validate_only=validate_only
    )


def legacy(kind: int, name: str, *pairs: tuple[str, str | None]):
    module = alter_configs_request
    configs = tuple(module.AlterableConfig(name=key, value=value) for key, value in pairs)
    return module.AlterConfigsRequest(
        resources=(
            module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs),
        )
    )
