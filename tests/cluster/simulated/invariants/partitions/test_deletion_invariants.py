"""The invariant of the end of DeleteRecords."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.deletions import DeletionsEnd
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import delete_records_request, delete_records_response
from tests.cluster.simulated.invariants.invariant_harness import broker
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import fetch, fetched
from tests.support.node.raw_batches import raw

EPOCH_OF_2 = 10


def deletion(case, error):
    module, answered = delete_records_request, delete_records_response
    asked = module.DeleteRecordsPartition(partition_index=0, offset=1)
    request = module.DeleteRecordsRequest(
        topics=(module.DeleteRecordsTopic(name="t", partitions=(asked,)),), timeout_ms=1
    )
    part = answered.DeleteRecordsPartitionResult(
        partition_index=0, low_watermark=-1, error_code=error
    )
    topic = answered.DeleteRecordsTopicResult(name="t", partitions=(part,))
    case.answer(1, request, answered.DeleteRecordsResponse(topics=(topic,)))


@pytest.mark.parametrize(
    ("start", "is_fenced", "error", "is_wrong"),
    [
        (1, False, ErrorCode.REQUEST_TIMED_OUT, True),
        (0, False, ErrorCode.REQUEST_TIMED_OUT, False),
        (None, False, ErrorCode.REQUEST_TIMED_OUT, False),
        (None, True, ErrorCode.REQUEST_TIMED_OUT, True),
        (1, False, ErrorCode.NONE, False),
        (1, False, ErrorCode.NOT_LEADER_OR_FOLLOWER, False),
    ],
)
def test_a_time_out_needs_a_live_follower_that_lags(start, is_fenced, error, is_wrong):
    case = PartitionCase(DeletionsEnd())
    case.publish(broker(2, epoch=EPOCH_OF_2, fenced=is_fenced))
    case.append(1, raw(0), raw(1))
    case.raise_start(1, 1)
    if start is not None:
        case.answer(1, fetch(2, start=start), fetched(2), version=17)
    deletion(case, error)
    wrong = f"{NAME}: DeleteRecords times out, and every live replica starts at 1"
    assert case.reported == ([wrong] if is_wrong else [])
