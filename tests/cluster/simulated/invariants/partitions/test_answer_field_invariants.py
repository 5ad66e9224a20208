"""Invariants of starts, sizes, redirections and refusals."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.answer_fields import (
    AnswersNameTheLog,
    RefusalsHaveAReason,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_response
from tests.cluster.simulated.invariants.invariant_harness import IDLE
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import fetch, fetched
from tests.support.node.raw_batches import raw

CONSUMER = -1
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
