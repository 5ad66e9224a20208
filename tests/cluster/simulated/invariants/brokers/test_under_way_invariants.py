"""The invariant of requests that a broker sends to the controller one after the other."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.under_way import OneRequestUnderWay
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    assign_replicas_to_dirs_request,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness
from tests.cluster.simulated.invariants.partitions.requests import decided, proposal

PROPOSAL = proposal(1, 2)
ALLOCATION = allocate_producer_ids_request.AllocateProducerIdsRequest(broker_id=4, broker_epoch=1)
ASSIGNMENT = assign_replicas_to_dirs_request.AssignReplicasToDirsRequest(broker_id=4)


@pytest.fixture
def harness():
    return MonitorHarness(OneRequestUnderWay())


@pytest.fixture
def broker(harness):
    broker = harness.process(4)
    broker.moves(leader=1)
    return broker


@pytest.mark.parametrize("request_", [PROPOSAL, ALLOCATION, ASSIGNMENT])
def test_a_second_request_before_the_answer_is_reported(harness, broker, request_):
    broker.sends(request_, to=1)
    broker.sends(request_, to=1)
    (reported,) = harness.reported
    assert reported.startswith(f"{type(request_).__name__} to controller 1, before the answer")


def test_requests_of_several_types_and_of_several_processes_may_be_under_way(harness, broker):
    for request in (PROPOSAL, ALLOCATION, ASSIGNMENT):
        broker.sends(request, to=1)
    harness.process(5).sends(PROPOSAL, to=1)
    harness.process(4, incarnation=2).sends(PROPOSAL, to=1)
    assert harness.reported == []


def test_an_answered_and_a_lost_request_may_be_followed(harness, broker):
    broker.sends(PROPOSAL, to=1)
    broker.hears(1, PROPOSAL, decided(1, 2))
    broker.sends(PROPOSAL, to=1)
    broker.loses()
    broker.sends(PROPOSAL, to=1)
    assert harness.reported == []


def test_a_late_answer_of_a_former_controller_ends_no_other_request(harness, broker):
    answer = allocate_producer_ids_response.AllocateProducerIdsResponse()
    broker.sends(ALLOCATION, to=1)
    broker.moves(leader=2, epoch=2)
    broker.sends(ALLOCATION, to=2)
    broker.hears(1, ALLOCATION, answer, correlation=7)
    assert harness.reported == []
    broker.sends(ALLOCATION, to=2)
    assert len(harness.reported) == 1


def test_a_broker_that_has_known_another_controller_may_ask_the_first_one_again(harness, broker):
    broker.sends(PROPOSAL, to=1)
    broker.moves(leader=NO_NODE, epoch=2)
    broker.moves(leader=2, epoch=2)
    broker.moves(leader=1, epoch=3)
    broker.sends(PROPOSAL, to=1)
    assert harness.reported == []
    broker.moves(leader=NO_NODE, epoch=4)
    broker.sends(PROPOSAL, to=1)
    assert len(harness.reported) == 1
