"""Forged requests to controllers: from nodes of another cluster, or with an old epoch.

A foreign request arrives if an address was reassigned, a stale request if a message was delayed.
A controller that accepted the request could give a vote, follow a wrong leader or start an
election early. See invariants/foreign_requests.py and invariants/announcements.py for the checks.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.raft import fetch_rpc, rpc
from kraftproof.node.core.raft.snapshots import rpc as snapshot_rpc
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)

SHARE = 0.3
"""Share of runs with forged requests."""
ANOTHER_CLUSTER = "AnotherClusterOfKafkaQ"
MAX_WAIT_NS = milliseconds(500)
"""Time-out of a connection, and of a response."""
LONGEST_REST_NS = milliseconds(4_000)
"""Longest time between two requests."""
FAR_AHEAD = 1_000
"""Epoch of the requests from another cluster, above the epochs of a run."""
LATE_SHARE = 0.5
"""Share of requests without a cluster id and with the epoch before the receiver's epoch."""

Request = tuple[Message, int]


class ForgedRequest(NamedTuple):
    """The contents of a forged request: receiver, claimed sender, cluster id and epoch."""

    cluster_id: str | None
    asked: int
    claimed: int
    epoch: int
    snapshot: SnapshotId


async def send_stale_requests(
    scope: SimulatedScope, network: Network, random: Random, controllers: Mapping[int, Machine]
) -> None:
    """Send forged requests to random controllers, until the run ends."""
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        forged = _forge(random, controllers)
        message, version = random.choice(_REQUESTS)(forged)
        try:
            connection = await connect(scope, network, forged.asked, MAX_WAIT_NS)
            await connection.call(message, version, MAX_WAIT_NS)
        except (ConnectionFailed, OutcomeUnknown):
            continue
        connection.close()


def _forge(random: Random, controllers: Mapping[int, Machine]) -> ForgedRequest:
    asked, claimed = random.choice(list(controllers)), random.choice(list(controllers))
    machine = controllers[asked]
    snapshot = max(machine.env.log.snapshots, default=LOG_BEGIN)
    epoch = -1
    if machine.process is not None and machine.process.status is not None:
        epoch = machine.process.status.epoch - 1
    if random.random() < LATE_SHARE and epoch >= 0:
        return ForgedRequest(None, asked, claimed, epoch, snapshot)
    return ForgedRequest(ANOTHER_CLUSTER, asked, claimed, FAR_AHEAD, snapshot)


def _vote(forged: ForgedRequest) -> Request:
    partition = vote_request.PartitionData(
        replica_epoch=forged.epoch,
        replica_id=forged.claimed,
        last_offset_epoch=forged.epoch,
        last_offset=1 << 40,
    )
    topic = vote_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    message = vote_request.VoteRequest(
        cluster_id=forged.cluster_id, voter_id=forged.asked, topics=(topic,)
    )
    return message, rpc.VOTE_VERSION


def _begin(forged: ForgedRequest) -> Request:
    partition = begin_quorum_epoch_request.PartitionData(
        leader_id=forged.claimed, leader_epoch=forged.epoch
    )
    topic = begin_quorum_epoch_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    message = begin_quorum_epoch_request.BeginQuorumEpochRequest(
        cluster_id=forged.cluster_id, voter_id=forged.asked, topics=(topic,)
    )
    return message, rpc.BEGIN_VERSION


def _end(forged: ForgedRequest) -> Request:
    successor = end_quorum_epoch_request.ReplicaInfo(candidate_id=forged.asked)
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=forged.claimed, leader_epoch=forged.epoch, preferred_candidates=(successor,)
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    message = end_quorum_epoch_request.EndQuorumEpochRequest(
        cluster_id=forged.cluster_id, topics=(topic,)
    )
    return message, rpc.END_VERSION


def _fetch(forged: ForgedRequest) -> Request:
    partition = fetch_request.FetchPartition(
        current_leader_epoch=forged.epoch, fetch_offset=0, last_fetched_epoch=0
    )
    topic = fetch_request.FetchTopic(topic_id=fetch_rpc.TOPIC_ID, partitions=(partition,))
    message = fetch_request.FetchRequest(
        cluster_id=forged.cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=forged.claimed),
        topics=(topic,),
    )
    return message, fetch_rpc.FETCH_VERSION


def _fetch_snapshot(forged: ForgedRequest) -> Request:
    partition = fetch_snapshot_request.PartitionSnapshot(
        current_leader_epoch=forged.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=forged.snapshot.end_offset, epoch=forged.snapshot.epoch
        ),
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=rpc.TOPIC, partitions=(partition,))
    message = fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=forged.cluster_id, replica_id=forged.claimed, max_bytes=1, topics=(topic,)
    )
    return message, snapshot_rpc.FETCH_SNAPSHOT_VERSION


_REQUESTS: tuple[Callable[[ForgedRequest], Request], ...] = (
    _vote,
    _begin,
    _end,
    _fetch,
    _fetch_snapshot,
)
