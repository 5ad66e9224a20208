"""A follower that stands in spite of its leader's answers goes red, and only such a follower."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.answered_followers import (
    AnsweredFollowersDoNotStand,
)
from kraftproof.node.core.events import Answered
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, FETCH_NS, MonitorHarness

EPOCH, LEADER_ID = 7, 2


def records(error=ErrorCode.NONE, leader=LEADER_ID, epoch=EPOCH):
    partition = fetch_response.PartitionData(
        error_code=error,
        current_leader=fetch_response.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch),
    )
    topic = fetch_response.FetchableTopicResponse(partitions=(partition,))
    return fetch_request.FetchRequest(), fetch_response.FetchResponse(responses=(topic,))


def slice_of_snapshot():
    partition = fetch_snapshot_response.PartitionSnapshot(
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(
            leader_id=LEADER_ID, leader_epoch=EPOCH
        )
    )
    topic = fetch_snapshot_response.TopicSnapshot(partitions=(partition,))
    answer = fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))
    return fetch_snapshot_request.FetchSnapshotRequest(), answer


class Follower:
    """Voter 1 follows node 2 in epoch 7."""

    def __init__(self):
        self.harness = MonitorHarness(AnsweredFollowersDoNotStand(CONFIG))
        self.process = self.harness.process(1)
        self.process.moves(epoch=EPOCH, leader=LEADER_ID)

    def asks(self, exchange, *, is_handled=True):
        request, answer = exchange
        self.process.sends(request, to=LEADER_ID)
        self.process.hears(LEADER_ID, request, answer)
        self.process.event = Answered(correlation=1, message=answer)
        if is_handled:
            self.process.steps()
        return self

    def stands(self, after_ns=FETCH_NS // 2):
        self.harness.now_ns += after_ns
        self.process.event = None
        self.process.moves(role="candidate", epoch=EPOCH + 1, leader=-1)
        return self.harness.reported


@pytest.mark.requirement("595-51")
@pytest.mark.parametrize("exchange", [records(), slice_of_snapshot()], ids=["records", "a slice"])
def test_a_follower_that_is_answered_does_not_stand(exchange):
    assert len(Follower().asks(exchange).stands()) == 1
    assert Follower().asks(exchange).stands(FETCH_NS) == []


@pytest.mark.parametrize(
    "exchange",
    [
        records(ErrorCode.FENCED_LEADER_EPOCH),
        records(leader=3),
        records(epoch=EPOCH - 1),
    ],
    ids=["an error", "another leader", "another epoch"],
)
def test_other_answers_let_it_stand(exchange):
    assert Follower().asks(exchange).stands() == []


def test_an_answer_that_waits_for_the_disk_lets_it_stand():
    assert Follower().asks(records(), is_handled=False).stands() == []


def test_a_leader_that_ends_its_epoch_lets_it_stand():
    follower = Follower().asks(records())
    follower.process.receives(end_quorum_epoch_request.EndQuorumEpochRequest())
    assert follower.stands() == []


def test_a_restarted_node_may_stand():
    follower = Follower().asks(records())
    follower.process.restarts(())
    assert follower.stands() == []
