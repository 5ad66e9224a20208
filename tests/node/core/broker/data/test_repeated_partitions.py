"""A request that names a partition twice gets one answer about the partition, as from Kafka."""

import pytest

from kraftproof.node.core.broker.data.repeated import last_of_each
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    delete_records_request,
    fetch_request,
    list_offsets_request,
    produce_request,
)
from tests.support.node.client_batches import batch_bytes
from tests.support.node.data_clients import START_MS
from tests.support.node.data_world import TOPIC, DataWorld

GOOD = batch_bytes(timestamp_ms=START_MS)
WRONG = batch_bytes(timestamp_ms=START_MS, base_offset=7)


def test_the_last_part_counts_at_the_place_of_the_first():
    parts = [("a", 0, "x"), ("a", 1, "y"), ("b", 0, "z"), ("a", 0, "u"), ("a", 2, "v")]
    assert last_of_each(parts) == [("a", ("u", "y")), ("b", ("z",)), ("a", ("v",))]
    assert last_of_each([("a", 0, "x"), ("b", 0, "y"), ("b", 1, "z")]) == [
        ("a", ("x",)),
        ("b", ("y", "z")),
    ]


def led():
    world = DataWorld(count=1, partitions=2)
    world.run(100)
    return world


def asked(world, request, version):
    token = world.request(world.brokers[1], request, version)
    world.settle()
    world.run(50)
    return world.brokers[1].answers[token]


def produced(world, *topics, version=12):
    """Return index, error and offset of each result of topics, each of pairs."""
    named = {"topic_id": TOPIC} if version >= 13 else {"name": "t"}
    request = produce_request.ProduceRequest(
        acks=1,
        topic_data=tuple(
            produce_request.TopicProduceData(
                **named,
                partition_data=tuple(
                    produce_request.PartitionProduceData(index=index, records=records)
                    for index, records in pairs
                ),
            )
            for pairs in topics
        ),
    )
    return [
        [(one.index, one.error_code, one.base_offset) for one in topic.partition_responses]
        for topic in asked(world, request, version).responses
    ]


@pytest.mark.parametrize("version", [12, 13])
def test_the_last_batch_of_a_partition_is_appended_alone(version):
    world = led()
    assert produced(world, [(0, GOOD), (0, GOOD)], version=version) == [[(0, 0, 0)]]
    assert produced(world, [(0, WRONG), (0, GOOD)], version=version) == [[(0, 0, 1)]]
    refused = [[(0, ErrorCode.INVALID_RECORD, -1)]]
    assert produced(world, [(0, GOOD), (0, WRONG)], version=version) == refused
    assert produced(world, [(0, GOOD)], [(0, GOOD), (1, GOOD)], version=version) == [
        [(0, 0, 2), (1, 0, 0)]
    ]
    assert produced(world, [], version=version) == []
    assert world.brokers[1].replica.index.end_offset == 3


def test_the_last_offset_of_a_partition_is_fetched():
    world = led()
    produced(world, [(0, batch_bytes(timestamp_ms=START_MS))])
    parts = tuple(
        fetch_request.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        for offset in (0, 99)
    )
    for given, error in ((parts, ErrorCode.OFFSET_OUT_OF_RANGE), (parts[::-1], ErrorCode.NONE)):
        topic = fetch_request.FetchTopic(topic="t", partitions=given)
        request = fetch_request.FetchRequest(
            max_wait_ms=0, max_bytes=1 << 20, session_epoch=-1, topics=(topic,)
        )
        (answer,) = asked(world, request, 12).responses
        assert [(one.partition_index, one.error_code) for one in answer.partitions] == [(0, error)]


def test_a_look_up_of_a_partition_named_twice_is_refused():
    world = led()
    parts = tuple(
        list_offsets_request.ListOffsetsPartition(partition_index=index, timestamp=time)
        for index, time in ((0, -1), (1, -1), (0, 5))
    )
    topic = list_offsets_request.ListOffsetsTopic(name="t", partitions=parts)
    request = list_offsets_request.ListOffsetsRequest(topics=(topic,))
    (answer,) = asked(world, request, 7).topics
    assert [(one.partition_index, one.error_code) for one in answer.partitions] == [
        (0, ErrorCode.INVALID_REQUEST),
        (1, ErrorCode.NONE),
    ]


def test_the_last_offset_of_a_partition_is_deleted():
    world = led()
    for _ in range(3):
        produced(world, [(0, GOOD)])
    parts = tuple(
        delete_records_request.DeleteRecordsPartition(partition_index=0, offset=offset)
        for offset in (99, 2)
    )
    topic = delete_records_request.DeleteRecordsTopic(name="t", partitions=parts)
    request = delete_records_request.DeleteRecordsRequest(topics=(topic,), timeout_ms=100)
    (answer,) = asked(world, request, 2).topics
    assert [(one.error_code, one.low_watermark) for one in answer.partitions] == [(0, 2)]
