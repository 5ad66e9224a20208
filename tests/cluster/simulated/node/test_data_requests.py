"""A request about partitions is judged as the broker judges the request: each partition once."""

import pytest

from kraftproof.cluster.simulated.node.data_requests import with_each_partition_once
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import (
    delete_records_request,
    fetch_request,
    list_offsets_request,
    metadata_request,
    produce_request,
)
from kraftproof.node.wire.principal import ANONYMOUS


def received(message, *, on_controller_listener=False):
    return Received(
        request=1,
        message=message,
        version=9,
        on_controller_listener=on_controller_listener,
        principal=ANONYMOUS,
        client_host="127.0.0.1",
    )


def deletion(*topics):
    return delete_records_request.DeleteRecordsRequest(
        topics=tuple(
            delete_records_request.DeleteRecordsTopic(
                name=name,
                partitions=tuple(
                    delete_records_request.DeleteRecordsPartition(
                        partition_index=index, offset=offset
                    )
                    for index, offset in parts
                ),
            )
            for name, parts in topics
        ),
        timeout_ms=5,
    )


@pytest.mark.parametrize(
    ("asked", "judged"),
    [
        ((("a", [(0, 1), (0, 2)]),), (("a", [(0, 2)]),)),
        ((("a", [(0, 1), (1, 2), (0, 3)]),), (("a", [(0, 3), (1, 2)]),)),
        ((("a", [(0, 1)]), ("a", [(1, 2)])), (("a", [(0, 1), (1, 2)]),)),
        ((("a", [(0, 1)]), ("b", [(0, 2)]), ("a", [(0, 3)])), (("a", [(0, 3)]), ("b", [(0, 2)]))),
        (
            (("a", [(0, 1)]), ("b", [(0, 2)]), ("a", [(1, 3)])),
            (("a", [(0, 1)]), ("b", [(0, 2)]), ("a", [(1, 3)])),
        ),
        ((("a", []), ("b", [(0, 2)])), (("b", [(0, 2)]),)),
        ((("a", []),), ()),
    ],
)
def test_the_last_part_for_a_partition_counts_at_the_place_of_the_first(asked, judged):
    event = received(deletion(*asked))
    assert with_each_partition_once(event) == received(deletion(*judged))


@pytest.mark.parametrize(
    "message",
    [
        deletion(("a", [(0, 1), (1, 1)]), ("b", [(0, 1)])),
        deletion(),
        metadata_request.MetadataRequest(),
    ],
)
def test_a_request_without_repeats_stays_the_same_object(message):
    event = received(message)
    assert with_each_partition_once(event) is event


def twice(message):
    topics = message.topics if hasattr(message, "topics") else message.topic_data
    (topic,) = topics
    return len(topic.partition_data if hasattr(topic, "partition_data") else topic.partitions)


def test_every_kind_of_request_with_parts_is_merged():
    fetched = fetch_request.FetchTopic(
        topic="a", partitions=(fetch_request.FetchPartition(partition=3, fetch_offset=1),) * 2
    )
    fetch = fetch_request.FetchRequest(topics=(fetched,), max_wait_ms=0, min_bytes=0)
    produced = produce_request.TopicProduceData(
        name="a", partition_data=(produce_request.PartitionProduceData(index=3, records=b""),) * 2
    )
    produce = produce_request.ProduceRequest(acks=1, timeout_ms=1, topic_data=(produced,))
    found = list_offsets_request.ListOffsetsPartition(partition_index=3, timestamp=-1)
    look_up = list_offsets_request.ListOffsetsRequest(
        replica_id=-1,
        topics=(list_offsets_request.ListOffsetsTopic(name="a", partitions=(found, found)),),
    )
    for message in (fetch, produce, look_up):
        assert twice(message) == 2
        assert twice(with_each_partition_once(received(message)).message) == 1
    of_quorum = received(fetch, on_controller_listener=True)
    assert with_each_partition_once(of_quorum) is of_quorum
