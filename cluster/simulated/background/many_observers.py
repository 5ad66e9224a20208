"""More observers than a leader remembers: Fetches with ever new replica ids.

A replica id of a Fetch is what the sender says. A leader that remembers each of them runs out of
memory; see OBSERVERS_KEPT in node/core/raft/replicas.py.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.background.random_requests import Streams, report, vocabulary_of
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World
from kraftproof.cluster.systems.reference.requests.case import Case, Expects, Send
from kraftproof.cluster.systems.reference.requests.frames import framed, payload_of
from kraftproof.cluster.systems.reference.requests.player import Problem, play
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.raft.fetch_rpc import TOPIC_ID
from kraftproof.node.wire.messages import fetch_request

SHARE: Final = 0.25
"""Share of runs with many observers."""
OBSERVERS: Final = 1_100
FIRST_ID: Final = 10_000
LONGEST_REST_NS: Final = milliseconds(20_000)
LOOK_NS: Final = milliseconds(500)
"""Time between two searches for a leader."""
VERSION: Final = 17
BEYOND: Final = 1 << 40
"""An offset beyond every log: the answer names an epoch and holds no record."""


async def fetch_as_many_observers(
    scope: SimulatedScope, world: World, nodes: Sequence[NodeInfo], random: Random
) -> None:
    """Send the Fetches to the leader, now and then, until the run ends."""
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        for problem in await fetch_from_leader(scope, world, nodes, random):
            report(world, problem)


async def fetch_from_leader(
    scope: SimulatedScope, world: World, nodes: Sequence[NodeInfo], random: Random
) -> list[Problem]:
    """Send the Fetches once, and return what was wrong with the answers."""
    while (found := _leader(world.machines)) is None:
        await scope.sleep(LOOK_NS)
    node_id, epoch = found
    sends = tuple(_send(FIRST_ID + number, epoch, random) for number in range(OBSERVERS))
    case = Case(nodes=(node_id,), sends=sends)
    streams = Streams(scope, world.network)
    return await play(case, streams, scope, vocabulary_of(world.cluster_id, nodes))


def _leader(machines: Mapping[int, Machine]) -> tuple[int, int] | None:
    """Return the node that leads the newest epoch, and the epoch."""
    statuses = [
        (one.process.status.epoch, node_id)
        for node_id, one in machines.items()
        if one.process is not None
        and one.process.status is not None
        and one.process.status.role == "leader"
    ]
    if not statuses:
        return None
    epoch, node_id = max(statuses)
    return node_id, epoch


def _send(replica_id: int, epoch: int, random: Random) -> Send:
    partition = fetch_request.FetchPartition(
        current_leader_epoch=epoch, fetch_offset=BEYOND, last_fetched_epoch=epoch
    )
    topic = fetch_request.FetchTopic(topic_id=TOPIC_ID, partitions=(partition,))
    message = fetch_request.FetchRequest(
        topics=(topic,), replica_state=fetch_request.ReplicaState(replica_id=replica_id)
    )
    return Send(
        connection=0,
        frame=framed(payload_of(message, VERSION, random)),
        expects=Expects.ANSWER,
        about=f"Fetch of replica {replica_id}",
        within_ms=0,
    )
