"""Requests of the quorum as tests write them, and a quorum at rest to hand them to."""

from kraftproof.node.core.effects import Reply, Send
from kraftproof.node.core.raft import fetch_rpc
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    vote_request,
)
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline

TOPIC = "__cluster_metadata"


def elected(voters=3, observers=0, leader=1):
    """A quorum at rest whose epoch 1 node 1 leads; the trace starts empty."""
    quorum = Quorum(voters, observers)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.quiesce()
    quorum.now = role_deadline(quorum.members[leader])
    quorum.tick(leader)
    quorum.quiesce()
    assert quorum.members[leader].raft.is_leader
    quorum.trace.clear()
    return quorum


def reply_to(quorum, node_id, message, version):
    quorum.request(node_id, message, version)
    replies = [e.message for n, e in quorum.trace if n == node_id and isinstance(e, Reply)]
    return replies[-1]


def partition_of(answer):
    topics = answer.responses if isinstance(answer, fetch_response.FetchResponse) else answer.topics
    return topics[0].partitions[0]


def vote(epoch, candidate, end=0, last_epoch=0, **more):
    partition = vote_request.PartitionData(
        replica_epoch=epoch, replica_id=candidate, last_offset=end, last_offset_epoch=last_epoch
    )
    topic = vote_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return vote_request.VoteRequest(topics=(topic,), **more)


def begin(epoch, leader, **more):
    partition = begin_quorum_epoch_request.PartitionData(leader_id=leader, leader_epoch=epoch)
    topic = begin_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(topics=(topic,), **more)


def end(epoch, leader, successors, **more):
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=leader, leader_epoch=epoch, preferred_successors=tuple(successors)
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return end_quorum_epoch_request.EndQuorumEpochRequest(topics=(topic,), **more)


def fetch(epoch, offset, last_epoch, replica=2, wait=0, **more):
    partition = fetch_request.FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        partition_max_bytes=1_000_000,
    )
    return fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        max_wait_ms=wait,
        topics=(fetch_request.FetchTopic(topic_id=fetch_rpc.TOPIC_ID, partitions=(partition,)),),
        **more,
    )


def kinds(quorum, node_id):
    return [type(e) for n, e in quorum.trace if n == node_id and not isinstance(e, str)]


def sends(quorum, node_id, kind):
    return [
        effect
        for member, effect in quorum.trace
        if member == node_id and isinstance(effect, Send) and isinstance(effect.message, kind)
    ]


def answer_to(quorum, node_id, send, message):
    """Hand node_id the answer to one of its requests."""
    member = quorum.members[node_id]
    member.sends.pop(send.correlation, None)
    quorum._resume(member, send.correlation, message)
