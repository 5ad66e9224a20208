"""Each invariant of elections and of the log goes red at what it forbids, and only then."""

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.elections import (
    CheckQuorum,
    ElectedByAMajority,
    ElectionSafety,
    EpochsNeverFall,
)
from kraftproof.cluster.simulated.invariants.log import (
    AcknowledgedIsFlushed,
    CommitNeedsMajority,
    CommitOnlyOwnEpoch,
    CommittedIsNeverCut,
    FlushedIsNeverLost,
    HighWatermarkNeverFalls,
    LeaderCompleteness,
    LogMatching,
    StateMachineSafety,
)
from kraftproof.cluster.simulated.invariants.progress import MAX_STEPS, NoBusyLoop
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Tick
from kraftproof.node.wire.messages import fetch_request
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    FETCH_NS,
    MonitorHarness,
    batch_of,
    granted,
    topic,
    vote,
)

# Elections


def test_two_leaders_of_one_epoch():
    harness = MonitorHarness(ElectionSafety())
    harness.process(1).leads(4)
    harness.process(2).leads(5)
    assert harness.reported == []
    harness.process(3).leads(5)
    assert harness.reported == ["leads epoch 5, as did node 2, incarnation 1"]


def test_a_leader_that_leads_its_epoch_again_after_a_restart():
    harness = MonitorHarness(ElectionSafety())
    harness.process(1).leads(4)
    harness.process(1, incarnation=2).leads(4)
    assert harness.reported == ["leads epoch 4, as did node 1, incarnation 1"]


def test_a_leader_that_a_minority_has_elected():
    harness = MonitorHarness(ElectedByAMajority(CONFIG))
    first, second = harness.process(1), harness.process(2)
    first.persists(epoch=3, voted_for=1)
    second.persists(epoch=3, voted_for=1)
    first.hears(2, vote(1, 3), granted(3))
    first.leads(3)
    assert harness.reported == []
    first.persists(epoch=4, voted_for=2)
    second.persists(epoch=5, voted_for=2)
    second.leads(5)
    assert harness.reported == ["leads epoch 5, but only [2] have the vote on disk"]


def test_a_candidate_that_has_not_heard_of_its_votes():
    harness = MonitorHarness(ElectedByAMajority(CONFIG))
    first, second = harness.process(1), harness.process(2)
    for process in (first, second):
        process.persists(epoch=3, voted_for=1)
    first.hears(2, vote(1, 3), granted(2))
    first.leads(3)
    assert harness.reported == ["leads epoch 3 after responses with votes of [1] only"]


def test_votes_of_observers_elect_nobody():
    harness = MonitorHarness(ElectedByAMajority(CONFIG))
    for node_id in (1, 9):
        harness.process(node_id).persists(epoch=3, voted_for=1)
    harness.process(1).leads(3)
    assert harness.reported == ["leads epoch 3, but only [1] have the vote on disk"]


def test_an_epoch_that_falls_by_a_restart():
    harness = MonitorHarness(EpochsNeverFall(CONFIG))
    harness.process(1).persists(epoch=4)
    harness.process(1, incarnation=2, durable=QuorumState(epoch=4))
    assert harness.reported == []
    harness.process(1, incarnation=3, durable=QuorumState(epoch=3))
    assert harness.reported == ["the epoch fell from 4 to 3"]


def fetch(replica, offset=0):
    partition = fetch_request.FetchPartition(fetch_offset=offset)
    return fetch_request.FetchRequest(
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        topics=(fetch_request.FetchTopic(partitions=(partition,)),),
    )


def test_a_leader_that_stays_without_a_majority():
    harness = MonitorHarness(CheckQuorum(CONFIG))
    leader = harness.process(1)
    leader.leads(3)
    for _ in range(4):
        harness.now_ns += FETCH_NS
        leader.receives(fetch(2))
        leader.steps()
    harness.now_ns += FETCH_NS * 3 // 2
    leader.steps()
    assert harness.reported == []
    leader.receives(fetch(9))  # an observer is no voter
    harness.now_ns += 1
    leader.steps()
    assert harness.reported == ["led for 1.500 s without Fetches of a majority"]


def test_a_pause_is_no_time_to_resign_in():
    harness = MonitorHarness(CheckQuorum(CONFIG))
    leader = harness.process(1)
    leader.leads(3)
    leader.sleeps(10 * FETCH_NS)
    leader.steps()
    leader.moves(role="resigned")
    harness.now_ns += 10 * FETCH_NS
    leader.steps()
    assert harness.reported == []


def test_a_process_that_steps_without_end_at_one_instant():
    harness = MonitorHarness(NoBusyLoop())
    process = harness.process(1)
    process.event = Tick()
    for _ in range(3):
        harness.now_ns += 1
        for _ in range(MAX_STEPS):
            process.steps()
    assert harness.reported == []
    process.steps()
    assert harness.reported == ["10000 ticks at one instant"]


# The log


def test_a_high_watermark_that_falls():
    harness = MonitorHarness(HighWatermarkNeverFalls())
    process = harness.process()
    process.appends()
    process.appends()
    process.moves(high_watermark=2)
    assert harness.reported == []
    process.moves(high_watermark=1)
    assert harness.reported == ["high watermark fell from 2 to 1"]


