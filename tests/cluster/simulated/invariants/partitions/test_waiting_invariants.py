"""Invariants of the waits of Fetch and Produce."""

from kraftproof.cluster.simulated.invariants.partitions.fetched import FollowerFetches
from kraftproof.cluster.simulated.invariants.partitions.replicas import RUNNING
from kraftproof.cluster.simulated.invariants.partitions.waiting import (
    ProducersLearnOfCommits,
    WaitingFetchesAreAnswered,
)
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_response
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import fetch, fetched, produce, written
from tests.support.node.raw_batches import produced, raw

CONSUMER = -1
STARTING = 1
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
IDEMPOTENT = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}


def passes(case, duration_ms):
    case.harness.now_ns += milliseconds(duration_ms)


def test_a_fetch_without_news_is_answered_after_its_wait():
    case = PartitionCase(WaitingFetchesAreAnswered())
    request = fetch(replica=CONSUMER, wait_ms=500)
    case.receive(1, request)
    passes(case, 500)
    case.answer(1, request, fetched(0))
    assert case.reported == []
    case.receive(1, request)
    passes(case, 200)
    case.answer(1, request, fetched(0))
    assert case.reported == ["nothing new after 200 ms, but the Fetch may wait 500 ms"]


def test_an_error_is_news():
    case = PartitionCase(WaitingFetchesAreAnswered())
    request = fetch(replica=CONSUMER, wait_ms=500)
    case.receive(1, request)
    case.answer(1, request, fetched(0, error=6))
    case.receive(1, request)
    case.answer(1, request, fetch_response.FetchResponse())  # a quota
    assert case.reported == []


def test_a_follower_beside_an_append_is_reported():
    case = PartitionCase(WaitingFetchesAreAnswered())
    request = fetch(wait_ms=500)
    case.receive(1, request)
    case.append(1, raw(0, epoch=0))
    passes(case, 500)
    case.answer(1, request, fetched(0))
    assert case.reported == ["a Fetch has waited 500 ms beside readable records"]


def test_a_consumer_beside_a_risen_high_watermark_is_reported():
    case = PartitionCase(WaitingFetchesAreAnswered())
    request = fetch(replica=CONSUMER, wait_ms=500)
    case.receive(1, request)
    case.append(1, raw(0, epoch=0))  # a consumer does not see the record yet
    passes(case, 200)
    case.answer(1, fetch(), fetched(1), request_token=2)
    passes(case, 300)
    case.answer(1, request, fetched(1))
    assert case.reported == ["a Fetch has waited 300 ms beside readable records"]


def lost_leadership(waited_ms, state=RUNNING):
    """Return the reports about a Fetch that waits beside the end of a leadership."""
    case = PartitionCase(WaitingFetchesAreAnswered())
    case.nodes[1].moves(broker_state=state)
    request = fetch(replica=CONSUMER, wait_ms=500)
    case.receive(1, request)
    case.change(leader=2)
    passes(case, waited_ms)
    case.answer(1, request, fetched(-1, error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    return case.reported


def test_a_fetch_that_waits_for_a_lost_leadership_is_reported():
    assert lost_leadership(50) == []
    assert lost_leadership(500, state=STARTING) == []
    assert lost_leadership(500) == ["a Fetch has waited 500 ms after the end of the leadership"]


def timed_out(case, *, wait_ms, after_ms, batch=None):
    batch = produced([b"value"], **IDEMPOTENT) if batch is None else batch
    request = produce(batch, timeout_ms=wait_ms)
    case.receive(1, request)
    passes(case, after_ms)
    case.answer(1, request, written(-1, TIMED_OUT))


def test_a_time_out_before_its_time_is_reported():
    case = PartitionCase(ProducersLearnOfCommits(FollowerFetches()))
    timed_out(case, wait_ms=500, after_ms=500)
    timed_out(case, wait_ms=500, after_ms=400)
    assert case.reported == [f"{NAME}: timed out after 400 ms, but the request may wait 500 ms"]


def test_a_time_out_of_a_committed_batch_is_reported():
    fetches = FollowerFetches()
    case = PartitionCase(ProducersLearnOfCommits(fetches))
    case.append(1, raw(0, epoch=0, **IDEMPOTENT))
    leadership = fetches.of(case.nodes[1], case.log, 0)
    leadership.shown = 0
    timed_out(case, wait_ms=500, after_ms=500)
    leadership.shown = 1
    timed_out(case, wait_ms=500, after_ms=500, batch=produced([b"value"]))
    assert case.reported == []
    timed_out(case, wait_ms=500, after_ms=500)
    assert case.reported == [f"{NAME}: offset 0 is timed out, high watermark 1 was shown"]
