"""A few topics whose records a node applies in several steps, one after the other.

A controller decides heartbeats, and lets other requests wait, while it applies a large batch (see
node/core/controller/active.py). The topics come in few runs, since each partition costs time.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP
from kraftproof.node.wire.messages import Message, create_topics_request, delete_topics_request

SHARE: Final = 0.05
"""Share of runs with large topics."""
MAX_WAIT_NS: Final = milliseconds(2_000)
MOST_TOPICS: Final = 3
"""Number of large topics of a run."""
LONGEST_REST_NS: Final = milliseconds(15_000)
"""Longest time before a topic is created, and before it is deleted."""
NAME: Final = "__large-{}"
"""Name of a large topic; no workload uses names with two leading underscores."""
MOST_PARTITIONS: Final = RECORDS_A_STEP + 150
CREATE_VERSION, DELETE_VERSION = 7, 6


async def create_and_delete_large_topics(
    scope: SimulatedScope, network: Network, random: Random, brokers: Sequence[int]
) -> None:
    """Create and delete a few large topics."""
    timeout_ms = MAX_WAIT_NS // milliseconds(1)
    for number in range(1, MOST_TOPICS + 1):
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        name = NAME.format(number)
        topic = create_topics_request.CreatableTopic(
            name=name,
            num_partitions=random.randint(RECORDS_A_STEP, MOST_PARTITIONS),
            replication_factor=1,
        )
        create = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=timeout_ms)
        await _ask(scope, network, random.choice(brokers), create, CREATE_VERSION)
        await scope.sleep(random.randrange(LONGEST_REST_NS // 3))
        state = delete_topics_request.DeleteTopicState(name=name)
        delete = delete_topics_request.DeleteTopicsRequest(topics=(state,), timeout_ms=timeout_ms)
        await _ask(scope, network, random.choice(brokers), delete, DELETE_VERSION)


async def _ask(
    scope: SimulatedScope, network: Network, broker: int, message: Message, version: int
) -> None:
    """Send a request and ignore the answer; invariants judge the controller."""
    try:
        connection = await connect(scope, network, broker, MAX_WAIT_NS)
        await connection.call(message, version, MAX_WAIT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return
    connection.close()
