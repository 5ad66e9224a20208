"""A topic that an operator opens for unclean elections, and closes again, amid other settings.

The change elects leaders at once where no member of the ISR is alive (KIP-183, KIP-460). The
specification of the controller judges the elections. One request has several settings, and at
times two topics.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    incremental_alter_configs_request,
)

SHARE: Final = 0.2
"""Share of runs with the topic."""
LABEL: Final = "unclean-topic-30565"
"""Source of the draw; by this label the seeds recorded for older mutants have no such topic."""
NAMES: Final = ("__unclean", "__clean")
PARTITIONS: Final = 4
MOST_REPLICAS: Final = 3
MAX_WAIT_NS: Final = milliseconds(2_000)
TIMEOUT_MS: Final = 2_000
LONGEST_REST_NS: Final = milliseconds(2_500)
CREATE_VERSION, ALTER_VERSION = 7, 1
TOPIC_RESOURCE: Final = 2
SET, DELETE = 0, 1
UNCLEAN: Final = "unclean.leader.election.enable"
OTHERS: Final = (
    ("retention.ms", ("100000", "200000")),
    ("max.message.bytes", ("3000", "4000")),
    ("min.insync.replicas", ("1", "2")),
)

Configs = incremental_alter_configs_request


async def change_settings(
    scope: SimulatedScope, network: Network, random: Random, brokers: Sequence[int]
) -> None:
    """Create the topics, and change their settings until the run ends."""
    replicas = min(MOST_REPLICAS, len(brokers))
    topics = tuple(
        create_topics_request.CreatableTopic(
            name=name, num_partitions=PARTITIONS, replication_factor=replicas
        )
        for name in NAMES
    )
    create = create_topics_request.CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
    is_created = False
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        broker = random.choice(brokers)
        if not is_created:
            is_created = await _ask(scope, network, broker, create, CREATE_VERSION)
        else:
            await _ask(scope, network, broker, draw_change(random), ALTER_VERSION)


def draw_change(random: Random) -> Configs.IncrementalAlterConfigsRequest:
    """Return a change of one or two topics, with up to three settings each."""
    names = NAMES[: random.choice((1, 1, 2))]
    resources = tuple(
        Configs.AlterConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=name, configs=_settings(random, name)
        )
        for name in names
    )
    return Configs.IncrementalAlterConfigsRequest(resources=resources)


def _settings(random: Random, name: str) -> tuple[Configs.AlterableConfig, ...]:
    others = random.sample(OTHERS, random.choice((0, 1, 1, 2)))
    drawn = [
        Configs.AlterableConfig(name=each, config_operation=SET, value=random.choice(values))
        for each, values in others
    ]
    if name == NAMES[0] or not drawn:
        is_open = name == NAMES[0] and random.random() < 0.6
        operation = SET if is_open or random.random() < 0.5 else DELETE
        value = ("true" if is_open else "false") if operation == SET else None
        drawn.append(Configs.AlterableConfig(name=UNCLEAN, config_operation=operation, value=value))
    random.shuffle(drawn)
    return tuple(drawn)


async def _ask(
    scope: SimulatedScope, network: Network, broker: int, message: Message, version: int
) -> bool:
    """Return whether a request was answered; invariants judge the answer."""
    try:
        connection = await connect(scope, network, broker, MAX_WAIT_NS)
        await connection.call(message, version, MAX_WAIT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return False
    connection.close()
    return True
