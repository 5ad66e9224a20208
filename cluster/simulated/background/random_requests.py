"""Random requests to every node, as bytes over the node's own connection code.

The requests are drawn from the message classes, well-formed and half-right, pipelined and cut; see
cluster/systems/reference/requests. The judge of each connection reports an answer that is missing,
late, repeated or of another request; the invariants judge what the requests have done.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from typing_extensions import override

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.byte_stream import SimulatedStream
from kraftproof.cluster.simulated.network.connection import open_stream
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.world import World
from kraftproof.cluster.systems.reference.requests.drawing import CaseShape, draw_case, draw_flood
from kraftproof.cluster.systems.reference.requests.player import OpensStreams, Problem, play
from kraftproof.cluster.systems.reference.requests.vocabulary import NO_BROKERS, Vocabulary
from kraftproof.node.core.base.types import milliseconds

SHARE: Final = 0.4
"""Share of runs with random requests."""
LONGEST_REST_NS: Final = milliseconds(1_200)
"""Longest time between two cases."""
FLOOD_SHARE: Final = 0.03
"""Share of cases with many requests at once on one connection."""
FLOODS: Final = (99, 101, 250)
"""Numbers of requests of a flood: below and above the requests that a node takes at a time."""
SHAPE: Final = CaseShape(most_connections=2, most_frames=5)
INVARIANT: Final = "AnswersComeOnceInOrder"
STATEMENT: Final = (
    "Each request on a connection is answered once, in order, in its version and in time, or the "
    "connection ends for a reason."
)


class Streams(OpensStreams):
    """The nodes of a simulated cluster, for the player of cases."""

    def __init__(self, scope: SimulatedScope, network: Network) -> None:
        self._scope = scope
        self._network = network

    @override
    async def open_stream(self, node_id: int, timeout_ns: int) -> SimulatedStream:
        """Open a connection to a node."""
        return await open_stream(self._scope, self._network, node_id, timeout_ns)


async def send_random_requests(
    scope: SimulatedScope, world: World, nodes: Sequence[NodeInfo], random: Random
) -> None:
    """Play random cases, one after the other, until the run ends."""
    vocabulary = vocabulary_of(world.cluster_id, nodes)
    streams = Streams(scope, world.network)
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        if random.random() < FLOOD_SHARE:
            case = draw_flood(nodes, vocabulary, random.choice(FLOODS), random)
        else:
            case = draw_case(nodes, vocabulary, SHAPE, random)
        for problem in await play(case, streams, scope, vocabulary):
            report(world, problem)


def vocabulary_of(cluster_id: str, nodes: Sequence[NodeInfo]) -> Vocabulary:
    """Return the words of requests to a cluster."""
    brokers = tuple(node.node_id for node in nodes if node.has("broker")) or NO_BROKERS
    return Vocabulary(cluster_id=cluster_id, brokers=brokers)


def report(world: World, problem: Problem) -> None:
    """Record a violation."""
    world.monitor.record(
        INVARIANT,
        STATEMENT,
        problem.reason,
        node=problem.node_id,
        time_ns=world.scheduler.now_ns,
    )
