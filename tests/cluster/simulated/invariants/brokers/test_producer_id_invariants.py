"""The invariant of the producer ids that a broker has got from the controller."""

import pytest

from kraftproof.cluster.simulated.invariants.brokers.producer_ids import ProducerIdsAreGiven
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    init_producer_id_request,
    init_producer_id_response,
)
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

ASKED = allocate_producer_ids_request.AllocateProducerIdsRequest(broker_id=4, broker_epoch=1)
Block = allocate_producer_ids_response.AllocateProducerIdsResponse
Answer = init_producer_id_response.InitProducerIdResponse
WAIT = Answer(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


@pytest.fixture
def harness():
    return MonitorHarness(ProducerIdsAreGiven())


def answers(harness, broker, answer):
    kind = init_producer_id_request.InitProducerIdRequest
    for answered in harness.monitor.on_data_answered[kind]:
        answered(broker, broker.receives(kind()), answer)


def test_a_broker_without_ids_may_refuse(harness):
    broker = harness.process(4)
    answers(harness, broker, WAIT)
    broker.hears(1, ASKED, Block(error_code=ErrorCode.STALE_BROKER_EPOCH, producer_id_len=9))
    answers(harness, broker, WAIT)
    broker.hears(1, ASKED, Block(producer_id_start=0, producer_id_len=2))
    answers(harness, broker, Answer(producer_id=0))
    answers(harness, broker, Answer(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
    answers(harness, broker, Answer(producer_id=1))
    answers(harness, broker, WAIT)
    answers(harness, harness.process(4, incarnation=2), WAIT)
    assert harness.reported == []


def test_a_broker_with_ids_refuses_nobody(harness):
    broker = harness.process(4)
    broker.hears(1, ASKED, Block(producer_id_start=0, producer_id_len=2))
    answers(harness, broker, Answer(producer_id=0))
    answers(harness, broker, WAIT)
    assert harness.reported == ["refuses a producer though it has 1 producer ids left"]
