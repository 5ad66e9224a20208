"""Invariants of starts, sizes, redirections and refusals."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.answer_fields import AnswersNameTheLog
from kraftproof.cluster.simulated.invariants.partitions.refusals import RefusalsHaveAReason
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    fetch_response,
    list_offsets_request,
    list_offsets_response,
)
from tests.cluster.simulated.invariants.invariant_harness import IDLE
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import fetch, fetched, produce, written
from tests.support.node.raw_batches import raw

CONSUMER = -1
OUT_OF_RANGE = ErrorCode.OFFSET_OUT_OF_RANGE
RUNNING, STARTING = 3, 1


def test_another_start_and_another_stable_offset_are_reported():
    case = PartitionCase(AnswersNameTheLog())
    case.append(1, raw(0, epoch=0), raw(1, epoch=0))
    case.raise_start(1, 1)
    case.answer(1, fetch(1), fetched(1, log_start_offset=1))
    assert case.reported == []
    case.answer(1, fetch(1), fetched(1, log_start_offset=0, last_stable_offset=0))
    assert case.reported == [
        f"{NAME}: starts at 1, and 0 is told",
        "last stable offset 0 with high watermark 1",
    ]


def test_a_high_watermark_beyond_the_log_is_reported():
    case = PartitionCase(AnswersNameTheLog())
    case.append(1, raw(0, epoch=0))
    case.answer(1, fetch(0), fetched(1, log_start_offset=0))
    assert case.reported == []
    case.answer(1, fetch(0), fetched(2, log_start_offset=0))
    assert case.reported == [f"{NAME}: ends at 1, high watermark 2"]


@pytest.mark.parametrize(("count", "is_wrong"), [(1, False), (2, True)])
def test_more_bytes_than_wanted_are_reported_unless_they_are_one_batch(count, is_wrong):
    case = PartitionCase(AnswersNameTheLog())
    batches = [raw(offset, epoch=0) for offset in range(count)]
    case.append(1, *batches)
    records = b"".join(batch.data for batch in batches)
    case.answer(1, fetch(0, most=1), fetched(count, records=records, log_start_offset=0))
    wrong = f"{len(records)} bytes are returned, 1 are wanted"
    assert case.reported == [wrong] * is_wrong


def test_a_fetch_below_the_start_is_reported():
    case = PartitionCase(AnswersNameTheLog())
    case.append(1, raw(0, epoch=0), raw(1, epoch=0))
    case.raise_start(1, 1)
    diverging = fetch_response.EpochEndOffset(epoch=0, end_offset=0)
    case.answer(1, fetch(0), fetched(1, log_start_offset=1, diverging_epoch=diverging))
    case.answer(1, fetch(0), fetched(-1, OUT_OF_RANGE, log_start_offset=-1))
    assert case.reported == []
    case.answer(1, fetch(0), fetched(1, log_start_offset=1))
    assert case.reported == ["a Fetch from offset 0 is served, the log starts at 1"]


@pytest.mark.parametrize(("told", "is_wrong"), [(0, False), (1, False), (2, True)])
def test_another_start_beside_a_produced_batch_is_reported(told, is_wrong):
    case = PartitionCase(AnswersNameTheLog())
    request = produce(raw(0).data, timeout_ms=500)
    case.receive(1, request)
    case.append(1, raw(0, epoch=0), raw(1, epoch=0))
    case.raise_start(1, 1)  # during the wait of the request
    case.answer(1, request, written(0, log_start_offset=told))
    assert case.reported == [f"{NAME}: starts at 1, and 2 is told"] * is_wrong


EARLIEST = list_offsets_request.ListOffsetsPartition(partition_index=0, timestamp=-2)
ASKS_START = list_offsets_request.ListOffsetsRequest(
    topics=(list_offsets_request.ListOffsetsTopic(name="t", partitions=(EARLIEST,)),)
)


def start_told(offset, epoch=0):
    found = list_offsets_response.ListOffsetsPartitionResponse(
        partition_index=0, offset=offset, leader_epoch=epoch
    )
    listed = list_offsets_response.ListOffsetsTopicResponse(name="t", partitions=(found,))
    return list_offsets_response.ListOffsetsResponse(topics=(listed,))


@pytest.mark.parametrize(("epoch", "is_wrong"), [(0, False), (3, True)])
def test_another_epoch_beside_the_start_is_reported(epoch, is_wrong):
    case = PartitionCase(AnswersNameTheLog())
    case.append(1, raw(0, epoch=0), raw(1, epoch=3))
    case.answer(1, ASKS_START, start_told(0, epoch), version=7)
    wrong = f"{NAME}: epoch 3 is told with offset 0, the record has epoch 0"
    assert case.reported == [wrong] * is_wrong


@pytest.mark.parametrize(
    ("told", "raised", "is_wrong"),
    [(1, 1, False), (1, 2, False), (2, 2, False), (0, 1, True), (0, 2, True), (3, 2, True)],
)
def test_another_start_is_reported_unless_it_was_raised_while_the_request_waited(
    told, raised, is_wrong
):
    """Another partition of the request waits for a search (seed 6 of controlled-shutdown)."""
    case = PartitionCase(AnswersNameTheLog())
    case.append(1, raw(0, epoch=0), raw(1, epoch=1), raw(2, epoch=2))
    case.raise_start(1, 1)
    case.receive(1, ASKS_START, version=7)
    case.raise_start(1, raised)
    case.answer(1, ASKS_START, start_told(told, epoch=told), version=7)
    assert case.reported == [f"{NAME}: starts at {raised}, and {told} is told"] * is_wrong


def refused(error, *, epoch=-1, offset=0, state=RUNNING, leads=True, told=None):
    """Return the reports after a refusal by broker 1, or by the follower."""
    case = PartitionCase(RefusalsHaveAReason())
    case.append(1, raw(0, epoch=0))
    node = 1 if leads else 2
    case.nodes[node].moves(broker_state=state)
    leader = fetch_response.LeaderIdAndEpoch(leader_id=told or -1, leader_epoch=0)
    request = fetch(offset, epoch=epoch, replica=CONSUMER)
    case.answer(node, request, fetched(-1, error, current_leader=leader))
    return case.reported


def test_refusals_with_a_reason_are_no_violation():
    assert IDLE.broker_state is None
    assert refused(ErrorCode.NOT_LEADER_OR_FOLLOWER, leads=False, told=1) == []
    assert refused(ErrorCode.NOT_LEADER_OR_FOLLOWER, state=STARTING) == []
    assert refused(ErrorCode.UNKNOWN_LEADER_EPOCH, epoch=1) == []
    assert refused(ErrorCode.OFFSET_OUT_OF_RANGE, offset=2) == []


@pytest.mark.parametrize(
    ("error", "options", "wrong"),
    [
        (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            {},
            "refused as not the leader, in epoch 0 of broker 1",
        ),
        (
            ErrorCode.FENCED_LEADER_EPOCH,
            {"epoch": 0},
            "leader epoch 0 is refused as older, in epoch 0 of broker 1",
        ),
        (
            ErrorCode.UNKNOWN_LEADER_EPOCH,
            {"epoch": 0},
            "leader epoch 0 is refused as unknown, in epoch 0 of broker 1",
        ),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, {}, "the partition is refused as unknown"),
        (ErrorCode.OFFSET_OUT_OF_RANGE, {"offset": 1}, "offset 1 is refused as out of range"),
        (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            {"leads": False, "told": 2},
            "leader 2 is told, the image has 1",
        ),
    ],
)
def test_refusals_without_a_reason_are_reported(error, options, wrong):
    assert refused(error, **options) == [f"{NAME}: {wrong}"]
