"""ElectionAnswersAreRight objects to wrong answers of a voter, and to a wrong state after them."""

from dataclasses import replace

import pytest

from kraftproof.cluster.simulated.invariants.quorum.election_answers import ElectionAnswersAreRight
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    vote_request,
    vote_response,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness

EPOCH, LEADER, LOG_END, STRANGER = 7, 2, 40, 9
LOG = "__cluster_metadata"
IN_CLUSTER = replace(CONFIG, cluster_id="ours")
FENCED, INVALID = ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_REQUEST
NO_VOTER, NO_KEY = ErrorCode.INCONSISTENT_VOTER_SET, ErrorCode.INVALID_VOTER_KEY
FOREIGN = ErrorCode.INCONSISTENT_CLUSTER_ID


def vote(candidate=3, epoch=EPOCH, *, log_end=LOG_END, pre_vote=False, topic=LOG, **whole):
    asked = vote_request.PartitionData(
        replica_epoch=epoch,
        replica_id=candidate,
        last_offset_epoch=EPOCH,
        last_offset=log_end,
        pre_vote=pre_vote,
    )
    topics = (vote_request.TopicData(topic_name=topic, partitions=(asked,)),)
    return vote_request.VoteRequest(topics=topics, **whole)


def begin(leader=3, epoch=EPOCH + 1, **whole):
    word = begin_quorum_epoch_request.PartitionData(leader_id=leader, leader_epoch=epoch)
    topics = (begin_quorum_epoch_request.TopicData(topic_name=LOG, partitions=(word,)),)
    return begin_quorum_epoch_request.BeginQuorumEpochRequest(topics=topics, **whole)


def end(leader=LEADER, epoch=EPOCH, successors=(3, 1), **whole):
    word = end_quorum_epoch_request.PartitionData(
        leader_id=leader, leader_epoch=epoch, preferred_successors=successors
    )
    topics = (end_quorum_epoch_request.TopicData(topic_name=LOG, partitions=(word,)),)
    return end_quorum_epoch_request.EndQuorumEpochRequest(topics=topics, **whole)


RESPONSES = {
    vote_request.VoteRequest: (vote_response, vote_response.VoteResponse),
    begin_quorum_epoch_request.BeginQuorumEpochRequest: (
        begin_quorum_epoch_response,
        begin_quorum_epoch_response.BeginQuorumEpochResponse,
    ),
    end_quorum_epoch_request.EndQuorumEpochRequest: (
        end_quorum_epoch_response,
        end_quorum_epoch_response.EndQuorumEpochResponse,
    ),
}


class Voter:
    """Voter 1 in epoch 7, with a leader or without, which answers a request."""

    def __init__(self, **status) -> None:
        self.harness = MonitorHarness(ElectionAnswersAreRight(IN_CLUSTER))
        self.process = self.harness.process(1)
        known = {"epoch": EPOCH, "leader": LEADER, "last_epoch": EPOCH, "log_end": LOG_END}
        self.process.moves(**(known | status))

    def answers(self, request, error=0, *, grants=False, told=None, **after) -> list[str]:
        event = self.process.receives(request)
        self.process.moves(**after)
        module, response = RESPONSES[type(request)]
        status = self.process.status
        leader, epoch = told or (status.leader, status.epoch)
        extra = {"vote_granted": True} if grants else {}
        word = module.PartitionData(error_code=error, leader_id=leader, leader_epoch=epoch, **extra)
        topics = (module.TopicData(topic_name=LOG, partitions=(word,)),)
        self.process.replies(event, response(topics=topics))
        return self.harness.reported


NEXT = {"epoch": EPOCH + 1, "leader": -1}


