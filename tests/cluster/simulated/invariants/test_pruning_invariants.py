"""What lies below every log is forgotten, and nothing else, without a loss of judgement."""

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
)
from kraftproof.cluster.simulated.invariants.answers import AcknowledgedIsCommitted
from kraftproof.cluster.simulated.invariants.log import LogMatching
from kraftproof.cluster.simulated.invariants.metadata import ImagesAgree
from kraftproof.cluster.simulated.invariants.pruning import CommittedLogPruner
from kraftproof.cluster.simulated.invariants.snapshots import SnapshotMatchesLog
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.wire.messages import create_topics_request, create_topics_response
from tests.cluster.simulated.invariants.invariant_harness import (
    MonitorHarness,
    batch_of,
    broker,
    image_of,
    topic,
)

BROKERS = [broker(number, offset) for offset, number in enumerate((4, 5, 6))]


def harness_of(committed_log, *invariants):
    harness = MonitorHarness(CommittedLogPruner(committed_log), *invariants)
    return harness, harness.process(1), harness.process(2)


def cleans(process, end_offset):
    process.log.clean(SnapshotId(end_offset, 1))
    process.cleans()


def violated(harness):
    return [violation.invariant for violation in harness.monitor.violations]


def log_of_three():
    committed_log = CommittedLog()
    for offset, record in enumerate(BROKERS):
        committed_log.commit(batch_of(offset, 1, record), 1, 0)
    return committed_log


def test_what_one_log_still_holds_is_kept():
    committed_log = log_of_three()
    _, first, second = harness_of(committed_log)
    cleans(first, 2)
    assert len(committed_log.commitments) == 3
    cleans(second, 1)
    assert [one.batch.base_offset for one in committed_log.commitments] == [1, 2]
    assert (committed_log.at(0), committed_log.end_offset) == (None, 3)


def test_what_is_forgotten_is_still_part_of_the_whole():
    committed_log = log_of_three()
    _, first, second = harness_of(committed_log)
    for process in (first, second):
        cleans(process, 2)
    said = entities_of_log((one.batch for one in committed_log.commitments), committed_log.base)
    assert said == entities_of_image(image_of(*BROKERS))
    assert committed_log.base != said


def test_a_log_that_begins_at_0_again_commits_nothing_new():
    """As of a wiped disk: what is forgotten has been told of, and is in the base."""
    committed_log = log_of_three()
    told = []
    committed_log.subscribers.append(lambda batch, _time_ns: told.append(batch.base_offset))
    _, first, second = harness_of(committed_log)
    for process in (first, second):
        cleans(process, 2)
    for offset, record in enumerate((*BROKERS, broker(7, 3))):
        batch = batch_of(offset, 1, record)
        assert committed_log.commit(batch, 1, 0) == batch
    assert told == [3]
    assert [one.batch.base_offset for one in committed_log.commitments] == [2, 3]
    said = entities_of_log((one.batch for one in committed_log.commitments), committed_log.base)
    assert said == entities_of_image(image_of(*BROKERS, broker(7, 3)))


def test_snapshots_are_judged_after_it_as_before():
    committed_log = log_of_three()
    harness, first, second = harness_of(committed_log, SnapshotMatchesLog(committed_log))
    for process in (first, second):
        cleans(process, 2)
    first.loads_snapshot(SnapshotId(2, 1), image_of(*BROKERS[:2]))
    first.writes_snapshot(SnapshotId(3, 1), image_of(*BROKERS))
    assert harness.reported == []
    second.writes_snapshot(SnapshotId(3, 1), image_of(*BROKERS[:2]))
    assert violated(harness) == ["SnapshotMatchesLog"]


def test_a_snapshot_that_was_overtaken_by_a_fetched_one_is_not_judged():
    """Log seed 1810047: a paused node chose a snapshot, and then installed a later one."""
    committed_log = log_of_three()
    harness, first, second = harness_of(committed_log, SnapshotMatchesLog(committed_log))
    for process in (first, second):
        cleans(process, 3)
    first.writes_snapshot(SnapshotId(2, 1), image_of(*BROKERS[:2]))
    assert harness.reported == []
    first.writes_snapshot(SnapshotId(3, 1), image_of(*BROKERS[:2]))
    assert violated(harness) == ["SnapshotMatchesLog"]


def test_logs_and_images_are_compared_above_it():
    committed_log = log_of_three()
    harness, first, second = harness_of(committed_log, LogMatching(), ImagesAgree())
    for process in (first, second):
        for record in BROKERS:
            process.appends(record)
    first.publishes(3, image_of(*BROKERS))
    for process in (first, second):
        cleans(process, 2)
    assert harness.reported == []
    second.publishes(3, image_of(*BROKERS[:2]))
    assert violated(harness) == ["ImagesAgree"]
    second.restarts([batch_of(1, 1, BROKERS[0]), batch_of(2, 1, BROKERS[1])])
    assert violated(harness) == ["ImagesAgree", "LogMatching"]


def test_an_answer_is_judged_until_its_own_node_has_cleaned_its_log():
    committed_log = CommittedLog()
    harness, first, second = harness_of(committed_log, AcknowledgedIsCommitted(committed_log))
    created = topic()
    committed_log.commit(first.appends(created), 1, 0)
    result = create_topics_response.CreatableTopicResult(
        name=created.name, topic_id=created.topic_id
    )

    def answers():
        event = first.receives(create_topics_request.CreateTopicsRequest())
        first.replies(event, create_topics_response.CreateTopicsResponse(topics=(result,)))
        return violated(harness)

    cleans(second, 1)
    assert answers() == []
    cleans(first, 1)
    assert answers() == ["AcknowledgedIsCommitted"]
