"""Requests and their results: the invariant finds the cause of each batch, or says that none is."""

import pytest
from msgspec.structs import replace as changed

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.conformance import ControllerConforms
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    envelope_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from kraftproof.run.backends import specification_of
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    TOPIC,
    MonitorHarness,
    broker,
    partition,
    topic,
)

CREATED = (topic(), partition(isr=(4,), leader=4, replicas=(4,)))
CREATE = create_topics_request.CreateTopicsRequest(
    topics=(create_topics_request.CreatableTopic(name="t", num_partitions=1, replication_factor=1),)
)
DELETE = delete_topics_request.DeleteTopicsRequest(
    topics=(delete_topics_request.DeleteTopicState(name="t"),), timeout_ms=1_000
)
REMOVED = records.RemoveTopicRecord(topic_id=TOPIC)


def create_answer(code=ErrorCode.NONE, topic_id=TOPIC):
    result = create_topics_response.CreatableTopicResult(
        name="t", topic_id=topic_id, error_code=code, num_partitions=1, replication_factor=1
    )
    return create_topics_response.CreateTopicsResponse(topics=(result,))


def delete_answer(code=ErrorCode.NONE):
    result = delete_topics_response.DeletableTopicResult(
        name="t", topic_id=TOPIC if code == ErrorCode.NONE else Uuid(bytes(16)), error_code=code
    )
    return delete_topics_response.DeleteTopicsResponse(responses=(result,))


class Leader:
    """The leader of epoch 1, with broker 4, which is the only one."""

    def __init__(self):
        self.log = CommittedLog()
        self.harness = MonitorHarness(ControllerConforms(specification_of(CONFIG), self.log))
        self.process = self.harness.process()
        self.process.leads(1)
        self.log.commit(self.process.appends(broker(4, 0)), 1, 0)
        self.reported.clear()
        self.harness.monitor.violations.clear()

    def asks(self, message):
        """A request arrives, and its step begins."""
        self.process.event = self.process.receives(message)
        return self.process.event

    def commits(self, *written):
        batch = self.process.appends(*written)
        self.process.status = changed(self.process.status, high_watermark=batch.next_offset)
        self.log.commit(batch, 1, 0)

    def answers(self, event, message):
        self.process.replies(event, message)
        return self.reported

    @property
    def reported(self):
        return self.harness.reported


@pytest.fixture
def leader():
    return Leader()


def test_a_request_with_its_records_and_its_answer(leader):
    event = leader.asks(CREATE)
    leader.commits(*CREATED)
    assert leader.answers(event, create_answer()) == []
    event = leader.asks(DELETE)
    leader.commits(REMOVED)
    assert leader.answers(event, delete_answer()) == []


def test_records_that_differ_from_the_request(leader):
    leader.asks(CREATE)
    leader.commits(*CREATED, partition(isr=(4,), leader=4, replicas=(4,), index=1))
    assert "but 1 were asked for" in leader.reported[0]


def test_records_that_nobody_asked_for(leader):
    leader.commits(*CREATED)
    assert "without a request" in leader.reported[0]


@pytest.mark.parametrize("asked", [CREATE, DELETE])
def test_a_batch_whose_append_has_ended_the_process_needs_a_request(leader, asked):
    """Reassignment seed 1730059: the disk was full behind the last byte of the batch."""
    leader.asks(asked)
    for started in leader.harness.monitor.on_started:
        started(leader.process, QuorumState(epoch=1))
    leader.process.status = None  # nobody sees the append
    leader.log.commit(leader.process.appends(*CREATED), 1, 0)
    assert bool(leader.reported) is (asked is DELETE)


def test_an_answer_that_differs_from_the_records(leader):
    event = leader.asks(CREATE)
    leader.commits(*CREATED)
    (violation,) = leader.answers(event, create_answer(topic_id=Uuid(b"o" * 16)))
    assert "CreateTopicsRequest: topic t has the id" in violation


def test_an_acknowledgement_without_records(leader):
    event = leader.asks(CREATE)
    leader.commits()
    (violation,) = leader.answers(event, create_answer())
    assert "not created, without a cause" in violation


def test_a_refusal_is_right_for_any_image_since_the_request(leader):
    event = leader.asks(CREATE)
    other = leader.asks(CREATE)
    leader.commits(*CREATED)
    assert leader.answers(other, create_answer()) == []
    assert leader.answers(event, create_answer(ErrorCode.TOPIC_ALREADY_EXISTS)) == []


def test_a_refusal_from_before_the_request(leader):
    event = leader.asks(CREATE)
    leader.commits(*CREATED)
    leader.answers(event, create_answer())
    late = leader.asks(DELETE)
    leader.commits()
    (violation,) = leader.answers(late, delete_answer(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    assert "was not removed, without a cause" in violation


def test_waiting_requests_are_decided_in_one_step(leader):
    refused, event, deleted = leader.asks(DELETE), leader.asks(CREATE), leader.asks(DELETE)
    leader.process.event = None
    leader.commits(*CREATED)
    leader.commits(REMOVED)
    assert leader.answers(refused, delete_answer(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)) == []
    assert leader.answers(event, create_answer()) == []
    assert leader.answers(deleted, delete_answer()) == []


def test_one_deletion_is_acknowledged_once(leader):
    event = leader.asks(CREATE)
    leader.commits(*CREATED)
    leader.answers(event, create_answer())
    first, second = leader.asks(DELETE), leader.asks(DELETE)
    leader.process.event = None
    leader.commits(REMOVED)
    assert leader.answers(first, delete_answer()) == []
    assert len(leader.answers(second, delete_answer())) == 1


def test_a_request_that_was_refused_untried_writes_nothing(leader):
    event = leader.asks(CREATE)
    refused = envelope_response.EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    assert leader.answers(event, refused) == []
    leader.commits(*CREATED)
    assert "without a request" in leader.reported[0]


def test_a_change_may_commit_after_its_request_timed_out(leader):
    event = leader.asks(CREATE)
    batch = leader.process.appends(*CREATED)
    assert leader.answers(event, create_answer(ErrorCode.REQUEST_TIMED_OUT)) == []
    leader.log.commit(batch, 1, 0)
    assert leader.reported == []


def test_records_that_contradict_the_log(leader):
    leader.commits(REMOVED)
    assert "there is no topic" in leader.reported[0]
