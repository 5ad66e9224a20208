"""RefusalsSayWhy: an error has a reason in words, and a success has none."""

import pytest

from kraftproof.cluster.simulated.invariants.security.refusal_reasons import RefusalsSayWhy
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    elect_leaders_request,
    elect_leaders_response,
)
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, Process
from tests.node.core.security.rules import received

CREATE = create_topics_request.CreateTopicsRequest()
ELECT = elect_leaders_request.ElectLeadersRequest()


def judged(request, answer, *, at_controller=True):
    harness = MonitorHarness(RefusalsSayWhy())
    event = received(request, ANONYMOUS, on_controller_listener=at_controller)
    for hook in harness.monitor.on_replied[type(request)]:
        hook(Process(harness, 1), event, answer)
    return harness.reported


def created(error, reason):
    result = create_topics_response.CreatableTopicResult(
        name="t", error_code=error, error_message=reason
    )
    return create_topics_response.CreateTopicsResponse(topics=(result,))


@pytest.mark.parametrize(("error", "reason"), [(0, None), (36, "exists"), (41, None), (7, None)])
def test_right_results_pass(error, reason):
    assert not judged(CREATE, created(error, reason))


@pytest.mark.parametrize(("error", "reason"), [(36, None), (36, ""), (0, "exists")])
def test_wrong_results_are_reported(error, reason):
    (wrong,) = judged(CREATE, created(error, reason))
    assert f"CreateTopicsRequest: error {error} with the reason {reason!r}" in wrong


def test_a_broker_may_pass_on_an_answer_of_an_old_version():
    assert not judged(CREATE, created(36, None), at_controller=False)


def test_results_within_results_are_judged():
    result = elect_leaders_response.PartitionResult(partition_id=0, error_code=84)
    topic = elect_leaders_response.ReplicaElectionResult(topic="t", partition_result=(result,))
    answer = elect_leaders_response.ElectLeadersResponse(replica_election_results=(topic,))
    (wrong,) = judged(ELECT, answer)
    assert "error 84 with the reason None" in wrong
