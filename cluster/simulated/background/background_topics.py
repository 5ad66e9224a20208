"""Background topics, created and deleted beside the workload, some with manual assignments.

The topics are also placed on brokers registered by a workload, so that such brokers lead
partitions and are in sync replicas when they are fenced, shut down or unregistered. Some topics
are assigned to a broker that is about to shut down. Only a few topics exist at a time, and no
history contains their operations.
"""

from collections import deque
from collections.abc import Mapping
from random import Random

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.systems.reference.requests.configurations import draw_configurations
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import Message, create_topics_request, delete_topics_request

SHARE = 0.5
"""Share of runs with background topics."""
MAX_TOPICS = 6
MAX_REPLICAS = 6
MAX_PARTITIONS = 2
MANUAL_SHARE = 0.6
"""Share of topics with manually assigned replicas on unfenced brokers."""
CONFIGS_SHARE = 0.4
"""Share of topics with configurations."""
MAX_WAIT_NS = milliseconds(1_000)
"""Time-out of a connection, and of a response."""
LONGEST_REST_NS = milliseconds(4_000)
"""Longest time between two new topics."""
CREATE_VERSION = 7
DELETE_VERSION = 6
NAME = "__tenant-{}"
"""Name of a background topic; no workload uses names with two leading underscores."""


async def create_and_delete_topics(
    scope: SimulatedScope, network: Network, random: Random, brokers: Mapping[int, Machine]
) -> None:
    """Create topics and delete the oldest topics, until the run ends."""
    made, ids = 0, sorted(brokers)
    present: deque[str] = deque()
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        made += 1
        present.append(NAME.format(made))
        asked = random.choice(ids)
        create = _create(random, present[-1], _unfenced(brokers[asked]))
        await _ask(scope, network, asked, create)
        if len(present) > MAX_TOPICS:
            await _ask(scope, network, random.choice(ids), _delete(present.popleft()))


async def _ask(
    scope: SimulatedScope, network: Network, broker: int, request: tuple[Message, int]
) -> None:
    """Send a request and ignore the answer, which may be an error, as with too few brokers."""
    message, version = request
    try:
        connection = await connect(scope, network, broker, MAX_WAIT_NS)
        await connection.call(message, version, MAX_WAIT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return
    connection.close()


def _unfenced(machine: Machine) -> list[int]:
    """Return the unfenced brokers by the image of a broker; some may be about to shut down."""
    if machine.process is None:
        return []
    return [one.broker_id for one in machine.process.image.sorted_brokers() if not one.fenced]


def _create(random: Random, name: str, unfenced: list[int]) -> tuple[Message, int]:
    partitions = random.randint(1, MAX_PARTITIONS)
    replicas = random.randint(1, MAX_REPLICAS)
    configs = _configs(random)
    topic = create_topics_request.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=replicas, configs=configs
    )
    if unfenced and random.random() < MANUAL_SHARE:
        assigned = (
            random.sample(unfenced, min(replicas, len(unfenced))) for _ in range(partitions)
        )
        topic = create_topics_request.CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=tuple(
                create_topics_request.CreatableReplicaAssignment(
                    partition_index=index, broker_ids=tuple(broker_ids)
                )
                for index, broker_ids in enumerate(assigned)
            ),
            configs=configs,
        )
    timeout_ms = MAX_WAIT_NS // milliseconds(1)
    request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=timeout_ms)
    return request, CREATE_VERSION


def _configs(random: Random) -> tuple[create_topics_request.CreatableTopicConfig, ...]:
    """Return configurations of any kind, legal or not; none for most topics."""
    if random.random() >= CONFIGS_SHARE:
        return ()
    drawn = dict(draw_configurations(random))
    return tuple(
        create_topics_request.CreatableTopicConfig(name=name, value=value)
        for name, value in drawn.items()
    )


def _delete(name: str) -> tuple[Message, int]:
    state = delete_topics_request.DeleteTopicState(name=name)
    timeout_ms = MAX_WAIT_NS // milliseconds(1)
    request = delete_topics_request.DeleteTopicsRequest(topics=(state,), timeout_ms=timeout_ms)
    return request, DELETE_VERSION
