"""QuorumRequestsAreWhole and EndorsedVotersAreLeftAlone object to wrong and needless requests."""

from dataclasses import replace as changed

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.invariants.quorum.sent_requests import (
    EndorsedVotersAreLeftAlone,
    QuorumRequestsAreWhole,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    vote_request,
)
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness

EPOCH, LOG = 7, "__cluster_metadata"
WITH_ADDRESSES = changed(CONFIG, cluster_id="ours", voter_addresses=((1, "one", 9093),))


def vote(**fields):
    values = {"replica_epoch": EPOCH, "replica_id": 1, "last_offset_epoch": 6, "last_offset": 1}
    asked = vote_request.PartitionData(**(values | fields))
    topic = vote_request.TopicData(topic_name=LOG, partitions=(asked,))
    return vote_request.VoteRequest(cluster_id="ours", voter_id=2, topics=(topic,))


def begin(leader=1, epoch=EPOCH, port=9093, voter=2):
    module = begin_quorum_epoch_request
    word = module.PartitionData(leader_id=leader, leader_epoch=epoch)
    endpoint = module.LeaderEndpoint(name="CONTROLLER", host="one", port=port)
    return module.BeginQuorumEpochRequest(
        cluster_id="ours",
        voter_id=voter,
        topics=(module.TopicData(topic_name=LOG, partitions=(word,)),),
        leader_endpoints=(endpoint,),
    )


def end(successors=(3, 2), epoch=EPOCH):
    module = end_quorum_epoch_request
    word = module.PartitionData(
        leader_id=1,
        leader_epoch=epoch,
        preferred_candidates=tuple(module.ReplicaInfo(candidate_id=one) for one in successors),
    )
    topic = module.TopicData(topic_name=LOG, partitions=(word,))
    return module.EndQuorumEpochRequest(cluster_id="ours", topics=(topic,))


def fetch(**fields):
    values = {"current_leader_epoch": EPOCH, "fetch_offset": 1, "last_fetched_epoch": 6}
    asked = fetch_request.FetchPartition(**(values | {"log_start_offset": 0} | fields))
    topic = fetch_request.FetchTopic(topic_id=Uuid(bytes(15) + b"\1"), partitions=(asked,))
    return fetch_request.FetchRequest(
        cluster_id="ours",
        replica_state=fetch_request.ReplicaState(replica_id=1),
        topics=(topic,),
    )


@pytest.mark.parametrize(
    ("message", "is_whole"),
    [
        (vote(), True),
        (vote(replica_epoch=EPOCH - 1), False),
        (vote(replica_id=3), False),
        (vote(last_offset=0), False),
        (vote(last_offset_epoch=7), False),
        (replace(vote(), voter_id=3), False),
        (replace(vote(), cluster_id=None), False),
        (begin(), True),
        (begin(port=0), False),
        (begin(leader=2), False),
        (begin(voter=3), False),
        (begin(epoch=EPOCH + 1), False),
        (replace(begin(), leader_endpoints=()), False),
        (end(), True),
        (end((2, 3)), True),
        (end((2,)), False),
        (end((2, 3, 1)), False),
        (end(epoch=1), False),
        (fetch(), True),
        (fetch(partition_max_bytes=9, high_watermark=3), True),
        (fetch(fetch_offset=0), False),
        (fetch(last_fetched_epoch=5), False),
        (fetch(current_leader_epoch=EPOCH - 1), False),
        (fetch(log_start_offset=-1), False),
        (replace(fetch(), replica_state=fetch_request.ReplicaState(replica_id=2)), False),
        (replace(fetch(), topics=()), False),
    ],
)
def test_requests_are_compared_with_the_log_and_the_quorum_state(message, is_whole) -> None:
    harness = MonitorHarness(QuorumRequestsAreWhole(WITH_ADDRESSES))
    process = harness.process(1)
    process.appends(epoch=6)
    process.persists(epoch=EPOCH, voted_for=1)
    process.sends(message, to=2)
    assert bool(harness.reported) != is_whole


def endorsed(error=ErrorCode.NONE, epoch=EPOCH):
    module = begin_quorum_epoch_response
    word = module.PartitionData(error_code=error, leader_id=1, leader_epoch=epoch)
    return module.BeginQuorumEpochResponse(
        topics=(module.TopicData(topic_name=LOG, partitions=(word,)),)
    )


def fetched(error=ErrorCode.NONE, epoch=EPOCH):
    module = fetch_response
    leader = module.LeaderIdAndEpoch(leader_id=1, leader_epoch=epoch)
    word = module.PartitionData(error_code=error, current_leader=leader)
    return module.FetchResponse(responses=(module.FetchableTopicResponse(partitions=(word,)),))


class Leader:
    """The leader of epoch 7, which asks voter 2 once and hears something."""

    def __init__(self) -> None:
        self.harness = MonitorHarness(EndorsedVotersAreLeftAlone())
        self.process = self.harness.process(1)
        self.process.leads(EPOCH)
        self.process.sends(begin(), to=2)

    def asks_again(self) -> int:
        self.process.sends(begin(), to=2)
        return len(self.harness.reported)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (endorsed(), 1),
        (endorsed(ErrorCode.INVALID_REQUEST), 0),
        (endorsed(epoch=EPOCH - 1), 0),
    ],
)
def test_an_answer_without_error_ends_the_announcements(answer, found) -> None:
    leader = Leader()
    leader.process.hears(2, begin(), answer)
    assert leader.asks_again() == found


@pytest.mark.parametrize(
    ("replica", "answer", "found"),
    [(2, fetched(), 1), (3, fetched(), 0), (2, fetched(ErrorCode.FENCED_LEADER_EPOCH), 0)],
)
def test_a_fetch_ends_the_announcements(replica, answer, found) -> None:
    leader = Leader()
    state = fetch_request.ReplicaState(replica_id=replica)
    event = leader.process.receives(replace(fetch(), replica_state=state))
    leader.process.replies(event, answer)
    assert leader.asks_again() == found


def test_a_later_leadership_is_announced() -> None:
    leader = Leader()
    leader.process.hears(2, begin(), endorsed())
    leader.process.moves(role="resigned")
    leader.process.leads(EPOCH + 2)
    assert leader.asks_again() == 0
