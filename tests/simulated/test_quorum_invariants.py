"""Each invariant of elections and of the log goes red at what it forbids, and only then."""

from kraftproof.cluster.simulated.committed.committed_log import Ledger
from kraftproof.cluster.simulated.invariants.elections import (
    BoundedResignation,
    ElectedByAMajority,
    EpochsNeverFall,
    OneLeaderAnEpoch,
)
from kraftproof.cluster.simulated.invariants.log import (
    CommittedByAMajority,
    CommittedIsNeverCut,
    CommittedNeverChanges,
    DurableStaysDurable,
    HighWatermarkNeverFalls,
    LeadersCommitTheirOwn,
    LeadersHaveAllCommitted,
    LogsMatch,
    OwnWordIsDurable,
)
from kraftproof.cluster.simulated.invariants.progress import MOST_STEPS, DeadlinesMoveOn
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Tick
from kraftproof.node.wire.messages import fetch_request
from tests.simulated.witnesses import (
    FETCH_NS,
    SETTING,
    Court,
    batch_of,
    granted,
    topic,
    vote,
)

# Elections


def test_two_leaders_of_one_epoch():
    court = Court(OneLeaderAnEpoch())
    court.process(1).leads(4)
    court.process(2).leads(5)
    assert court.objections == []
    court.process(3).leads(5)
    assert court.objections == ["leads epoch 5, which node 2 led in its life 1"]


def test_a_leader_that_leads_its_epoch_again_after_a_restart():
    court = Court(OneLeaderAnEpoch())
    court.process(1).leads(4)
    court.process(1, life=2).leads(4)
    assert court.objections == ["leads epoch 4, which node 1 led in its life 1"]


def test_a_leader_that_a_minority_has_elected():
    court = Court(ElectedByAMajority(SETTING))
    first, second = court.process(1), court.process(2)
    first.persists(epoch=3, voted_for=1)
    second.persists(epoch=3, voted_for=1)
    first.hears(2, vote(1, 3), granted(3))
    first.leads(3)
    assert court.objections == []
    first.persists(epoch=4, voted_for=2)
    second.persists(epoch=5, voted_for=2)
    second.leads(5)
    assert court.objections == ["leads epoch 5 with votes of [2] on disk only"]


def test_a_candidate_that_has_not_heard_of_its_votes():
    court = Court(ElectedByAMajority(SETTING))
    first, second = court.process(1), court.process(2)
    for process in (first, second):
        process.persists(epoch=3, voted_for=1)
    first.hears(2, vote(1, 3), granted(2))
    first.leads(3)
    assert court.objections == ["leads epoch 3 having heard votes of [1] only"]


def test_votes_of_observers_elect_nobody():
    court = Court(ElectedByAMajority(SETTING))
    for node_id in (1, 9):
        court.process(node_id).persists(epoch=3, voted_for=1)
    court.process(1).leads(3)
    assert court.objections == ["leads epoch 3 with votes of [1] on disk only"]


def test_an_epoch_that_falls_by_a_restart():
    court = Court(EpochsNeverFall(SETTING))
    court.process(1).persists(epoch=4)
    court.process(1, life=2, durable=QuorumState(epoch=4))
    assert court.objections == []
    court.process(1, life=3, durable=QuorumState(epoch=3))
    assert court.objections == ["its epoch fell from 4 to 3"]


def fetch(replica, offset=0):
    partition = fetch_request.FetchPartition(fetch_offset=offset)
    return fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        topics=(fetch_request.FetchTopic(partitions=(partition,)),),
    )


def test_a_leader_that_stays_without_a_majority():
    court = Court(BoundedResignation(SETTING))
    leader = court.process(1)
    leader.leads(3)
    for _ in range(4):
        court.now_ns += FETCH_NS
        leader.receives(fetch(2))
        leader.steps()
    court.now_ns += FETCH_NS * 3 // 2
    leader.steps()
    assert court.objections == []
    leader.receives(fetch(9))  # an observer is no voter
    court.now_ns += 1
    leader.steps()
    assert court.objections == ["led for 1.500 s without Fetches of a majority"]


def test_a_pause_is_no_time_to_resign_in():
    court = Court(BoundedResignation(SETTING))
    leader = court.process(1)
    leader.leads(3)
    leader.sleeps(10 * FETCH_NS)
    leader.steps()
    leader.moves(role="resigned")
    court.now_ns += 10 * FETCH_NS
    leader.steps()
    assert court.objections == []


def test_a_process_that_steps_without_end_at_one_instant():
    court = Court(DeadlinesMoveOn())
    process = court.process(1)
    process.event = Tick()
    for _ in range(3):
        court.now_ns += 1
        for _ in range(MOST_STEPS):
            process.steps()
    assert court.objections == []
    process.steps()
    assert court.objections == ["10000 ticks, and no time has passed"]


# The log


def test_a_high_watermark_that_falls():
    court = Court(HighWatermarkNeverFalls())
    process = court.process()
    process.appends()
    process.appends()
    process.moves(high_watermark=2)
    assert court.objections == []
    process.moves(high_watermark=1)
    assert court.objections == ["high watermark 1 after 2"]


