"""Draw changes of configurations: of topics mostly, with every operation, at and beyond limits.

Values of brokers are harmless: a value that lets brokers lose records would be right to obey.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from kraftproof.cluster.systems.reference.requests.configurations import draw_configurations
from kraftproof.cluster.systems.reference.requests.topics import name_of_resource
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary, draw_number
from kraftproof.node.wire.messages import (
    alter_configs_request,
    incremental_alter_configs_request,
)

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SIZES: Final = (0, 1, 1, 1, 2, 4)
OPERATIONS: Final = (0, 0, 0, 1, 1, 2, 3, 2, 3, -1, 4)
_OF_LISTS: Final = (2, 3)
_LISTS: Final = (
    ("cleanup.policy", "compact"),
    ("cleanup.policy", "delete,compact"),
    ("follower.replication.throttled.replicas", "0:1,1:2"),
)
_OF_BROKERS: Final = (
    ("log.cleaner.backoff.ms", "15001"),
    ("num.io.threads", "9"),
    ("log.cleaner.threads", "x"),
    ("ssl.keystore.type", "PEM"),
    ("node.id", "3"),
    ("no.such.config", "1"),
)
_OF_OTHERS: Final = (("interval.ms", "5000"), ("consumer.session.timeout.ms", "45001"))


def incremental(
    random: Random, vocabulary: Vocabulary
) -> incremental_alter_configs_request.IncrementalAlterConfigsRequest:
    """Return an IncrementalAlterConfigs with any number of resources, good and bad."""
    module = incremental_alter_configs_request

    def altered(kind: int) -> tuple[Any, ...]:
        return tuple(
            module.AlterableConfig(name=name, value=value, config_operation=operation)
            for name, value, operation in _alterations(random, kind)
        )

    return module.IncrementalAlterConfigsRequest(
        resources=_resources(random, vocabulary, module.AlterConfigsResource, altered),
        validate_only=random.random() < 0.2,
    )


def legacy(random: Random, vocabulary: Vocabulary) -> alter_configs_request.AlterConfigsRequest:
    """Return an AlterConfigs with any number of resources, good and bad."""
    module = alter_configs_request

    def given(kind: int) -> tuple[Any, ...]:
        return tuple(
            module.AlterableConfig(name=name, value=value)
            for name, value, _ in _alterations(random, kind)
        )

    return module.AlterConfigsRequest(
        resources=_resources(random, vocabulary, module.AlterConfigsResource, given),
        validate_only=random.random() < 0.2,
    )


def _resources(
    random: Random,
    vocabulary: Vocabulary,
    resource: Callable[..., Any],
    configs: Callable[[int], tuple[Any, ...]],
) -> tuple[Any, ...]:
    drawn = []
    for _ in range(random.choice(SIZES)):
        kind = random.choice((TOPIC,) * 6 + (BROKER, BROKER, METRICS, GROUP, LOGGER))
        name = name_of_resource(random)
        if kind in {BROKER, LOGGER}:
            name = random.choice(("", "", *map(str, vocabulary.brokers), "-1", "7000", "x"))
        elif random.random() < 0.05:
            kind = draw_number(random) % 127
        drawn.append(resource(resource_type=kind, resource_name=name, configs=configs(kind)))
    if drawn and random.random() < 0.1:
        drawn.append(random.choice(drawn))
    return tuple(drawn)


def _alterations(random: Random, kind: int) -> list[tuple[str, str | None, int]]:
    if kind == TOPIC:
        named = draw_configurations(random)
    elif kind in {BROKER, LOGGER}:
        named = [random.choice(_OF_BROKERS) for _ in range(random.choice((1, 1, 2)))]
    else:
        named = [random.choice(_OF_OTHERS)]
    drawn = []
    for name, value in named:
        operation = random.choice(OPERATIONS)
        if operation in _OF_LISTS and kind == TOPIC and random.random() < 0.7:
            name, value = random.choice(_LISTS)  # noqa: PLW2901 - another pair
        drawn.append((name, None if operation == 1 else value, operation))
    return drawn
