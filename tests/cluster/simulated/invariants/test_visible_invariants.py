"""Invariants of shown records, of leaders and of copies, and the texts of their violations."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.copies import (
    FollowersCopyTheirLeader,
    LogStartsAreDue,
)
from kraftproof.cluster.simulated.invariants.partitions.leaders import (
    EpochEndsAreTrue,
    LeadersServe,
    MinIsrIsHonoured,
)
from kraftproof.cluster.simulated.invariants.partitions.visible import (
    ReadersGetCommittedBytes,
    VisibleIsOnTheIsr,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    delete_records_request,
    delete_records_response,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
    offset_for_leader_epoch_request,
    offset_for_leader_epoch_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.support.node.raw_batches import produced, raw

ALL = -1


def fetch(offset=0, epoch=-1, last_epoch=-1):
    part = fetch_request.FetchPartition(
        partition=0, fetch_offset=offset, current_leader_epoch=epoch, last_fetched_epoch=last_epoch
    )
    topic = fetch_request.FetchTopic(topic="t", partitions=(part,))
    return fetch_request.FetchRequest(replica_id=-1, max_bytes=99, topics=(topic,))


def fetched(high_watermark, *batches, **fields):
    part = fetch_response.PartitionData(
        partition_index=0,
        high_watermark=high_watermark,
        records=b"".join(batch.data for batch in batches),
        log_start_offset=0,
        **fields,
    )
    topic = fetch_response.FetchableTopicResponse(topic="t", partitions=(part,))
    return fetch_response.FetchResponse(responses=(topic,))


def produce(data, acks=ALL):
    part = produce_request.PartitionProduceData(index=0, records=data)
    topic = produce_request.TopicProduceData(name="t", partition_data=(part,))
    return produce_request.ProduceRequest(acks=acks, topic_data=(topic,))


def result(base_offset, error=0):
    part = produce_response.PartitionProduceResponse(
        index=0, base_offset=base_offset, error_code=error
    )
    topic = produce_response.TopicProduceResponse(name="t", partition_responses=(part,))
    return produce_response.ProduceResponse(responses=(topic,))


def test_a_high_watermark_beyond_the_disk_of_a_member_is_reported():
    case = PartitionCase(VisibleIsOnTheIsr())
    case.append(1, raw(0), raw(1))
    case.append(2, raw(0))
    case.answer(1, fetch(), fetched(1))
    assert case.reported == []
    case.append(2, raw(1), is_flushed=False)
    case.answer(1, fetch(), fetched(2))
    assert case.reported == [
        f"{NAME}: offset 1 is shown, member 2 of the ISR has 1 records on its disk"
    ]


def test_a_member_with_other_bytes_and_a_listed_end_are_reported():
    case = PartitionCase(VisibleIsOnTheIsr())
    case.append(1, raw(0, b"a"))
    case.append(2, raw(0, b"b"))
    asked = list_offsets_request.ListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = list_offsets_request.ListOffsetsTopic(name="t", partitions=(asked,))
    request = list_offsets_request.ListOffsetsRequest(replica_id=-1, topics=(topic,))
    part = list_offsets_response.ListOffsetsPartitionResponse(partition_index=0, offset=1)
    listed = list_offsets_response.ListOffsetsTopicResponse(name="t", partitions=(part,))
    case.answer(1, request, list_offsets_response.ListOffsetsResponse(topics=(listed,)))
    assert case.reported == [f"{NAME}: member 2 of the ISR has other bytes at offset 0"]


def test_a_joiner_and_a_truncated_member_must_have_what_was_shown():
    case = PartitionCase(VisibleIsOnTheIsr(), isr=(1,))
    case.append(1, raw(0), raw(1))
    case.answer(1, produce(produced([b"value"])), result(1))
    case.append(2, raw(0))
    case.change(isr=(1, 2))
    case.truncate(2, 0)
    assert case.reported == [
        f"{NAME}: offset 1 is shown, member 2 of the ISR has 1 records on its disk",
        f"{NAME}: offset 1 is shown, member 2 of the ISR has 0 records on its disk",
    ]


def test_a_topic_that_may_lose_records_is_not_judged():
    case = PartitionCase(VisibleIsOnTheIsr(), unclean_leader_election_enable="true")
    case.append(1, raw(0))
    case.answer(1, fetch(), fetched(1))
    assert case.reported == []


@pytest.mark.parametrize(
    ("offset", "answer", "wrong"),
    [
        (0, fetched(2, raw(0), raw(1)), None),
        (0, fetched(1, raw(0), raw(1)), "offset 1 is returned, the high watermark is 1"),
        (0, fetched(2), "offset 0 is not returned, the high watermark is 2"),
        (0, fetched(2, raw(1)), "offset 0 is expected, the batch begins at 1"),
        (0, fetched(2, raw(0, b"x")), "the log has other bytes at offset 0"),
        (2, fetched(2), None),
    ],
)
def test_a_consumer_gets_the_committed_bytes_of_the_log(offset, answer, wrong):
    case = PartitionCase(ReadersGetCommittedBytes())
    case.append(1, raw(0), raw(1))
    case.answer(1, fetch(offset), answer)
    assert case.reported == ([] if wrong is None else [f"{NAME}: {wrong}"])


def test_a_follower_and_a_leader_of_another_epoch_do_not_serve():
    case = PartitionCase(LeadersServe())
    case.answer(1, fetch(epoch=0), fetched(0))
    case.answer(1, fetch(epoch=7), fetched(0, error_code=ErrorCode.UNKNOWN_LEADER_EPOCH))
    assert case.reported == []
    case.answer(2, fetch(), fetched(0))
    case.answer(1, fetch(epoch=7), fetched(0))
    assert case.reported == [
        f"{NAME}: serves epoch -1, by its image broker 1 leads epoch 0",
        f"{NAME}: serves epoch 7, by its image broker 1 leads epoch 0",
    ]


@pytest.mark.parametrize(
    ("epoch", "told", "is_right"),
    [
        (1, (1, 2), True),
        (1, (1, 3), False),
        (3, (3, 3), True),
        (2, (1, 2), True),
        (2, (3, 2), False),
        (3, (-1, -1), False),
        (9, (-1, -1), True),
    ],
)
def test_the_end_of_an_epoch_is_the_begin_of_the_next(epoch, told, is_right):
    case = PartitionCase(EpochEndsAreTrue())
    case.change(leader=1)
    case.change(leader=1)
    case.change(leader=1)
    case.append(1, raw(0, epoch=1), raw(1, epoch=1), raw(2, epoch=3))
    module = offset_for_leader_epoch_request
    asked = module.OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
    topic = module.OffsetForLeaderTopic(topic="t", partitions=(asked,))
    answered = offset_for_leader_epoch_response
    end = answered.EpochEndOffset(partition=0, leader_epoch=told[0], end_offset=told[1])
    found = answered.OffsetForLeaderTopicResult(topic="t", partitions=(end,))
    request = module.OffsetForLeaderEpochRequest(replica_id=-1, topics=(topic,))
    case.answer(1, request, answered.OffsetForLeaderEpochResponse(topics=(found,)))
    assert bool(case.reported) is not is_right


def test_a_diverged_fetch_is_not_served():
    case = PartitionCase(EpochEndsAreTrue())
    case.append(1, raw(0, epoch=1), raw(1, epoch=3))
    case.answer(1, fetch(offset=1, last_epoch=1), fetched(0))
    assert case.reported == []
    case.answer(1, fetch(offset=2, last_epoch=1), fetched(0))
    detail = "epoch 1 ends at 1, and a Fetch from offset 2 is served"
    assert case.reported == [f"{NAME}: {detail}"]


def test_acks_all_and_the_high_watermark_need_min_insync_replicas():
    case = PartitionCase(MinIsrIsHonoured(), min_insync_replicas="2")
    case.answer(1, produce(b""), result(0))
    case.answer(1, fetch(), fetched(1))
    case.change(isr=(1,))
    case.answer(1, fetch(), fetched(2))  # may have risen before the change
    assert case.reported == []
    case.answer(1, fetch(), fetched(3))
    case.answer(1, produce(b""), result(3))
    assert case.reported == [
        f"{NAME}: the high watermark rises with 1 members, 2 are needed",
        f"{NAME}: acks=all succeeds with 1 members, 2 are needed",
    ]


def test_a_follower_appends_what_the_leader_has():
    case = PartitionCase(FollowersCopyTheirLeader())
    case.append(1, raw(0))
    case.append(2, raw(0))
    assert case.reported == []
    case.append(2, raw(1))
    assert case.reported == [f"{NAME}: leader 1 has another batch, or none, at offset 1"]


def test_records_go_by_retention_or_request_and_followers_follow():
    case = PartitionCase(LogStartsAreDue(), retention_bytes="1")
    case.append(1, raw(0), raw(1), raw(2))
    case.append(2, raw(0), raw(1), raw(2))
    case.raise_start(1, 1)
    case.raise_start(2, 1)
    assert case.reported == []
    case.raise_start(2, 2)
    case.raise_start(1, 3)
    assert case.reported == [
        f"{NAME}: a follower starts at 2, a leader at 1",
        f"{NAME}: offset 2 is removed, 0 bytes are left; "
        "retention.bytes is 1, retention.ms 604800000",
    ]


def removed(**configs):
    """Return what is reported when retention removes batches of 10 and of 20 ms from a log."""
    case = PartitionCase(LogStartsAreDue(), **configs)
    case.append(1, raw(0, timestamps=[10]), raw(1, timestamps=[20]), raw(2, timestamps=[30]))
    case.harness.now_ns = 10**15
    case.raise_start(1, 2)
    return case.reported


def test_records_go_by_age_after_retention_ms():
    assert removed(retention_ms="999") == removed(retention_ms="0", retention_bytes="-1") == []
    assert len(removed(retention_ms="-1")) == 1
    assert len(removed(retention_ms="1700000000")) == 1
    assert removed(retention_ms="-1", retention_bytes="0") == []
    (report,) = removed(retention_ms="0", cleanup_policy="compact")
    assert "offset 1 is removed" in report
    assert removed(retention_ms="0", cleanup_policy="compact,delete") == []


def test_a_deletion_waits_for_live_replicas():
    case = PartitionCase(LogStartsAreDue())
    case.publish(
        records.RegisterBrokerRecord(broker_id=2, broker_epoch=5, fenced=False),
    )
    case.append(1, raw(0), raw(1))
    case.append(2, raw(0), raw(1))
    module, answered = delete_records_request, delete_records_response
    asked = module.DeleteRecordsPartition(partition_index=0, offset=1)
    request = module.DeleteRecordsRequest(
        topics=(module.DeleteRecordsTopic(name="t", partitions=(asked,)),), timeout_ms=1
    )
    part = answered.DeleteRecordsPartitionResult(partition_index=0, low_watermark=1)
    topic = answered.DeleteRecordsTopicResult(name="t", partitions=(part,))
    case.answer(1, request, answered.DeleteRecordsResponse(topics=(topic,)))
    assert case.reported == [f"{NAME}: the low watermark is 1, replica 2 starts at 0"]
