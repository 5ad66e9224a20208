"""Compare the errors of AlterConfigs for wrong resources with a table (KIP-226, KIP-339, KIP-714).

Clients tell a wrong name from a missing resource by the code.
"""

from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.controller.configs.alter import alter_configs, incremental_alter_configs
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import alter_configs_request, incremental_alter_configs_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
KNOWN, ID = "known", 7
KEYS: Final = {
    TOPIC: ("retention.ms", "5"),
    BROKER: ("background.threads", "3"),
    CLIENT_METRICS: ("interval.ms", "5000"),
    GROUP: ("consumer.session.timeout.ms", "50000"),
}
NONE, INVALID = ErrorCode.NONE, ErrorCode.INVALID_REQUEST
RESOURCES: Final = {
    (TOPIC, KNOWN): NONE,
    (TOPIC, ""): INVALID,
    (TOPIC, "a/b"): ErrorCode.INVALID_TOPIC_EXCEPTION,
    (TOPIC, "."): ErrorCode.INVALID_TOPIC_EXCEPTION,
    (TOPIC, "a" * 250): ErrorCode.INVALID_TOPIC_EXCEPTION,
    (TOPIC, "absent"): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    (BROKER, ""): NONE,
    (BROKER, str(ID)): NONE,
    (BROKER, "8"): ErrorCode.BROKER_ID_NOT_REGISTERED,
    (BROKER, "x"): INVALID,
    (BROKER, "-"): INVALID,
    (CLIENT_METRICS, "any"): INVALID,  # docs/decisions/0628
    (CLIENT_METRICS, ""): INVALID,
    (GROUP, "any"): NONE,
    (GROUP, ""): INVALID,
    (BROKER_LOGGER, str(ID)): INVALID,
    (0, "any"): INVALID,
    (99, "any"): INVALID,
}
"""The error for each type and name of a resource; see ControllerConfigurationValidator."""


def compare_resource_errors(random: Random) -> None:
    """Alter configurations of right and wrong resources in a drawn order.

    Raises:
        DifferenceError: a resource has another error, or an error without a reason.
    """
    topic = records.TopicRecord(name=KNOWN, topic_id=Uuid(b"k" * 16))
    image = apply_all(EMPTY_IMAGE, (registered(ID, (Uuid(b"d" * 16),)), topic))
    asked = random.sample(sorted(RESOURCES), random.randint(1, len(RESOURCES)))
    module: Any
    decide: Any
    if random.random() < 0.5:
        module, name, decide = alter_configs_request, "AlterConfigsRequest", alter_configs
    else:
        module, name = incremental_alter_configs_request, "IncrementalAlterConfigsRequest"
        decide = incremental_alter_configs
    request = getattr(module, name)(
        resources=tuple(
            module.AlterConfigsResource(
                resource_type=kind,
                resource_name=resource,
                configs=tuple(
                    module.AlterableConfig(name=key, value=value)
                    for key, value in ([KEYS[kind]] if kind in KEYS else [])
                ),
            )
            for kind, resource in asked
        )
    )
    outcome = decide(image, request)
    reply: Any = outcome.reply
    found = {(one.resource_type, one.resource_name): one.error_code for one in reply.responses}
    for one in asked:
        same(f"the error of {name} for {one}", found.get(one), RESOURCES[one])
    silent = [
        one.resource_name for one in reply.responses if one.error_code and not one.error_message
    ]
    check(f"each error of {name} has a reason, not so {silent}", not silent)
    changed = {
        (one.resource_type, one.resource_name)
        for one in outcome.records
        if isinstance(one, records.ConfigRecord)
    }
    same(f"the resources that {name} changes", changed, {one for one in asked if not found[one]})
