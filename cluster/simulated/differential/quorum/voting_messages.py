"""Write the requests and the answers of elections, as KIP-595 and KIP-853 number their fields."""

from random import Random
from typing import Final, NamedTuple, TypeVar

from kraftproof.cluster.simulated.differential.quorum.fetching_answers import TOPIC
from kraftproof.cluster.simulated.differential.quorum.voting_model import Asking, Heard
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    vote_request,
    vote_response,
)

CLUSTER: Final = "a-cluster"
VOTE, BEGIN, END = "Vote", "BeginQuorumEpoch", "EndQuorumEpoch"
KINDS: Final = {
    vote_request.VoteRequest: VOTE,
    begin_quorum_epoch_request.BeginQuorumEpochRequest: BEGIN,
    end_quorum_epoch_request.EndQuorumEpochRequest: END,
}
T = TypeVar("T")


class Frame(NamedTuple):
    """What a request names beside its content, and the error of the whole request."""

    cluster: str | None
    topics: tuple[str, ...]
    partitions: tuple[int, ...]
    error: ErrorCode


GOOD: Final = Frame(CLUSTER, (TOPIC,), (0,), ErrorCode.NONE)
OTHERS: Final[tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]] = (
    *(((), (0,)), ((TOPIC, TOPIC), (0,)), (("other",), (0,))),
    *(((TOPIC,), ()), ((TOPIC,), (0, 0)), ((TOPIC,), (1,))),
)
"""The topics and the partitions of requests that do not name exactly the metadata log."""


def draw_frame(random: Random, wrong: float) -> Frame:
    """Draw the cluster that a request names, and the partitions."""
    if random.random() >= wrong:
        return GOOD._replace(cluster=random.choice((CLUSTER, CLUSTER, None, "")))
    topics, partitions = random.choice(OTHERS)
    if random.random() < 0.3:
        topics, partitions = GOOD.topics, GOOD.partitions
        return Frame("other", topics, partitions, ErrorCode.INCONSISTENT_CLUSTER_ID)
    return Frame(CLUSTER, topics, partitions, ErrorCode.INVALID_REQUEST)


def request_of(kind: str, asking: Asking, frame: Frame, *, has_candidates: bool = True) -> Message:
    """Return a request; the first version of an EndQuorumEpoch has no candidates."""
    match kind:
        case "Vote":
            return _vote(asking, frame)
        case "BeginQuorumEpoch":
            return _begin(asking, frame, ())
        case _:
            return _end(asking, frame, has_candidates=has_candidates)


def own_request(kind: str, asking: Asking, listeners: tuple[tuple[str, str, int], ...]) -> Message:
    """Return the request that the node has to send; a leader names its listeners."""
    return _begin(asking, GOOD, listeners) if kind == BEGIN else request_of(kind, asking, GOOD)


def _vote(asking: Asking, frame: Frame) -> Message:
    partitions = tuple(
        vote_request.PartitionData(
            partition_index=index,
            replica_epoch=asking.epoch,
            replica_id=asking.other,
            last_offset_epoch=asking.log[0],
            last_offset=asking.log[1],
            pre_vote=asking.is_pre_vote,
        )
        for index in frame.partitions
    )
    topics = tuple(
        vote_request.TopicData(topic_name=name, partitions=partitions) for name in frame.topics
    )
    return vote_request.VoteRequest(cluster_id=frame.cluster, voter_id=asking.voter, topics=topics)


def _begin(asking: Asking, frame: Frame, listeners: tuple[tuple[str, str, int], ...]) -> Message:
    partitions = tuple(
        begin_quorum_epoch_request.PartitionData(
            partition_index=index, leader_id=asking.other, leader_epoch=asking.epoch
        )
        for index in frame.partitions
    )
    topics = tuple(
        begin_quorum_epoch_request.TopicData(topic_name=name, partitions=partitions)
        for name in frame.topics
    )
    endpoints = tuple(
        begin_quorum_epoch_request.LeaderEndpoint(name=name, host=host, port=port)
        for name, host, port in listeners
    )
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(
        cluster_id=frame.cluster, voter_id=asking.voter, topics=topics, leader_endpoints=endpoints
    )


