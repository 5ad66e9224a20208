"""The invariants of the active controller's answers, and the list of all."""

import pytest

from cluster.simulated.answer_invariants import AnswersArePresent
from cluster.simulated.invariants import make_jury
from cluster.simulated.ledger import Ledger
from node.wire.errors import ErrorCode
from node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    create_topics_request,
    create_topics_response,
)
from tests.simulated.witnesses import (
    SETTING,
    Court,
    batch_of,
)


class Asking:
    """A controller with `log_end` records, of which everybody has committed all."""

    def __init__(self, log_end=3):
        self.ledger = Ledger()
        self.court = Court(AnswersArePresent(self.ledger))
        self.process = self.court.process(1)
        for offset in range(log_end):
            self.ledger.commit(self.process.appends(), 1, offset)
        self.process.leads(1, high_watermark=log_end)

    def ask(self):
        return self.process.receives(broker_heartbeat_request.BrokerHeartbeatRequest(broker_id=4))

    def answer(self, event, error=ErrorCode.NONE):
        answer = broker_heartbeat_response.BrokerHeartbeatResponse(error_code=error)
        self.process.replies(event, answer)
        return self.court.objections


def test_an_answer_that_rests_on_a_later_committed_record_is_present():
    asking = Asking()
    event = asking.ask()
    asking.process.appends()
    asking.process.moves(high_watermark=4)
    assert asking.answer(event) == []


def test_an_answer_without_a_record_after_it():
    asking = Asking()
    (objection,) = asking.answer(asking.ask())
    assert objection == (
        "BrokerHeartbeatRequest: committed 3, where the log ended when it was asked for"
    )


def test_an_answer_that_rests_on_what_is_not_committed():
    asking = Asking()
    asking.process.appends()
    (objection,) = asking.answer(asking.ask())
    assert objection == "BrokerHeartbeatRequest: committed 3, but it saw the log to 4"


def test_an_answer_from_the_past():
    asking = Asking()
    asking.process.appends()
    asking.ledger.commit(batch_of(3, 2), 2, 9)
    asking.ledger.commit(batch_of(4, 2), 2, 9)
    event = asking.ask()
    asking.process.moves(high_watermark=4)
    (objection,) = asking.answer(event)
    assert objection == "BrokerHeartbeatRequest: committed here 4, elsewhere 5 before it"


@pytest.mark.parametrize("error", [ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT])
def test_who_claims_nothing_may_answer_at_once(error):
    asking = Asking()
    assert asking.answer(asking.ask(), error) == []


def test_topics_answers_are_claims_too():
    asking = Asking()
    event = asking.process.receives(create_topics_request.CreateTopicsRequest())
    exists = create_topics_response.CreatableTopicResult(error_code=ErrorCode.TOPIC_ALREADY_EXISTS)
    asking.process.replies(event, create_topics_response.CreateTopicsResponse(topics=(exists,)))
    assert len(asking.court.objections) == 1


def test_every_invariant_of_a_run_has_a_test(request):
    jury = make_jury(SETTING, Ledger())
    hooks = [getattr(jury, name) for name in sorted(vars(jury)) if name.startswith("on_")]
    names = {type(hook.__self__).__name__ for told in hooks for hook in told}
    tests = "".join(path.read_text() for path in request.path.parent.glob("test_*_invariants.py"))
    assert len(names) >= 20
    assert {name for name in names if tests.count(name) < 2} == set()
