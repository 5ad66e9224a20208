"""The high watermark goes red where it is lower than the Fetches and their answers allow."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.high_watermarks import (
    FollowersAdoptHighWatermark,
    HighWatermarkReachesMajority,
)
from kraftproof.node.core.events import Answered
from kraftproof.node.wire.messages import fetch_request, fetch_response
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness


def fetch(offset, *, epoch=7, last_epoch=7, replica=2):
    partition = fetch_request.FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
    )
    return fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        topics=(fetch_request.FetchTopic(partitions=(partition,)),),
    )


class Leadership:
    """Node 1 leads epoch 7 with a record of epoch 6 and one of epoch 7."""

    def __init__(self):
        self.harness = MonitorHarness(HighWatermarkReachesMajority(CONFIG))
        self.leader, self.voter = self.harness.process(1), self.harness.process(2)
        self.leader.appends(epoch=6)
        self.leader.appends(epoch=7)

    def leads(self, high_watermark, flushed=2):
        self.leader.leads(7, high_watermark=high_watermark, flushed=flushed, log_end=2)

    def hears(self, message):
        self.voter.sends(message, to=1)
        self.leader.receives(message)
        self.leader.steps()


def test_what_a_majority_has_is_committed():
    raft = Leadership()
    raft.leads(0)
    raft.hears(fetch(1, last_epoch=6))  # no record of the own epoch yet
    assert raft.harness.reported == []
    raft.hears(fetch(2))
    assert len(raft.harness.reported) == 1


def test_a_committed_record_is_no_violation():
    raft = Leadership()
    raft.leads(2)
    raft.hears(fetch(2))
    assert raft.harness.reported == []


@pytest.mark.parametrize(
    "message", [fetch(2, epoch=6), fetch(2, last_epoch=6), fetch(2, replica=9), fetch(5)]
)
def test_a_fetch_that_acknowledges_nothing_counts_for_nothing(message):
    raft = Leadership()
    raft.leads(0)
    raft.hears(message)
    assert raft.harness.reported == []


def test_a_fetch_that_the_voter_never_sent_counts_for_nothing():
    raft = Leadership()
    raft.leads(0)
    raft.leader.receives(fetch(2))
    raft.leader.steps()
    assert raft.harness.reported == []


def test_what_the_leader_has_not_flushed_is_no_majority():
    raft = Leadership()
    raft.leads(0, flushed=1)
    raft.hears(fetch(2))
    assert raft.harness.reported == []


def fetched(high_watermark, *, error=0, epoch=7):
    one = fetch_response.PartitionData(
        partition_index=0,
        error_code=error,
        high_watermark=high_watermark,
        current_leader=fetch_response.LeaderIdAndEpoch(leader_id=2, leader_epoch=epoch),
    )
    topic = fetch_response.FetchableTopicResponse(partitions=(one,))
    return fetch_response.FetchResponse(responses=(topic,))


@pytest.mark.parametrize(
    ("answer", "reached", "is_right"),
    [
        (fetched(2), 2, True),
        (fetched(9), 2, True),
        (fetched(2), 1, False),
        (fetched(9), 1, False),
        (fetched(1), 1, True),
        (fetched(2, error=6), 0, True),
        (fetched(2, epoch=8), 0, True),
    ],
)
def test_a_replica_takes_the_stated_high_watermark(answer, reached, is_right):
    harness = MonitorHarness(FollowersAdoptHighWatermark())
    follower = harness.process(1)
    follower.appends(epoch=7)
    follower.appends(epoch=7)
    follower.moves(epoch=7, leader=2)
    follower.sends(fetch(2))
    follower.hears(2, fetch(2), fetched(0))
    follower.hears(2, fetch(2), answer)
    follower.event = Answered(correlation=1, message=answer)
    follower.moves(high_watermark=reached)
    assert (harness.reported == []) == is_right
