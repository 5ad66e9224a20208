"""What counts as a vote and as committed, message by message (KIP-595 "Vote", "Log Structure").

The runs of several nodes are scenario files.
"""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import PersistQuorumState
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.raft import rpc
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, vote_request
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.control import LeaderChange
from kraftproof.node.wire.records.metadata import TopicRecord
from tests.node.core.raft.messages import answer_to, elected, fetch, reply_to, sends
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline

PRODUCE = 0


# Votes that count


def candidate(voters=3):
    quorum = Quorum(voters)
    quorum.start(1)
    quorum.now = role_deadline(quorum.members[1])
    quorum.tick(1)
    return quorum


def stand_again(quorum):
    """Give the candidacy up and stand once more, in the next epoch."""
    for _ in range(2):
        quorum.now = role_deadline(quorum.members[1])
        quorum.tick(1)


def granted(quorum, epoch, *, leader=-1, is_granted=True):
    state = quorum.members[1].raft._state
    answer = rpc.vote_answer(state, ErrorCode.NONE, granted=is_granted)
    partition = replace(answer.topics[0].partitions[0], leader_epoch=epoch, leader_id=leader)
    return replace(answer, topics=(replace(answer.topics[0], partitions=(partition,)),))


@pytest.mark.requirement("595-23")
def test_a_vote_counts_in_its_own_candidacy_only():
    quorum = candidate()
    (first, *_) = sends(quorum, 1, vote_request.VoteRequest)
    stand_again(quorum)
    assert (quorum.members[1].raft.role.name, quorum.members[1].raft.epoch) == ("candidate", 2)
    answer_to(quorum, 1, first, granted(quorum, 1))
    assert quorum.members[1].raft.role.name == "candidate"
    assert quorum.members[1].raft.role.granted == (1,)
    second = sends(quorum, 1, vote_request.VoteRequest)[-1]
    answer_to(quorum, 1, second, granted(quorum, 2))
    assert quorum.members[1].raft.is_leader


@pytest.mark.requirement("595-23")
def test_a_vote_that_comes_after_the_candidacy_makes_no_leader():
    quorum = candidate()
    (first, *_) = sends(quorum, 1, vote_request.VoteRequest)
    quorum.now = role_deadline(quorum.members[1])
    quorum.tick(1)
    assert quorum.members[1].raft.role.name == "voted"
    answer_to(quorum, 1, first, granted(quorum, 1))
    assert quorum.members[1].raft.role.name == "voted"


@pytest.mark.requirement("595-16")
def test_a_candidate_that_can_not_win_any_more_gives_up_at_once():
    quorum = candidate(voters=2)
    (only,) = sends(quorum, 1, vote_request.VoteRequest)
    answer_to(quorum, 1, only, granted(quorum, 1, is_granted=False))
    assert quorum.members[1].raft.role.name == "voted"
    quorum = candidate(voters=3)
    first, second = sends(quorum, 1, vote_request.VoteRequest)
    answer_to(quorum, 1, first, granted(quorum, 1, is_granted=False))
    assert quorum.members[1].raft.role.name == "candidate"
    answer_to(quorum, 1, second, granted(quorum, 1, is_granted=False))
    assert quorum.members[1].raft.role.name == "voted"


@pytest.mark.requirement("595-23")
@pytest.mark.requirement("595-55")
@pytest.mark.parametrize(("leader", "role"), [(-1, "unattached"), (3, "follower")])
def test_an_answer_of_a_higher_epoch_ends_the_candidacy_even_if_it_grants(leader, role):
    quorum = candidate()
    (first, *_) = sends(quorum, 1, vote_request.VoteRequest)
    quorum.trace.clear()
    answer_to(quorum, 1, first, granted(quorum, 7, leader=leader))
    raft = quorum.members[1].raft
    assert (raft.role.name, raft.epoch, raft.leader) == (role, 7, leader)
    persisted = [effect for _, effect in quorum.trace if isinstance(effect, PersistQuorumState)]
    assert [state.state.epoch for state in persisted] == [7]


