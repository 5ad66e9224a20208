"""The checks of a Produce come in Kafka's order, so that its errors name the same fault."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import produce_request
from tests.support.node.client_batches import batch_bytes
from tests.support.node.data_clients import START_MS
from tests.support.node.data_world import TOPIC, DataWorld

TWO = batch_bytes() * 2


def results(world, *parts, acks=1, version=12, **fields):
    """Return the results of a Produce of pairs of index and records to one topic."""
    has_id = version >= 13
    topic = produce_request.TopicProduceData(
        **({"topic_id": TOPIC} if has_id else {"name": "t"}),
        partition_data=tuple(
            produce_request.PartitionProduceData(index=index, records=records)
            for index, records in parts
        ),
    )
    request = produce_request.ProduceRequest(
        acks=acks, timeout_ms=100, topic_data=(topic,), **fields
    )
    token = world.request(world.brokers[1], request, version)
    world.run(200)
    (answer,) = world.brokers[1].answers[token].responses
    return answer.partition_responses


def errors(world, *parts, **fields):
    return [one.error_code for one in results(world, *parts, **fields)]


@pytest.mark.parametrize(
    ("part", "acks", "error"),
    [
        ((9, TWO), 5, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ((9, None), 1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ((0, TWO), 5, ErrorCode.INVALID_RECORD),
        ((0, batch_bytes(base_offset=1)), 5, ErrorCode.INVALID_REQUIRED_ACKS),
    ],
)
def test_the_place_comes_before_the_frame_and_the_frame_before_the_acks(part, acks, error):
    world = DataWorld()
    world.run(100)
    assert errors(world, part, acks=acks) == [error]


def test_too_few_replicas_come_before_the_content():
    world = DataWorld(configs={"min.insync.replicas": "3"})
    world.run(100)
    world.fence(3)
    world.publish()
    world.run(100)
    wrong = (0, batch_bytes(base_offset=1, timestamp_ms=START_MS))
    assert errors(world, wrong, acks=-1) == [ErrorCode.NOT_ENOUGH_REPLICAS]
    assert errors(world, wrong) == [ErrorCode.INVALID_RECORD]


def test_a_refusal_names_the_log_start_except_for_three_errors():
    world = DataWorld(configs={"max.message.bytes": "100", "min.insync.replicas": "3"})
    world.run(100)
    late = batch_bytes(timestamp_ms=START_MS + 10_000_000_000)
    wrong = (late, batch_bytes(9), batch_bytes()[:-1] + b"\1")
    starts = [results(world, (0, one))[0].log_start_offset for one in wrong]
    assert starts == [0, -1, -1]
    assert results(world, (0, late), version=4)[0].log_start_offset == -1
    world.fence(3)
    world.publish()
    world.run(100)
    (few,) = results(world, (0, batch_bytes()), acks=-1)
    assert (few.error_code, few.log_start_offset) == (ErrorCode.NOT_ENOUGH_REPLICAS, 0)


def test_a_transaction_needs_an_id_for_the_whole_request():
    world = DataWorld(partitions=2)
    world.run(100)
    in_transaction = batch_bytes(timestamp_ms=START_MS, attributes=0x10, producer=(7, 0, 0))
    asked = ((0, batch_bytes(timestamp_ms=START_MS)), (1, in_transaction))
    denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert errors(world, *asked) == [denied, denied]
    assert errors(world, *asked, version=13) == [denied, denied]
    repeated = (asked[1], (1, batch_bytes(timestamp_ms=START_MS)))
    assert errors(world, *repeated) == [denied]
    assert errors(world, *asked, transactional_id="a") == [0, ErrorCode.INVALID_RECORD]
