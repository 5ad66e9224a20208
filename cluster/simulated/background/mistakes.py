"""Quorum requests with one mistake each, and the errors that name the mistake.

KIP-595 "Vote", "BeginQuorumEpoch" and "EndQuorumEpoch", KIP-853 for the voter's key; see
mistaken_fetches.py for Fetch and FetchSnapshot. Each drawer is a function of the state of the
receiver, and returns None if the mistake is none in this state. No request changes the receiver.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.raft.rpc import TOPIC
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    vote_request,
)

NO_REPLICA: Final = 9_000
"""An id that no node and no observer of another load has."""
FAR: Final = 1 << 40
"""An offset beyond every log."""


class Receiver(Struct, frozen=True, kw_only=True):
    """The state of a controller on which its answers to mistakes depend."""

    node_id: int
    incarnation: int
    epoch: int
    leader: int
    is_leader: bool
    voters: tuple[int, ...]
    cluster_id: str
    snapshot: SnapshotId | None
    """The newest snapshot on the disk."""
    log_start: int

    @property
    def others(self) -> list[int]:
        """The other voters."""
        return [voter for voter in self.voters if voter != self.node_id]


class Mistake(Struct, frozen=True, kw_only=True):
    """A request, and the errors of which one must be in the answer."""

    message: Message
    version: int
    expected: frozenset[int]
    about: str
    offset: int = 0
    """The offset of a Fetch."""


Drawer = Callable[[Receiver, Random], Mistake | None]


def mistake(message: Message, version: int, expected: ErrorCode, about: str) -> Mistake:
    """Return a request with the one error that is right."""
    name = f"{type(message).__name__} v{version}, {about}"
    return Mistake(message=message, version=version, expected=frozenset({expected}), about=name)


# Vote

_Vote = vote_request.PartitionData


def _vote(
    to: Receiver, *partitions: _Vote, voter: int = NO_NODE, topic: str = TOPIC
) -> vote_request.VoteRequest:
    topics = (vote_request.TopicData(topic_name=topic, partitions=partitions),)
    return vote_request.VoteRequest(cluster_id=to.cluster_id, voter_id=voter, topics=topics)


def _voter_key(to: Receiver, random: Random) -> Mistake:
    epoch = to.epoch + random.choice((0, 3))
    partition = _Vote(replica_epoch=epoch, replica_id=to.voters[0], last_offset=FAR)
    message = _vote(to, partition, voter=random.choice((*to.others, NO_REPLICA)))
    return mistake(message, random.choice((1, 2)), ErrorCode.INVALID_VOTER_KEY, "another voter")


def _pre_vote(to: Receiver, random: Random) -> Mistake:
    partition = _Vote(
        replica_epoch=to.epoch + random.choice((0, 3)),
        replica_id=to.voters[0],
        last_offset=FAR,
        pre_vote=True,
    )
    message = _vote(to, partition, voter=to.node_id)
    return mistake(message, 2, ErrorCode.INVALID_REQUEST, "a pre-vote")


def _stranger_stands(to: Receiver, random: Random) -> Mistake:
    partition = _Vote(replica_epoch=to.epoch, replica_id=NO_REPLICA, last_offset=FAR)
    version = random.randint(0, 2)
    return mistake(_vote(to, partition), version, ErrorCode.INCONSISTENT_VOTER_SET, "no voter")


def _vote_elsewhere(to: Receiver, random: Random) -> Mistake:
    good = _Vote(replica_epoch=to.epoch + 3, replica_id=to.voters[0], last_offset=FAR)
    other = _Vote(
        partition_index=1, replica_epoch=to.epoch + 3, replica_id=to.voters[0], last_offset=FAR
    )
    message = random.choice(
        (_vote(to), _vote(to, other), _vote(to, good, other), _vote(to, good, topic="topic"))
    )
    return mistake(message, random.randint(0, 2), ErrorCode.INVALID_REQUEST, "another partition")


# BeginQuorumEpoch

_Begin = begin_quorum_epoch_request.PartitionData


def _begin(
    to: Receiver, *partitions: _Begin, voter: int = NO_NODE, topic: str = TOPIC
) -> begin_quorum_epoch_request.BeginQuorumEpochRequest:
    topics = (begin_quorum_epoch_request.TopicData(topic_name=topic, partitions=partitions),)
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(
        cluster_id=to.cluster_id, voter_id=voter, topics=topics
    )


def _begin_key(to: Receiver, random: Random) -> Mistake | None:
    partition = _Begin(leader_id=to.voters[0], leader_epoch=to.epoch + 3)
    message = _begin(to, partition, voter=random.choice((*to.others, NO_REPLICA)))
    return mistake(message, 1, ErrorCode.INVALID_VOTER_KEY, "another voter")


def _stranger_leads(to: Receiver, random: Random) -> Mistake:
    epoch = to.epoch + random.choice((0, 3))
    message = _begin(to, _Begin(leader_id=NO_REPLICA, leader_epoch=epoch))
    version = random.randint(0, 1)
    return mistake(message, version, ErrorCode.INCONSISTENT_VOTER_SET, "a leader that is no voter")


def _leads_itself(to: Receiver, random: Random) -> Mistake:
    epoch = to.epoch + random.choice((0, 3))
    message = _begin(to, _Begin(leader_id=to.node_id, leader_epoch=epoch))
    version = random.randint(0, 1)
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "the receiver as leader")


def _second_leader(to: Receiver, random: Random) -> Mistake | None:
    rivals = [voter for voter in to.others if voter != to.leader]
    if to.leader == NO_NODE or not rivals:
        return None
    message = _begin(to, _Begin(leader_id=random.choice(rivals), leader_epoch=to.epoch))
    version = random.randint(0, 1)
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "a second leader of the epoch")


def _begin_elsewhere(to: Receiver, random: Random) -> Mistake | None:
    if not to.others:
        return None
    good = _Begin(leader_id=to.others[0], leader_epoch=to.epoch + 3)
    other = _Begin(partition_index=1, leader_id=to.others[0], leader_epoch=to.epoch + 3)
    message = random.choice(
        (_begin(to), _begin(to, other), _begin(to, good, other), _begin(to, good, topic="topic"))
    )
    return mistake(message, random.randint(0, 1), ErrorCode.INVALID_REQUEST, "another partition")


# EndQuorumEpoch


def _end(
    to: Receiver,
    version: int,
    leader: int,
    epoch: int,
    successors: tuple[int, ...],
    *,
    partition: int = 0,
    topic: str = TOPIC,
) -> end_quorum_epoch_request.EndQuorumEpochRequest:
    named = end_quorum_epoch_request.PartitionData(
        partition_index=partition,
        leader_id=leader,
        leader_epoch=epoch,
        preferred_successors=successors if version == 0 else (),
        preferred_candidates=tuple(
            end_quorum_epoch_request.ReplicaInfo(candidate_id=one) for one in successors
        )
        if version
        else (),
    )
    topics = (end_quorum_epoch_request.TopicData(topic_name=topic, partitions=(named,)),)
    return end_quorum_epoch_request.EndQuorumEpochRequest(cluster_id=to.cluster_id, topics=topics)


def _stranger_ends(to: Receiver, random: Random) -> Mistake:
    version = random.randint(0, 1)
    message = _end(to, version, NO_REPLICA, to.epoch + random.choice((0, 3)), to.voters)
    return mistake(message, version, ErrorCode.INCONSISTENT_VOTER_SET, "a leader that is no voter")


def _ends_itself(to: Receiver, random: Random) -> Mistake:
    version, leader = random.randint(0, 1), random.choice((to.node_id, NO_NODE))
    message = _end(to, version, leader, to.epoch + random.choice((0, 3)), to.voters)
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "the receiver or nobody as leader")


def _rival_ends(to: Receiver, random: Random) -> Mistake | None:
    rivals = [voter for voter in to.others if voter != to.leader]
    if to.leader == NO_NODE or not rivals:
        return None
    version = random.randint(0, 1)
    message = _end(to, version, random.choice(rivals), to.epoch, to.voters)
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "a second leader of the epoch")


def _no_successor(to: Receiver, random: Random) -> Mistake | None:
    if to.leader not in to.others:
        return None
    version = random.randint(0, 1)
    message = _end(to, version, to.leader, to.epoch, tuple(to.others))
    about = "successors without the receiver"
    return mistake(message, version, ErrorCode.INCONSISTENT_VOTER_SET, about)


def _end_elsewhere(to: Receiver, random: Random) -> Mistake | None:
    if not to.others:
        return None
    version = random.randint(0, 1)
    partition, topic = random.choice(((1, TOPIC), (0, "topic")))
    message = _end(
        to, version, to.others[0], to.epoch + 3, to.voters, partition=partition, topic=topic
    )
    return mistake(message, version, ErrorCode.INVALID_REQUEST, "another partition")


MISTAKES: Final[tuple[Drawer, ...]] = (
    _voter_key,
    _pre_vote,
    _stranger_stands,
    _vote_elsewhere,
    _begin_key,
    _stranger_leads,
    _leads_itself,
    _second_leader,
    _begin_elsewhere,
    _stranger_ends,
    _ends_itself,
    _rival_ends,
    _no_successor,
    _end_elsewhere,
)