def test_a_high_watermark_past_the_log_and_a_log_cut_below_it():
    court = Court(HighWatermarkNeverFalls())
    process = court.process()
    process.appends()
    process.moves(high_watermark=2)
    process.truncates(1)
    assert court.objections == [
        "high watermark 2 is past the log's end 1",
        "log cut to 1, below the high watermark 2",
    ]


def three_with_one_batch(court, *holders, epochs=(1, 1, 1)):
    """Three voters; the holders have it durably, the others in memory only."""
    voters = [court.process(node_id) for node_id in SETTING.voters]
    for voter, epoch in zip(voters, epochs, strict=True):
        voter.appends(epoch=epoch, is_durable=voter.node_id in holders)
    return voters


def test_what_is_committed_is_durable_on_a_majority():
    court = Court(CommittedByAMajority(SETTING))
    three_with_one_batch(court, 1, 2)[0].moves(high_watermark=1)
    assert court.objections == []
    court = Court(CommittedByAMajority(SETTING))
    three_with_one_batch(court, 1)[0].moves(high_watermark=1)
    assert court.objections == ["commits up to 1, which is durable on [1] only"]


def test_another_batch_at_the_offset_is_not_the_committed_one():
    court = Court(CommittedByAMajority(SETTING))
    three_with_one_batch(court, 1, 2, 3, epochs=(2, 1, 1))[0].moves(high_watermark=1)
    assert court.objections == ["commits up to 1, which is durable on [1] only"]


def test_a_word_for_what_is_not_durable():
    court = Court(OwnWordIsDurable(SETTING))
    process = court.process(1)
    process.appends()
    process.appends(is_durable=False)
    process.moves(flushed=1)
    process.sends(fetch(1, offset=1))
    assert court.objections == []
    process.moves(flushed=2)
    process.sends(fetch(1, offset=2))
    assert court.objections == ["flushed 2, durable 1", "fetches at 2, durable 1"]


def test_an_observer_vouches_for_nothing():
    court = Court(OwnWordIsDurable(SETTING))
    observer = court.process(9)
    observer.appends(is_durable=False)
    observer.sends(fetch(9, offset=1))
    assert court.objections == []


def test_logs_that_differ_under_one_offset_and_epoch():
    court = Court(LogsMatch())
    court.process(1).appends(epoch=2)
    court.process(2).appends(epoch=2)
    assert court.objections == []
    court.process(3).appends(topic(), epoch=2)
    assert len(court.objections) == 1


def test_logs_that_differ_before_a_record_that_they_share():
    court = Court(LogsMatch())
    first, second = court.process(1), court.process(2)
    first.appends(epoch=1)
    second.appends(epoch=2)
    first.appends(epoch=3)
    second.appends(epoch=3)
    assert court.objections == ["offset 1, epoch 3, after (0, 2) and after (0, 1)"]


def test_a_committed_record_that_changes():
    court = Court(CommittedNeverChanges(Ledger()))
    for node_id, epoch in ((1, 1), (2, 1), (3, 2)):
        process = court.process(node_id)
        process.appends(epoch=epoch)
        process.moves(high_watermark=1)
    assert court.objections == ["offset 0: epoch 2, was 1"]


def test_a_leader_that_lacks_what_was_committed():
    ledger = Ledger()
    court = Court(LeadersHaveAllCommitted(ledger))
    batch = batch_of(0, 1)
    ledger.commit(batch, 1, 0)
    whole, lacking = court.process(1), court.process(2)
    whole.appends_batch(batch)
    whole.leads(2)
    assert court.objections == []
    lacking.appends(epoch=2)
    lacking.leads(3)
    assert court.objections == ["epoch 3 lacks offset 0 of epoch 1"]


def test_a_leader_that_commits_an_older_epoch_alone():
    court = Court(LeadersCommitTheirOwn())
    leader = court.process(1)
    leader.appends(epoch=1)
    leader.appends(epoch=3)
    leader.leads(3)
    leader.moves(high_watermark=2)
    assert court.objections == []
    other = court.process(2)
    other.appends(epoch=1)
    other.appends(epoch=4)
    other.leads(4)
    other.moves(high_watermark=1)
    assert court.objections == ["epoch 4: 1 ends with epoch 1"]


def test_a_start_that_does_not_find_what_was_durable():
    court = Court(DurableStaysDurable())
    process = court.process(1)
    batches = [process.appends() for _ in range(3)]
    process.appends(is_durable=False)
    process.restarts(batches)
    assert court.objections == []
    process.restarts(batches[:2])
    assert court.objections == ["the log ends at 2, was durable to 3"]


def test_a_log_that_is_cut_below_what_has_committed():
    ledger = Ledger()
    court = Court(CommittedIsNeverCut(ledger))
    process = court.process(1)
    ledger.commit(process.appends(), 1, 0)
    ledger.commit(batch_of(1, 2), 2, 0)
    process.appends()
    process.truncates(1)
    assert court.objections == []
    process.truncates(0)
    assert court.objections == ["cut to 0, below 0 of epoch 1"]
