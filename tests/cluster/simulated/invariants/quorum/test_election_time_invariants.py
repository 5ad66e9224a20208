"""An election that comes too early or too late goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.cluster.simulated.invariants.quorum.election_times import ElectionTimeoutsHonoured
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Answered, SnapshotChecked
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.wire.messages import (
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, granted

CONFIG = ClusterConfig(
    voters=(1, 2, 3),
    timeouts=Timeouts(
        fetch_ns=milliseconds(1000),
        election_ns=milliseconds(500),
        election_backoff_max_ns=milliseconds(500),
    ),
)
FETCH = fetch_request.FetchRequest()
SLICES = fetch_snapshot_request.FetchSnapshotRequest()
VOTE = vote_request.VoteRequest()
LOADED = LoadedSnapshot(
    stored=StoredSnapshot(snapshot=SnapshotId(end_offset=9, epoch=6), size=100),
    timestamp_ms=0,
    image=EMPTY_IMAGE,
)


def served(leader, epoch=7, error=0):
    one = fetch_response.PartitionData(
        partition_index=0,
        error_code=error,
        current_leader=fetch_response.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch),
    )
    topic = fetch_response.FetchableTopicResponse(partitions=(one,))
    return fetch_response.FetchResponse(responses=(topic,))


def a_slice(leader, epoch=7):
    one = fetch_snapshot_response.PartitionSnapshot(
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(
            leader_id=leader, leader_epoch=epoch
        )
    )
    topic = fetch_snapshot_response.TopicSnapshot(partitions=(one,))
    return fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))


def ends(epoch):
    part = end_quorum_epoch_request.PartitionData(leader_id=2, leader_epoch=epoch)
    topic = end_quorum_epoch_request.TopicData(partitions=(part,))
    return end_quorum_epoch_request.EndQuorumEpochRequest(topics=(topic,))


class Voter:
    def __init__(self, **status):
        self.harness = MonitorHarness(ElectionTimeoutsHonoured(CONFIG))
        self.process = self.harness.process(1)
        self.process.moves(role="observer", epoch=6)
        self.process.moves(epoch=7, **status)

    def handles(self, answer):
        """Take the step of an answer that was read before."""
        self.process.event = Answered(correlation=1, message=answer)
        self.process.steps()

    def waits(self, wait_ms):
        self.harness.now_ns += milliseconds(wait_ms)

    @property
    def is_right(self):
        return self.harness.reported == []


@pytest.mark.requirement("595-51")
@pytest.mark.parametrize(
    ("question", "answer", "wait_ms", "is_right"),
    [
        (FETCH, served(2), 1000, True),
        (FETCH, served(2), 1250, True),
        (FETCH, served(2), 900, False),
        (FETCH, served(2), 1500, False),
        (FETCH, served(3), 900, True),
        (FETCH, served(2, epoch=6), 900, True),
        (FETCH, served(2, error=6), 900, True),
        (SLICES, a_slice(2), 900, False),
        (SLICES, a_slice(2), 1000, True),
        (SLICES, a_slice(3), 900, True),
    ],
)
def test_a_follower_waits_for_its_leader(question, answer, wait_ms, is_right):
    voter = Voter(role="follower", leader=2)
    voter.waits(400)
    voter.process.sends(question)
    voter.process.hears(2, question, answer)
    voter.handles(answer)
    voter.waits(wait_ms)
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert voter.is_right == is_right


def test_an_answer_that_a_busy_follower_has_read_and_not_handled_renews_nothing():
    """The simulation showed this at seed 20060: a stall came between both."""
    voter = Voter(role="follower", leader=2)
    voter.waits(900)
    voter.process.sends(FETCH)
    voter.process.hears(2, FETCH, served(2))
    voter.waits(200)
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert voter.is_right


@pytest.mark.parametrize(
    ("loaded", "wait_ms", "is_right"),
    [(LOADED, 1250, True), (LOADED, 1500, False), (None, 1250, False)],
)
def test_an_installed_snapshot_renews_the_time_out(loaded, wait_ms, is_right):
    """The simulation showed this at seed 911519: a slow disk checked the file for 0.9 s."""
    voter = Voter(role="follower", leader=2)
    voter.process.sends(SLICES)
    voter.process.hears(2, SLICES, a_slice(2))
    voter.handles(a_slice(2))
    voter.waits(900)
    voter.process.event = SnapshotChecked(copy=1, loaded=loaded)
    voter.process.steps()
    voter.waits(wait_ms)
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert voter.is_right == is_right


def test_an_answer_to_a_fetch_before_an_installed_snapshot_renews_nothing():
    """The simulation showed this at seed 3000556: the Fetch continued the replaced log."""
    voter = Voter(role="follower", leader=2)
    voter.waits(900)
    voter.process.sends(FETCH)
    voter.process.hears(2, FETCH, served(2))
    voter.process.event = SnapshotChecked(copy=1, loaded=LOADED)
    voter.process.steps()
    voter.handles(served(2))
    voter.waits(900)
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert voter.is_right


def test_a_restarted_node_may_stand():
    voter = Voter(role="follower", leader=2)
    voter.process.sends(FETCH)
    voter.process.hears(2, FETCH, served(2))
    voter.handles(served(2))
    voter.process.restarts(())
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert voter.is_right


def test_a_leader_may_end_its_epoch():
    voter = Voter(role="follower", leader=2)
    voter.process.receives(ends(7))
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert voter.is_right


def test_the_end_of_another_epoch_ends_nothing():
    voter = Voter(role="follower", leader=2)
    voter.process.receives(ends(6))
    voter.process.moves(role="candidate", epoch=8, leader=-1)
    assert not voter.is_right


def test_a_voter_may_hear_of_an_epoch_by_its_end():
    """The simulation showed this at seed 4001666: a voter that had just started heard so."""
    voter = Voter(role="resigned")
    voter.process.receives(ends(8))
    voter.process.receives(ends(1000))
    voter.process.moves(role="follower", epoch=8, leader=2)
    voter.process.moves(role="candidate", epoch=9, leader=-1)
    assert voter.is_right


@pytest.mark.parametrize(
    ("refused", "wait_ms", "is_right"),
    [(0, 500, True), (0, 1000, True), (0, 300, False), (1, 300, False), (2, 1, True)],
)
def test_a_candidate_gives_up_after_the_time_out_or_refusals(refused, wait_ms, is_right):
    voter = Voter(role="candidate", voted_for=1)
    for _ in range(refused):
        voter.process.hears(2, VOTE, granted(7, is_granted=False))
    voter.waits(wait_ms)
    voter.process.moves(role="voted")
    assert voter.is_right == is_right


@pytest.mark.parametrize("role", ["candidate", "voted", "unattached", "resigned"])
@pytest.mark.parametrize(("wait_ms", "is_right"), [(1050, True), (1200, False)])
def test_nobody_waits_long_for_the_next_election(role, wait_ms, is_right):
    voter = Voter(role=role)
    voter.waits(wait_ms)
    voter.process.moves(role="candidate", epoch=8)
    assert voter.is_right == is_right