@pytest.mark.parametrize(
    ("status", "request_", "answer"),
    [
        ({}, vote(), {}),
        ({"leader": -1}, vote(), {"grants": True, "voted_for": 3}),
        ({"leader": -1, "voted_for": 3}, vote(), {"grants": True}),
        ({"leader": -1, "voted_for": 2}, vote(), {}),
        ({"leader": -1}, vote(log_end=LOG_END - 1), {}),
        ({"leader": -1, "role": "resigned"}, vote(), {}),
        ({}, vote(epoch=EPOCH + 1), {"grants": True, **NEXT}),
        ({}, vote(epoch=EPOCH - 1), {"error": FENCED}),
        ({}, vote(STRANGER, EPOCH + 1), {"error": NO_VOTER, **NEXT}),
        ({}, vote(STRANGER, EPOCH - 1), {"error": FENCED}),
        ({}, vote(STRANGER, EPOCH - 1), {"error": NO_VOTER}),
        ({}, vote(epoch=EPOCH + 1, pre_vote=True), {"error": INVALID}),
        ({}, vote(epoch=EPOCH + 1, voter_id=2), {"error": NO_KEY}),
        ({}, vote(epoch=EPOCH + 1, voter_id=1), {"grants": True, **NEXT}),
        ({}, vote(topic="topic"), {"error": INVALID}),
        ({}, vote(epoch=EPOCH + 1, cluster_id="theirs"), {"error": FOREIGN}),
        ({}, begin(), {"epoch": EPOCH + 1, "leader": 3}),
        ({}, begin(LEADER, EPOCH), {}),
        ({}, begin(3, EPOCH), {"error": INVALID}),
        ({}, begin(1), {"error": INVALID}),
        ({}, begin(STRANGER), {"error": NO_VOTER}),
        ({}, begin(epoch=EPOCH - 1), {"error": FENCED}),
        ({}, end(), {}),
        ({}, end(successors=(1, 3)), {"epoch": EPOCH + 1, "leader": -1, "told": (LEADER, EPOCH)}),
        ({}, end(successors=(3,)), {"error": NO_VOTER}),
        ({}, end(-1), {"error": INVALID}),
    ],
)
def test_right_answers(status, request_, answer) -> None:
    assert Voter(**status).answers(request_, **answer) == []


@pytest.mark.parametrize(
    ("status", "request_", "answer", "found"),
    [
        ({}, vote(), {"grants": True}, "a vote is granted"),
        ({"leader": -1}, vote(), {}, "a vote is refused"),
        ({"leader": -1, "role": "resigned"}, vote(), {"grants": True}, "a vote is granted"),
        ({}, vote(epoch=EPOCH + 1), {"grants": True}, "epoch 7 after the request, not 8"),
        ({}, vote(epoch=EPOCH - 1), {}, "error [], the causes are [74]"),
        ({}, vote(STRANGER, EPOCH + 1), {"error": NO_VOTER}, "epoch 7 after the request, not 8"),
        ({}, vote(STRANGER, EPOCH - 1), {"error": INVALID}, "error [42], the causes are [74, 94]"),
        ({}, vote(pre_vote=True), {}, "error [], the causes are [42]"),
        ({}, vote(epoch=EPOCH + 1, voter_id=2), {"error": NO_KEY, **NEXT}, "epoch 8 after"),
        ({}, vote(cluster_id="theirs"), {}, "error [], the causes are [104]"),
        ({}, begin(), {"epoch": EPOCH + 1, "leader": -1}, "leader -1 after the request, not 3"),
        ({}, begin(3, EPOCH), {}, "error [], the causes are [42]"),
        ({}, begin(LEADER, EPOCH), {"error": INVALID}, "error [42], the causes are []"),
        ({}, end(successors=(3,)), {}, "error [], the causes are [94]"),
        ({}, end(), {"epoch": EPOCH + 1, "leader": -1}, "epoch 8 after the request, not 7"),
        ({}, vote(), {"told": (3, EPOCH)}, "epoch 7 and leader 3 in the answer, epoch 7 and"),
    ],
)
def test_wrong_answers(status, request_, answer, found) -> None:
    reported = Voter(**status).answers(request_, **answer)
    assert [found in one for one in reported] == [True]


def test_another_process_answers_its_own_requests_only() -> None:
    voter = Voter()
    event = voter.process.receives(vote())
    voter.process.restarts([])
    voter.process.replies(event, vote_response.VoteResponse(error_code=INVALID))
    assert voter.harness.reported == []
