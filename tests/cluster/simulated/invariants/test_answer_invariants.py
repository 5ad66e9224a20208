"""The invariants of the active controller's answers, and the list of all."""

from dataclasses import replace

import pytest

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.answers import (
    AcknowledgedIsCommitted,
    LinearizableReads,
)
from kraftproof.cluster.simulated.invariants.catalogue import make_monitor
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
)
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    TOPIC,
    MonitorHarness,
    batch_of,
    topic,
)


class Asking:
    """A controller with `log_end` records, of which everybody has committed all."""

    def __init__(self, log_end=3, voters=(1, 2, 3)):
        self.committed_log = CommittedLog()
        config = replace(CONFIG, voters=voters)
        self.harness = MonitorHarness(LinearizableReads(config, self.committed_log))
        self.process = self.harness.process(1)
        for offset in range(log_end):
            self.committed_log.commit(self.process.appends(), 1, offset)
        self.process.leads(1, high_watermark=log_end)

    def ask(self):
        return self.process.receives(broker_heartbeat_request.BrokerHeartbeatRequest(broker_id=4))

    def answer(self, event, error=ErrorCode.NONE):
        answer = broker_heartbeat_response.BrokerHeartbeatResponse(error_code=error)
        self.process.replies(event, answer)
        return self.harness.reported


def test_an_answer_that_rests_on_a_later_committed_record_is_present():
    asking = Asking()
    event = asking.ask()
    asking.process.appends()
    asking.process.moves(high_watermark=4)
    assert asking.answer(event) == []


def test_an_answer_without_a_record_after_it():
    asking = Asking()
    (violation,) = asking.answer(asking.ask())
    assert violation == (
        "BrokerHeartbeatRequest: answered at high watermark 3, "
        "without the commit of a record written after the request"
    )


def test_the_only_voter_needs_no_record():
    asking = Asking(voters=(1,))
    assert asking.answer(asking.ask()) == []


def test_an_answer_that_rests_on_what_is_not_committed():
    asking = Asking()
    asking.process.appends()
    (violation,) = asking.answer(asking.ask())
    assert violation == "BrokerHeartbeatRequest: answered at high watermark 3, below the log end 4"


def test_an_answer_from_the_past():
    asking = Asking()
    asking.process.appends()
    asking.committed_log.commit(batch_of(3, 2), 2, 9)
    asking.committed_log.commit(batch_of(4, 2), 2, 9)
    event = asking.ask()
    asking.process.moves(high_watermark=4)
    (violation,) = asking.answer(event)
    assert violation == (
        "BrokerHeartbeatRequest: answered at high watermark 4, "
        "but offset 5 had committed elsewhere before the request"
    )


@pytest.mark.parametrize("error", [ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT])
def test_who_claims_nothing_may_answer_at_once(error):
    asking = Asking()
    assert asking.answer(asking.ask(), error) == []


def test_topics_answers_are_claims_too():
    asking = Asking()
    event = asking.process.receives(create_topics_request.CreateTopicsRequest())
    exists = create_topics_response.CreatableTopicResult(error_code=ErrorCode.TOPIC_ALREADY_EXISTS)
    asking.process.replies(event, create_topics_response.CreateTopicsResponse(topics=(exists,)))
    assert len(asking.harness.reported) == 1


class Topics:
    """A controller that is asked to create and delete the topic `t`."""

    def __init__(self):
        self.committed_log = CommittedLog()
        self.harness = MonitorHarness(AcknowledgedIsCommitted(self.committed_log))
        self.process = self.harness.process(1)

    def asks(self, *, writes, validate_only=False):
        creatable = create_topics_request.CreatableTopic(name="t")
        event = self.process.receives(
            create_topics_request.CreateTopicsRequest(
                topics=(creatable,), validate_only=validate_only
            )
        )
        batch = self.process.appends(topic()) if writes else None
        self.process.steps()
        return event, batch

    def answers(self, event, error=ErrorCode.NONE):
        result = create_topics_response.CreatableTopicResult(
            name="t", topic_id=TOPIC, error_code=error
        )
        self.process.replies(event, create_topics_response.CreateTopicsResponse(topics=(result,)))
        return self.harness.reported

    def deletes(self):
        event = self.process.receives(delete_topics_request.DeleteTopicsRequest())
        result = delete_topics_response.DeletableTopicResult(name="t", topic_id=TOPIC)
        self.process.replies(
            event, delete_topics_response.DeleteTopicsResponse(responses=(result,))
        )
        return self.harness.reported


def test_a_creation_that_has_committed():
    topics = Topics()
    event, batch = topics.asks(writes=True)
    topics.committed_log.commit(batch, 1, 0)
    assert topics.answers(event) == []


def test_a_creation_that_has_not_committed():
    topics = Topics()
    event, _ = topics.asks(writes=True)
    assert topics.answers(event) == ["topic t: the creation is acknowledged, not committed"]


def test_a_creation_that_was_only_looked_at():
    topics = Topics()
    event, _ = topics.asks(writes=False, validate_only=True)
    assert topics.answers(event) == []


@pytest.mark.parametrize(
    ("writes", "error", "reported"),
    [
        (False, ErrorCode.TOPIC_ALREADY_EXISTS, 0),
        (True, ErrorCode.TOPIC_ALREADY_EXISTS, 1),
        (True, ErrorCode.NOT_CONTROLLER, 1),
        (True, ErrorCode.REQUEST_TIMED_OUT, 0),
    ],
)
def test_what_is_refused_is_not_written(writes, error, reported):
    topics = Topics()
    event, _ = topics.asks(writes=writes)
    assert len(topics.answers(event, error)) == reported


def test_what_another_request_writes_is_not_held_against_this_one():
    topics = Topics()
    refused, _ = topics.asks(writes=False)
    topics.asks(writes=True)
    assert topics.answers(refused, ErrorCode.TOPIC_ALREADY_EXISTS) == []


def test_a_deletion_that_has_not_committed():
    topics = Topics()
    assert topics.deletes() == ["topic t: the deletion is acknowledged, not committed"]


def test_a_broker_passes_on_what_a_controller_has_answered():
    topics = Topics()
    event = topics.process.receives(
        delete_topics_request.DeleteTopicsRequest(), on_controller_listener=False
    )
    result = delete_topics_response.DeletableTopicResult(name="t", topic_id=TOPIC)
    answer = delete_topics_response.DeleteTopicsResponse(responses=(result,))
    topics.process.replies(event, answer)
    assert topics.harness.reported == []


def test_a_deletion_that_has_committed():
    topics = Topics()
    removal = records.RemoveTopicRecord(topic_id=TOPIC)
    topics.committed_log.commit(batch_of(0, 1, removal), 1, 0)
    assert topics.deletes() == []


def test_every_invariant_of_a_run_has_a_test(request):
    monitor = make_monitor(CONFIG, CommittedLog())
    hooks = [getattr(monitor, name) for name in sorted(vars(monitor)) if name.startswith("on_")]
    names = {type(hook.__self__).__name__ for told in hooks for hook in told}
    tests = "".join(path.read_text() for path in request.path.parent.rglob("test_*_invariant*.py"))
    assert len(names) >= 20
    assert {name for name in names if tests.count(name) < 2} == set()
