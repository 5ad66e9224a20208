"""The final phase of a simulated run: faults end, and a connected majority must make progress.

In half of the runs every node takes part. In the other half a minority of the controllers and some
brokers stay dead or isolated; the remaining nodes must make progress and fence the missing
brokers. See final_checks.py for the checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Link, NodeInfo
from kraftproof.cluster.simulated.convergence import final_checks
from kraftproof.cluster.simulated.convergence.final_checks import FinalOutcome
from kraftproof.cluster.simulated.convergence.final_queries import ask_final_queries
from kraftproof.cluster.simulated.convergence.partition_checks import judge_partitions
from kraftproof.cluster.simulated.convergence.unregistered_broker import judge_return
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
)

WHOLE_SHARE = 0.5
"""Share of runs in which every node takes part in the final phase."""
DEAD_SHARE = 0.7
"""Share of the missing nodes that are dead; the other missing nodes are isolated."""
POLL_NS = milliseconds(50)
CREATE_VERSION = 7
CREATE_TIMEOUT_NS = milliseconds(2_000)
DELETE_VERSION = 6
UNKNOWN_TOPIC = "__no-such-topic"
TOPIC = "__liveness-probe"
"""Topic that the final phase creates; no workload uses names with two leading underscores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalPhase:
    """The nodes that take part in the final phase of a run, and the missing nodes."""

    core: tuple[int, ...]
    """Nodes that are alive and connected with each other."""
    dead: tuple[int, ...] = ()
    isolated: tuple[int, ...] = ()
    unregistered: int | None = None
    """A broker of the core that is unregistered at the end, and has to return."""

    @classmethod
    def draw(cls, random: Random, nodes: Sequence[NodeInfo]) -> "FinalPhase":
        """Draw the missing nodes: none, or a minority of controllers and not all brokers."""
        ids = [node.node_id for node in nodes]
        if random.random() < WHOLE_SHARE:
            return cls(core=tuple(ids))
        controllers = [node.node_id for node in nodes if node.has("controller")]
        brokers = [
            node.node_id for node in nodes if node.has("broker") and not node.has("controller")
        ]
        gone = random.sample(controllers, random.randint(0, (len(controllers) - 1) // 2))
        gone += random.sample(brokers, random.randint(0, max(0, len(brokers) - 1)))
        dead = [node_id for node_id in sorted(gone) if random.random() < DEAD_SHARE]
        return cls(
            core=tuple(node_id for node_id in ids if node_id not in gone),
            dead=tuple(dead),
            isolated=tuple(node_id for node_id in sorted(gone) if node_id not in dead),
        )


async def converge(scope: SimulatedScope, world: World, phase: FinalPhase) -> None:
    """Heal every fault, remove the missing nodes, wait for convergence, and check the result."""
    final_checks.heal_all(world)
    world.supervisor.dead = frozenset(phase.dead)
    world.missing = frozenset((*phase.dead, *phase.isolated))
    for node_id in phase.dead:
        world.machines[node_id].kill()
    for node_id in phase.isolated:
        for other in sorted(world.machines):
            if other != node_id:
                world.links.cut(Link(node_id, other))
                world.links.cut(Link(other, node_id))
    started_ns = scope.now()
    core = phase.core
    elected_ns = started_ns + final_checks.election_limit_ns(world)
    while not final_checks.has_leader(world, core) and scope.now() < elected_ns:
        await scope.sleep(POLL_NS)
    is_elected = final_checks.has_leader(world, core)
    until_ns = started_ns + final_checks.limit_ns(world)
    is_created = is_elected and await _creates(scope, world, core, until_ns)
    end = world.committed_log.end_offset
    while not final_checks.is_settled(world, core, end) and scope.now() < until_ns:
        await scope.sleep(POLL_NS)
    final_checks.judge(world, core, FinalOutcome(elected=is_elected, created=is_created, end=end))
    if not world.monitor.violations and world.has_data:
        await judge_partitions(scope, world, core)
    if not world.monitor.violations:
        await _judge_read(scope, world, core)
    if phase.unregistered is not None and not world.monitor.violations:
        await judge_return(scope, world, core, phase.unregistered)
    await ask_final_queries(scope, world, core)


async def _judge_read(scope: SimulatedScope, world: World, core: Sequence[int]) -> None:
    """Ask for the deletion of an unknown topic, which the controller answers at its read barrier.

    No record is written, so a controller that waits for other records would answer too late.
    """
    broker = next(node_id for node_id in core if world.machines[node_id].info.has("broker"))
    state = delete_topics_request.DeleteTopicState(name=UNKNOWN_TOPIC)
    request = delete_topics_request.DeleteTopicsRequest(
        topics=(state,), timeout_ms=CREATE_TIMEOUT_NS // milliseconds(1)
    )
    try:
        connection = await connect(scope, world.network, broker, CREATE_TIMEOUT_NS)
        answer = await connection.call(request, DELETE_VERSION, 2 * CREATE_TIMEOUT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return
    connection.close()
    assert isinstance(answer, delete_topics_response.DeleteTopicsResponse)
    error = answer.responses[0].error_code
    if error != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        world.monitor.record(
            "ReadsAreConfirmed",
            "A healthy cluster answers a request that writes nothing within the request's time.",
            f"DeleteTopics of an unknown topic is answered with error {error}",
            node=broker,
            time_ns=scope.now(),
        )


async def _creates(scope: SimulatedScope, world: World, core: Sequence[int], until_ns: int) -> bool:
    """Return whether a broker of the core creates the topic before a deadline."""
    brokers = [node_id for node_id in core if world.machines[node_id].info.has("broker")]
    topic = create_topics_request.CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
    request = create_topics_request.CreateTopicsRequest(
        topics=(topic,), timeout_ms=CREATE_TIMEOUT_NS // milliseconds(1)
    )
    while scope.now() < until_ns:
        for broker in brokers:
            try:
                connection = await connect(scope, world.network, broker, CREATE_TIMEOUT_NS)
                answer = await connection.call(request, CREATE_VERSION, CREATE_TIMEOUT_NS)
            except (ConnectionFailed, OutcomeUnknown):
                continue
            connection.close()
            assert isinstance(answer, create_topics_response.CreateTopicsResponse)
            # The topic already exists if the response to an earlier attempt was lost.
            if answer.topics[0].error_code in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
                return True
        await scope.sleep(POLL_NS)
    return False
