"""A look-up by time is judged by the records of the leader's log."""

import pytest

from kraftproof.cluster.simulated.background.client_batches import (
    ClientRecord,
    Header,
    encode_batch,
)
from kraftproof.cluster.simulated.invariants.partitions.times import TimesFindRecords, times_of
from kraftproof.node.wire.messages import list_offsets_request, list_offsets_response
from kraftproof.node.wire.records.raw_batch import parse_batch
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import fetch, fetched
from tests.support.node.raw_batches import raw

NEWEST = -3
CONSUMER = -1


def look_up(time):
    part = list_offsets_request.ListOffsetsPartition(partition_index=0, timestamp=time)
    topic = list_offsets_request.ListOffsetsTopic(name="t", partitions=(part,))
    return list_offsets_request.ListOffsetsRequest(replica_id=-1, topics=(topic,))


def found(offset, time, epoch=0):
    part = list_offsets_response.ListOffsetsPartitionResponse(
        partition_index=0, offset=offset, timestamp=time, leader_epoch=epoch
    )
    topic = list_offsets_response.ListOffsetsTopicResponse(name="t", partitions=(part,))
    return list_offsets_response.ListOffsetsResponse(topics=(topic,))


def judged(wanted, answer, *, told=3, start=0, is_truncated=False):
    """Return the reports of an answer by a leader with the times 1000, 3000, 2000."""
    case = PartitionCase(TimesFindRecords())
    times = [1000, 3000, 2000]
    case.append(1, *(raw(at, epoch=0, timestamps=[time]) for at, time in enumerate(times)))
    if start:
        case.raise_start(1, start)
    case.answer(1, fetch(0, replica=CONSUMER), fetched(told))
    case.receive(1, look_up(wanted), version=7)
    if is_truncated:
        case.truncate(1, 1)
    case.answer(1, look_up(wanted), answer, version=7)
    return case.reported


@pytest.mark.parametrize(
    ("wanted", "answer", "options"),
    [
        (1000, found(0, 1000), {}),
        (1001, found(1, 3000), {}),
        (3001, found(-1, -1, -1), {}),
        (NEWEST, found(1, 3000), {}),
        (1001, found(-1, -1, -1), {"told": 1}),
        (1001, found(2, 2000), {"start": 2}),
        (1001, found(2, 2000), {"is_truncated": True}),
    ],
)
def test_the_first_record_of_the_time_is_right(wanted, answer, options):
    assert judged(wanted, answer, **options) == []


@pytest.mark.parametrize(
    ("wanted", "answer", "wrong"),
    [
        (1001, found(2, 2000), "offset 2 of time 2000 is found, not offset 1 of time 3000"),
        (1001, found(-1, -1, -1), "offset -1 of time -1 is found, not offset 1 of time 3000"),
        (NEWEST, found(2, 2000), "offset 2 of time 2000 is found, not offset 1 of time 3000"),
        (NEWEST, found(-1, -1, -1), "offset -1 of time -1 is found, not offset 0 of time 1000"),
        (1001, found(1, 2000), "offset 1 has another time than 2000, or is not there"),
        (1000, found(7, 4000), "offset 7 of time 4000 is found, not offset 0 of time 1000"),
        (1000, found(0, 1000, 1), "offset 0 has epoch 0, 1 is told"),
    ],
)
def test_another_record_is_reported(wanted, answer, wrong):
    assert judged(wanted, answer) == [f"{NAME}: time {wanted}: {wrong}"]


def test_a_deleted_record_of_a_kept_batch_is_reported():
    assert judged(1001, found(1, 3000), start=2) == [
        f"{NAME}: time 1001: offset 1 is found, the log began at 2"
    ]


@pytest.mark.parametrize("codec", range(5))
def test_times_are_read_from_each_codec(codec):
    records = [ClientRecord(b"v", 1000), ClientRecord(b"w", 990, b"k"), ClientRecord(b"", 70_000)]
    batch = parse_batch(encode_batch(records, Header(codec=codec))).moved(4, 2)
    assert list(times_of(batch)) == [(4, 1000, 2), (5, 990, 2), (6, 70_000, 2)]
