"""Nodes of another cluster that ask ours, as they do when an address has changed hands.

What they ask would do harm if it were taken for a request of our own: an epoch far ahead, a vote,
a leader. Not: what must become of it (stranger_invariants.py).
"""

from collections.abc import Callable, Sequence
from random import Random

from cluster.connection import ConnectionFailed, OutcomeUnknown
from cluster.simulated.connection import connect
from cluster.simulated.network import Network
from cluster.simulated.scope import SimulatedScope
from node.core.raft import fetch_rpc, rpc
from node.core.types import milliseconds
from node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    vote_request,
)

SHARE = 0.3
"""The share of runs in which there are any."""
ANOTHER_CLUSTER = "AnotherClusterOfKafkaQ"
PATIENCE_NS = milliseconds(500)
LONGEST_REST_NS = milliseconds(4_000)
FAR_AHEAD = 1_000

Request = tuple[Message, int]


async def visit(
    scope: SimulatedScope, network: Network, random: Random, controllers: Sequence[int]
) -> None:
    """Ask one controller after the other, until the run is over."""
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        asked, claimed = random.choice(controllers), random.choice(controllers)
        message, version = random.choice(_REQUESTS)(asked, claimed)
        try:
            connection = await connect(scope, network, asked, PATIENCE_NS)
            await connection.call(message, version, PATIENCE_NS)
        except (ConnectionFailed, OutcomeUnknown):
            continue
        connection.close()


def _vote(asked: int, claimed: int) -> Request:
    partition = vote_request.PartitionData(
        replica_epoch=FAR_AHEAD,
        replica_id=claimed,
        last_offset_epoch=FAR_AHEAD,
        last_offset=1 << 40,
    )
    topic = vote_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    message = vote_request.VoteRequest(cluster_id=ANOTHER_CLUSTER, voter_id=asked, topics=(topic,))
    return message, rpc.VOTE_VERSION


def _begin(asked: int, claimed: int) -> Request:
    partition = begin_quorum_epoch_request.PartitionData(leader_id=claimed, leader_epoch=FAR_AHEAD)
    topic = begin_quorum_epoch_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    message = begin_quorum_epoch_request.BeginQuorumEpochRequest(
        cluster_id=ANOTHER_CLUSTER, voter_id=asked, topics=(topic,)
    )
    return message, rpc.BEGIN_VERSION


def _end(asked: int, claimed: int) -> Request:
    successor = end_quorum_epoch_request.ReplicaInfo(candidate_id=asked)
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=claimed, leader_epoch=FAR_AHEAD, preferred_candidates=(successor,)
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=rpc.TOPIC, partitions=(partition,))
    message = end_quorum_epoch_request.EndQuorumEpochRequest(
        cluster_id=ANOTHER_CLUSTER, topics=(topic,)
    )
    return message, rpc.END_VERSION


def _fetch(_asked: int, claimed: int) -> Request:
    partition = fetch_request.FetchPartition(
        current_leader_epoch=FAR_AHEAD, fetch_offset=0, last_fetched_epoch=0
    )
    topic = fetch_request.FetchTopic(topic_id=fetch_rpc.TOPIC_ID, partitions=(partition,))
    message = fetch_request.FetchRequest(
        cluster_id=ANOTHER_CLUSTER,
        replica_state=fetch_request.ReplicaState(replica_id=claimed),
        topics=(topic,),
    )
    return message, fetch_rpc.FETCH_VERSION


_REQUESTS: tuple[Callable[[int, int], Request], ...] = (_vote, _begin, _end, _fetch)
