"""What lies below every log is forgotten, and nothing else, without a loss of judgement."""

from kraftproof.cluster.simulated.committed.committed_log import Ledger
from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
)
from kraftproof.cluster.simulated.invariants.answers import AnswersAreTrue
from kraftproof.cluster.simulated.invariants.log import LogsMatch
from kraftproof.cluster.simulated.invariants.metadata import ImagesAgree
from kraftproof.cluster.simulated.invariants.pruning import Forgetting
from kraftproof.cluster.simulated.invariants.snapshots import SnapshotsSayWhatTheLogSays
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.wire.messages import create_topics_request, create_topics_response
from tests.simulated.witnesses import Court, batch_of, broker, image_of, topic

BROKERS = [broker(number, offset) for offset, number in enumerate((4, 5, 6))]


def court_of(ledger, *witnesses):
    court = Court(Forgetting(ledger), *witnesses)
    return court, court.process(1), court.process(2)


def cleans(process, end_offset):
    process.log.clean(SnapshotId(end_offset, 1))
    process.cleans()


def objectors(court):
    return [violation.invariant for violation in court.jury.violations]


def ledger_of_three():
    ledger = Ledger()
    for offset, record in enumerate(BROKERS):
        ledger.commit(batch_of(offset, 1, record), 1, 0)
    return ledger


def test_what_one_log_still_holds_is_kept():
    ledger = ledger_of_three()
    _, first, second = court_of(ledger)
    cleans(first, 2)
    assert len(ledger.commitments) == 3
    cleans(second, 1)
    assert [one.batch.base_offset for one in ledger.commitments] == [1, 2]
    assert (ledger.at(0), ledger.end_offset) == (None, 3)


def test_what_is_forgotten_is_still_part_of_the_whole():
    ledger = ledger_of_three()
    _, first, second = court_of(ledger)
    for process in (first, second):
        cleans(process, 2)
    said = entities_of_log((one.batch for one in ledger.commitments), ledger.base)
    assert said == entities_of_image(image_of(*BROKERS))
    assert ledger.base != said


def test_a_log_that_begins_at_0_again_commits_nothing_new():
    """As of a wiped disk: what is forgotten has been told of, and is in the base."""
    ledger = ledger_of_three()
    told = []
    ledger.subscribers.append(lambda batch, _time_ns: told.append(batch.base_offset))
    _, first, second = court_of(ledger)
    for process in (first, second):
        cleans(process, 2)
    for offset, record in enumerate((*BROKERS, broker(7, 3))):
        batch = batch_of(offset, 1, record)
        assert ledger.commit(batch, 1, 0) == batch
    assert told == [3]
    assert [one.batch.base_offset for one in ledger.commitments] == [2, 3]
    said = entities_of_log((one.batch for one in ledger.commitments), ledger.base)
    assert said == entities_of_image(image_of(*BROKERS, broker(7, 3)))


def test_snapshots_are_judged_after_it_as_before():
    ledger = ledger_of_three()
    court, first, second = court_of(ledger, SnapshotsSayWhatTheLogSays(ledger))
    for process in (first, second):
        cleans(process, 2)
    first.loads_snapshot(SnapshotId(2, 1), image_of(*BROKERS[:2]))
    first.writes_snapshot(SnapshotId(3, 1), image_of(*BROKERS))
    assert court.objections == []
    second.writes_snapshot(SnapshotId(3, 1), image_of(*BROKERS[:2]))
    assert objectors(court) == ["SnapshotsSayWhatTheLogSays"]


def test_logs_and_images_are_compared_above_it():
    ledger = ledger_of_three()
    court, first, second = court_of(ledger, LogsMatch(), ImagesAgree())
    for process in (first, second):
        for record in BROKERS:
            process.appends(record)
    first.publishes(3, image_of(*BROKERS))
    for process in (first, second):
        cleans(process, 2)
    assert court.objections == []
    second.publishes(3, image_of(*BROKERS[:2]))
    assert objectors(court) == ["ImagesAgree"]
    second.restarts([batch_of(1, 1, BROKERS[0]), batch_of(2, 1, BROKERS[1])])
    assert objectors(court) == ["ImagesAgree", "LogsMatch"]


def test_an_answer_is_judged_until_its_own_node_has_cleaned_its_log():
    ledger = Ledger()
    court, first, second = court_of(ledger, AnswersAreTrue(ledger))
    created = topic()
    ledger.commit(first.appends(created), 1, 0)
    result = create_topics_response.CreatableTopicResult(
        name=created.name, topic_id=created.topic_id
    )

    def answers():
        event = first.receives(create_topics_request.CreateTopicsRequest())
        first.replies(event, create_topics_response.CreateTopicsResponse(topics=(result,)))
        return objectors(court)

    cleans(second, 1)
    assert answers() == []
    cleans(first, 1)
    assert answers() == ["AnswersAreTrue"]
