"""Administrators who ask much of few topics: right requests, wrong ones, and ones at a limit.

A random request to random names is refused early. Here the names are those of topics that exist,
so that requests meet each other: a partition moves while the topic grows, a list of a
configuration is extended twice, a topic is deleted by its name and by its id. The specification of
the controller judges the results. See administrative_requests.py for the requests.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.background.operators.administrative_requests import (
    Asked,
    draw_request,
    topics_to_create,
)
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.world import World
from kraftproof.cluster.systems.reference.requests.vocabulary import NO_BROKERS, Vocabulary
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import create_topics_response

SHARE: Final = 0.3
"""Share of runs with administrators."""
LABEL: Final = "administrators-142930"
"""Source of the draw; by this label the seeds recorded for older mutants have no administrators."""
MAX_WAIT_NS: Final = milliseconds(2_500)
LONGEST_REST_NS: Final = milliseconds(300)
CREATE_SHARE: Final = 0.08
"""Share of the requests that create the topics, which other requests delete."""


async def administrate(
    scope: SimulatedScope, world: World, random: Random, nodes: Sequence[NodeInfo]
) -> None:
    """Send requests to brokers and controllers until the run ends."""
    brokers = tuple(node.node_id for node in nodes if node.has("broker"))
    controllers = tuple(node.node_id for node in nodes if node.has("controller"))
    vocabulary = Vocabulary(cluster_id=world.cluster_id, brokers=brokers or NO_BROKERS)
    asked: Asked | None = topics_to_create(random, vocabulary)
    while True:
        if asked is not None:
            at_controller = asked.at_controller or not brokers
            node = random.choice(controllers if at_controller else brokers)
            await _ask(scope, world, node, asked, vocabulary)
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        if random.random() < CREATE_SHARE:
            asked = topics_to_create(random, vocabulary)
        else:
            process = world.machines[random.choice(controllers)].process
            image = None if process is None else process.image
            asked = draw_request(random, vocabulary, image)


async def _ask(
    scope: SimulatedScope, world: World, node: int, asked: Asked, vocabulary: Vocabulary
) -> None:
    """Send a request, and remember the ids of topics in the answer; invariants judge the answer."""
    try:
        connection = await connect(scope, world.network, node, MAX_WAIT_NS)
        answer = await connection.call(asked.message, asked.version, MAX_WAIT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return
    connection.close()
    if isinstance(answer, create_topics_response.CreateTopicsResponse):
        for topic in answer.topics:
            if any(topic.topic_id):
                vocabulary.remember(topic.topic_id)