def test_a_high_watermark_past_the_log_and_a_log_cut_below_it():
    harness = MonitorHarness(HighWatermarkNeverFalls())
    process = harness.process()
    process.appends()
    process.moves(high_watermark=2)
    process.truncates(1)
    assert harness.reported == [
        "high watermark 2 is above the log end 1",
        "log cut to 1, below the high watermark 2",
    ]


def three_with_one_batch(harness, *holders, epochs=(1, 1, 1)):
    """Three voters; the holders have it durably, the others in memory only."""
    voters = [harness.process(node_id) for node_id in CONFIG.voters]
    for voter, epoch in zip(voters, epochs, strict=True):
        voter.appends(epoch=epoch, is_durable=voter.node_id in holders)
    return voters


def test_what_is_committed_is_durable_on_a_majority():
    harness = MonitorHarness(CommitNeedsMajority(CONFIG))
    three_with_one_batch(harness, 1, 2)[0].moves(high_watermark=1)
    assert harness.reported == []
    harness = MonitorHarness(CommitNeedsMajority(CONFIG))
    three_with_one_batch(harness, 1)[0].moves(high_watermark=1)
    assert harness.reported == ["commits offset 1, durable on nodes [1] only"]


def test_another_batch_at_the_offset_is_not_the_committed_one():
    harness = MonitorHarness(CommitNeedsMajority(CONFIG))
    three_with_one_batch(harness, 1, 2, 3, epochs=(2, 1, 1))[0].moves(high_watermark=1)
    assert harness.reported == ["commits offset 1, durable on nodes [1] only"]


def test_a_word_for_what_is_not_durable():
    harness = MonitorHarness(AcknowledgedIsFlushed(CONFIG))
    process = harness.process(1)
    process.appends()
    process.appends(is_durable=False)
    process.moves(flushed=1)
    process.sends(fetch(1, offset=1))
    assert harness.reported == []
    process.moves(flushed=2)
    process.sends(fetch(1, offset=2))
    assert harness.reported == ["claims 2 flushed, durable is 1", "fetches at 2, durable is 1"]


def test_an_observer_vouches_for_nothing():
    harness = MonitorHarness(AcknowledgedIsFlushed(CONFIG))
    observer = harness.process(9)
    observer.appends(is_durable=False)
    observer.sends(fetch(9, offset=1))
    assert harness.reported == []


def test_logs_that_differ_under_one_offset_and_epoch():
    harness = MonitorHarness(LogMatching())
    harness.process(1).appends(epoch=2)
    harness.process(2).appends(epoch=2)
    assert harness.reported == []
    harness.process(3).appends(topic(), epoch=2)
    assert len(harness.reported) == 1


def test_logs_that_differ_before_a_record_that_they_share():
    harness = MonitorHarness(LogMatching())
    first, second = harness.process(1), harness.process(2)
    first.appends(epoch=1)
    second.appends(epoch=2)
    first.appends(epoch=3)
    second.appends(epoch=3)
    assert harness.reported == ["offset 1, epoch 3: differs, after (0, 2) and (0, 1)"]


def test_a_committed_record_that_changes():
    harness = MonitorHarness(StateMachineSafety(CommittedLog()))
    for node_id, epoch in ((1, 1), (2, 1), (3, 2)):
        process = harness.process(node_id)
        process.appends(epoch=epoch)
        process.moves(high_watermark=1)
    assert harness.reported == ["commits epoch 2 at offset 0, where epoch 1 had committed"]


def test_a_leader_that_lacks_what_was_committed():
    committed_log = CommittedLog()
    harness = MonitorHarness(LeaderCompleteness(committed_log))
    batch = batch_of(0, 1)
    committed_log.commit(batch, 1, 0)
    whole, lacking = harness.process(1), harness.process(2)
    whole.appends_batch(batch)
    whole.leads(2)
    assert harness.reported == []
    lacking.appends(epoch=2)
    lacking.leads(3)
    assert harness.reported == ["leads epoch 3 without the committed offset 0 of epoch 1"]


def test_a_leader_that_commits_an_older_epoch_alone():
    harness = MonitorHarness(CommitOnlyOwnEpoch())
    leader = harness.process(1)
    leader.appends(epoch=1)
    leader.appends(epoch=3)
    leader.leads(3)
    leader.moves(high_watermark=2)
    assert harness.reported == []
    other = harness.process(2)
    other.appends(epoch=1)
    other.appends(epoch=4)
    other.leads(4)
    other.moves(high_watermark=1)
    assert harness.reported == ["commits up to 1 in epoch 4, where the last record has epoch 1"]


def test_a_start_that_does_not_find_what_was_durable():
    harness = MonitorHarness(FlushedIsNeverLost())
    process = harness.process(1)
    batches = [process.appends() for _ in range(3)]
    process.appends(is_durable=False)
    process.restarts(batches)
    assert harness.reported == []
    process.restarts(batches[:2])
    assert harness.reported == ["the log ends at 2, but was durable to 3"]


def test_a_log_that_is_cut_below_what_has_committed():
    committed_log = CommittedLog()
    harness = MonitorHarness(CommittedIsNeverCut(committed_log))
    process = harness.process(1)
    committed_log.commit(process.appends(), 1, 0)
    committed_log.commit(batch_of(1, 2), 2, 0)
    process.appends()
    process.truncates(1)
    assert harness.reported == []
    process.truncates(0)
    assert harness.reported == ["cut to 0, below 0 of epoch 1"]