def _end(asking: Asking, frame: Frame, *, has_candidates: bool) -> Message:
    candidates = tuple(
        end_quorum_epoch_request.ReplicaInfo(candidate_id=one) for one in asking.successors
    )
    partitions = tuple(
        end_quorum_epoch_request.PartitionData(
            partition_index=index,
            leader_id=asking.other,
            leader_epoch=asking.epoch,
            preferred_successors=() if has_candidates else asking.successors,
            preferred_candidates=candidates if has_candidates else (),
        )
        for index in frame.partitions
    )
    topics = tuple(
        end_quorum_epoch_request.TopicData(topic_name=name, partitions=partitions)
        for name in frame.topics
    )
    return end_quorum_epoch_request.EndQuorumEpochRequest(cluster_id=frame.cluster, topics=topics)


def answer_of(kind: str, heard: Heard, whole_error: ErrorCode = ErrorCode.NONE) -> Message:
    """Return an answer; one to a request that is refused as a whole has no partition."""
    match kind:
        case "Vote":
            vote = vote_response.PartitionData(
                partition_index=0,
                error_code=heard.error,
                leader_id=heard.leader,
                leader_epoch=heard.epoch,
                vote_granted=heard.is_granted,
            )
            of_vote = vote_response.TopicData(topic_name=TOPIC, partitions=(vote,))
            topics = _unless(whole_error, of_vote)
            return vote_response.VoteResponse(error_code=whole_error, topics=topics)
        case "BeginQuorumEpoch":
            begun = begin_quorum_epoch_response.PartitionData(
                partition_index=0,
                error_code=heard.error,
                leader_id=heard.leader,
                leader_epoch=heard.epoch,
            )
            of_begin = begin_quorum_epoch_response.TopicData(topic_name=TOPIC, partitions=(begun,))
            return begin_quorum_epoch_response.BeginQuorumEpochResponse(
                error_code=whole_error, topics=_unless(whole_error, of_begin)
            )
        case _:
            ended = end_quorum_epoch_response.PartitionData(
                partition_index=0,
                error_code=heard.error,
                leader_id=heard.leader,
                leader_epoch=heard.epoch,
            )
            of_end = end_quorum_epoch_response.TopicData(topic_name=TOPIC, partitions=(ended,))
            return end_quorum_epoch_response.EndQuorumEpochResponse(
                error_code=whole_error, topics=_unless(whole_error, of_end)
            )


def useless_answer(random: Random, kind: str, heard: Heard) -> Message:
    """Return an answer that is refused as a whole, with or without content, or has no partition."""
    error = random.choice((ErrorCode.NONE, ErrorCode.INCONSISTENT_CLUSTER_ID))
    if kind == VOTE:
        vote = vote_response.PartitionData(
            leader_id=heard.leader, leader_epoch=heard.epoch, vote_granted=True
        )
        votes = (vote,) * bool(error)
        of_vote = vote_response.TopicData(topic_name=TOPIC, partitions=votes)
        return vote_response.VoteResponse(error_code=error, topics=_perhaps(random, of_vote))
    begun = begin_quorum_epoch_response.PartitionData(
        leader_id=heard.leader, leader_epoch=heard.epoch
    )
    of_begin = begin_quorum_epoch_response.TopicData(
        topic_name=TOPIC, partitions=(begun,) * bool(error)
    )
    return begin_quorum_epoch_response.BeginQuorumEpochResponse(
        error_code=error, topics=_perhaps(random, of_begin)
    )


def _perhaps(random: Random, topic: T) -> tuple[T, ...]:
    return (topic,) if random.random() < 0.7 else ()


def _unless(error: ErrorCode, topic: T) -> tuple[T, ...]:
    return () if error else (topic,)
