"""RefusalsTakeTheirTime objects to a leader that refuses early, and to a wrong reason."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.refusal_times import RefusalsTakeTheirTime
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    delete_topics_request,
    delete_topics_response,
    unregister_broker_request,
    unregister_broker_response,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness, topic

REQUEST_MS = CONFIG.timeouts.request_ns // milliseconds(1)
TIMED_OUT, ELSEWHERE = ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_CONTROLLER


def asked(timeout_ms=None):
    if timeout_ms is None:
        return unregister_broker_request.UnregisterBrokerRequest()
    return delete_topics_request.DeleteTopicsRequest(timeout_ms=timeout_ms)


def refusal(request, code):
    if isinstance(request, unregister_broker_request.UnregisterBrokerRequest):
        return unregister_broker_response.UnregisterBrokerResponse(error_code=code)
    result = delete_topics_response.DeletableTopicResult(name="t", error_code=code)
    return delete_topics_response.DeleteTopicsResponse(responses=(result,))


def refused(
    code, waited_ms, timeout_ms=None, *, role="leader", epoch=3, after="leader", writes=()
) -> list[str]:
    """Return what the invariant says of a refusal of a node with these roles before and after."""
    harness = MonitorHarness(RefusalsTakeTheirTime(CONFIG))
    process = harness.process(1)
    process.moves(role=role, epoch=3)
    request = asked(timeout_ms)
    event = process.receives(request)
    if writes:
        process.appends(*writes, epoch=3)
    harness.now_ns += milliseconds(waited_ms)
    process.moves(role=after, epoch=epoch)
    process.replies(event, refusal(request, code))
    return harness.reported


@pytest.mark.parametrize("code", [TIMED_OUT, ELSEWHERE])
@pytest.mark.parametrize(
    ("waited_ms", "timeout_ms", "is_early"),
    [
        (REQUEST_MS, None, False),
        (REQUEST_MS - 100, None, True),
        (400, 400, False),
        (300, 400, True),
        (0, 0, False),
    ],
)
def test_a_leader_refuses_after_the_time_of_the_request(
    code, waited_ms, timeout_ms, is_early
) -> None:
    assert bool(refused(code, waited_ms, timeout_ms)) == is_early


def test_a_resigned_leader_refuses_at_once() -> None:
    assert refused(ELSEWHERE, 1, after="resigned") == []
    assert refused(ELSEWHERE, 1, after="leader", epoch=4) == []
    assert refused(ELSEWHERE, 1, role="follower") == []


def test_a_resigned_leader_names_the_time_only_after_a_change() -> None:
    assert refused(TIMED_OUT, 1, after="resigned", writes=(topic(),)) == []
    reported = refused(TIMED_OUT, 1, after="resigned")
    assert reported == [
        "UnregisterBrokerRequest after 0.001 s: a resigned leader without a change answers "
        "REQUEST_TIMED_OUT"
    ]


def test_other_answers_take_no_time() -> None:
    assert refused(ErrorCode.NONE, 0) == refused(ErrorCode.INVALID_REQUEST, 0) == []