@pytest.mark.requirement("595-24")
def test_one_voters_vote_counts_once():
    quorum = candidate(voters=5)
    first = sends(quorum, 1, vote_request.VoteRequest)[0]
    answer_to(quorum, 1, first, granted(quorum, 1))
    elections = quorum.members[1].raft._elections
    voter = first.destination
    elections._answered(voter, 1, granted(quorum, 1), quorum.instant)
    assert quorum.members[1].raft.role.granted == (1, voter)
    assert not quorum.members[1].raft.is_leader


# What commits


def topics(*words):
    return tuple(
        TopicRecord(name=word, topic_id=bytes([index + 1] * 16)) for index, word in enumerate(words)
    )


@pytest.mark.requirement("595-30")
def test_a_batch_commits_whole_or_not_at_all():
    quorum = elected()
    quorum.members[2].holds_flushes = quorum.members[3].holds_flushes = True
    ends = []
    quorum.do(1, lambda raft: ends.append(raft.propose(topics("a", "b", "c"), quorum.instant)))
    quorum.flush(1)
    assert ends == [3], "the answer waits for the last of the batch"
    raft, committed = quorum.members[1].raft, CommittedImage()
    committed.advance(raft.log, raft.high_watermark)
    assert committed.offset == 1
    reply_to(quorum, 1, fetch(1, 3, 1), 17)  # a replica that claims two records of the three
    committed.advance(raft.log, raft.high_watermark)
    assert (committed.offset, committed.image) == (1, EMPTY_IMAGE)
    reply_to(quorum, 1, fetch(1, 4, 1), 17)
    assert raft.high_watermark == 4
    committed.advance(raft.log, raft.high_watermark)
    assert committed.offset == 4
    assert len(committed.image.topics) == 3


@pytest.mark.requirement("595-09")
def test_the_leader_counts_itself_up_to_what_it_has_flushed():
    quorum = elected()
    leader = quorum.members[1]
    leader.holds_flushes = True
    quorum.cut = {(1, 3), (3, 1)}
    quorum.propose(1, "a")
    quorum.quiesce()
    assert quorum.members[2].raft.flushed == 2
    assert (leader.raft.flushed, leader.raft.high_watermark) == (1, 1)
    quorum.flush(1)
    assert leader.raft.high_watermark == 2


@pytest.mark.requirement("595-28")
@pytest.mark.parametrize("voters", [2, 3, 4, 5])
def test_leader_change_alone_brings_the_high_watermark_to_the_logs_end(voters):
    quorum = elected(voters)
    for name in ("a", "b"):
        quorum.propose(1, name)
    quorum.quiesce()
    quorum.crash(1)
    quorum.start(1)
    quorum.quiesce()
    quorum.advance(20_000_000_000)
    leaders = [m.raft for m in quorum.members.values() if m.raft.is_leader]
    assert [raft.high_watermark for raft in leaders] == [leaders[0].log.end_offset]
    assert leaders[0].log.end_offset == leaders[0].epoch_start_offset + 1


# Control records


def control(base_offset=0, epoch=1):
    change = LeaderChange(leader_id=1, voters=(), granting_voters=())
    return Batch(
        base_offset=base_offset, epoch=epoch, timestamp_ms=0, is_control=True, records=(change,)
    )


@pytest.mark.requirement("595-04")
def test_the_metadata_state_machine_never_gets_a_control_record():
    batch = Batch(base_offset=1, epoch=1, timestamp_ms=0, records=topics("a"))
    committed = CommittedImage()
    assert committed.advance(Log((control(), batch)), Offset(1))
    assert (committed.offset, committed.image) == (1, EMPTY_IMAGE)
    plain = CommittedImage()
    plain.advance(Log((replace(batch, base_offset=0),)), Offset(1))
    committed.advance(Log((control(), batch)), Offset(2))
    assert committed.image.digest == plain.image.digest


@pytest.mark.requirement("595-04")
def test_no_client_can_append_to_the_metadata_log():
    assert PRODUCE not in served_versions(on_controller_listener=True)


@pytest.mark.requirement("595-04")
def test_a_follower_has_taken_the_control_record_in_before_it_fetches_again():
    quorum = elected()
    quorum.propose(1, "a")
    quorum.quiesce()
    (asked,) = sends(quorum, 2, fetch_request.FetchRequest)
    partition = asked.message.topics[0].partitions[0]
    assert (partition.fetch_offset, partition.last_fetched_epoch) == (2, 1)
    assert quorum.members[2].raft.log.read(Offset(0), 1)[0].is_control
