"""Invariants of a leader's proposals and of its high watermark, from the Fetches to the leader."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.fetched import FollowerFetches
from kraftproof.cluster.simulated.invariants.partitions.proposals import (
    WINDOW_NS,
    JoinersHaveFetched,
    MembersAreRemovedForLag,
    OneProposalAtATime,
)
from kraftproof.cluster.simulated.invariants.partitions.watermarks import (
    HighWatermarkFollowsFetches,
    HighWatermarkIsFetched,
)
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import (
    decided,
    fetch,
    fetched,
    proposal,
)
from tests.support.node.raw_batches import raw

REFUSED = ErrorCode.INVALID_UPDATE_VERSION


def with_fetches(kind, **options):
    """Return a case in which the invariant `kind` knows the Fetches."""
    fetches = FollowerFetches()
    case = PartitionCase(kind(fetches), **options)
    case.harness.monitor.on_data_received.append(fetches.on_data_received)
    case.harness.monitor.on_response.append(fetches.on_response)
    answered = case.harness.monitor.on_data_answered[fetch_request.FetchRequest]
    answered.insert(0, fetches.on_data_answered)
    case.append(1, raw(0, epoch=0), raw(1, epoch=0))
    case.append(2, raw(0, epoch=0), raw(1, epoch=0))
    return case


def test_a_high_watermark_beyond_the_fetch_of_a_member_is_reported():
    case = with_fetches(HighWatermarkIsFetched)
    case.answer(1, fetch(), fetched(0))
    case.receive(1, fetch(1, last_epoch=0))
    case.answer(1, fetch(), fetched(1))
    assert case.reported == []
    case.answer(1, fetch(), fetched(2))
    assert case.reported == [
        f"{NAME}: high watermark 2, member 2 of the ISR has fetched from offset 1"
    ]


def test_a_high_watermark_without_a_fetch_and_beyond_the_log_are_reported():
    case = with_fetches(HighWatermarkIsFetched)
    case.answer(1, fetch(), fetched(1))
    case.receive(1, fetch(3, last_epoch=0))  # a Fetch that diverges
    case.answer(1, fetch(), fetched(3))
    assert case.reported == [
        f"{NAME}: high watermark 1, member 2 of the ISR has not fetched",
        f"{NAME}: high watermark 3, and the log has the offsets 0 to 2",
        f"{NAME}: high watermark 3, member 2 of the ISR has not fetched",
    ]


def test_a_fetch_of_an_earlier_leader_epoch_does_not_count():
    case = with_fetches(HighWatermarkIsFetched)
    case.receive(1, fetch(2, last_epoch=0))
    case.answer(1, fetch(), fetched(0))
    case.change(leader=1)  # another leader epoch
    case.answer(1, fetch(), fetched(0))
    case.answer(1, fetch(), fetched(2))
    assert case.reported == [f"{NAME}: high watermark 2, member 2 of the ISR has not fetched"]


def test_the_high_watermark_before_a_leadership_and_a_smaller_isr_are_no_violation():
    case = with_fetches(HighWatermarkIsFetched)
    case.harness.monitor.on_partitions_recovered[0](case.nodes[1], ())
    case.answer(1, fetch(), fetched(1))
    case.propose(proposal(1), decided(1))
    case.answer(1, fetch(), fetched(2))
    assert case.reported == []


def test_the_same_proposal_may_come_again_and_another_after_a_refusal():
    case = PartitionCase(OneProposalAtATime(), isr=(1,))
    case.propose(proposal(1, 2))
    case.propose(proposal(1, 2), decided(error=ErrorCode.INELIGIBLE_REPLICA))
    case.propose(proposal(1))
    case.propose(proposal(1, 2, partition_epoch=1), decided(1, 2, partition_epoch=2))
    assert case.reported == []


def test_another_proposal_after_a_lost_answer_is_reported():
    case = PartitionCase(OneProposalAtATime(), isr=(1,))
    case.propose(proposal(1, 2))
    case.propose(proposal(1))
    assert case.reported == [f"{NAME}: ISR (1,) is proposed, (1, 2) is open"]


@pytest.mark.parametrize(("controller", "is_wrong"), [(3, True), (4, False)])
def test_a_proposal_again_for_a_refused_partition_epoch_is_reported(controller, is_wrong):
    case = PartitionCase(OneProposalAtATime(), isr=(1,))
    case.propose(proposal(1, 2), decided(error=REFUSED))
    case.propose(proposal(1, 2), controller=controller)
    detail = "ISR (1, 2) is proposed again, controller 3 has refused partition epoch 0"
    assert case.reported == [f"{NAME}: {detail}"] * is_wrong


def test_a_joiner_needs_a_fetch_from_the_begin_of_the_epoch():
    case = with_fetches(JoinersHaveFetched, isr=(1,))
    case.change(leader=1)  # epoch 1
    case.append(1, raw(2, epoch=1))
    case.receive(1, fetch(1, epoch=1, last_epoch=0))
    case.propose(proposal(1, 2, leader_epoch=1, partition_epoch=1))
    assert case.reported == [
        f"{NAME}: broker 2 is to join, has fetched from offset 1, and must have 2"
    ]
    case.receive(1, fetch(2, epoch=1, last_epoch=0))
    case.propose(proposal(1, 2, leader_epoch=1, partition_epoch=1))
    assert len(case.reported) == 1


def test_a_joiner_has_the_broker_epoch_of_its_fetch():
    case = with_fetches(JoinersHaveFetched, isr=(1,))
    case.receive(1, fetch(2, last_epoch=0, broker_epoch=7), version=15)
    case.propose(proposal(1, 2, broker_epoch=7))
    case.propose(proposal(1, 2, broker_epoch=8))
    assert case.reported == [
        f"{NAME}: broker 2 is to join with broker epoch 8, and has fetched with another"
    ]


def stands_still(**options):
    """Return a case in which both brokers have two records, and the follower has fetched there."""
    case = with_fetches(HighWatermarkFollowsFetches, **options)
    request = fetch(2, last_epoch=0)
    for high_watermark in (0, 0, 2):
        case.receive(1, request)
        case.answer(1, request, fetched(high_watermark))
        case.harness.now_ns += milliseconds(400)
    case.receive(1, request)
    case.answer(1, request, fetched(0))
    return case.reported


def test_a_high_watermark_that_stands_still_is_reported():
    wrong = f"{NAME}: every replica has reached offset 2, high watermark 0 is shown"
    assert stands_still() == [wrong, wrong]


def test_a_small_isr_and_an_absent_member_hold_the_high_watermark():
    assert stands_still(isr=(1,), min_insync_replicas="2") == []
    case = with_fetches(HighWatermarkFollowsFetches)
    for _ in range(2):
        case.answer(1, fetch(replica=-1), fetched(0))
        case.harness.now_ns += milliseconds(400)
    assert case.reported == []


LAG_NS = milliseconds(1_000)


@pytest.mark.parametrize(
    ("pause_ms", "rate_error", "is_wrong"),
    [(200, 0.0, True), (599, 0.0, True), (601, 0.0, False), (599, 0.4, False), (4_000, 0.0, False)],
)
def test_a_member_that_keeps_up_is_not_removed(pause_ms, rate_error, is_wrong):
    case = with_fetches(lambda fetches: MembersAreRemovedForLag(fetches, LAG_NS))
    case.harness.monitor.rate_error = rate_error
    for _ in range(2 * WINDOW_NS // milliseconds(pause_ms)):
        case.harness.now_ns += milliseconds(pause_ms)
        case.receive(1, fetch(2, last_epoch=0))
    case.propose(proposal(1))
    wrong = f"{NAME}: member 2 is to be removed, was never away from the log end for {pause_ms} ms"
    assert case.reported == [f"{wrong} or longer"] * is_wrong


def test_a_proposal_that_is_sent_again_is_judged_by_its_first_request():
    case = with_fetches(lambda fetches: MembersAreRemovedForLag(fetches, LAG_NS))
    case.propose(proposal(1))
    for _ in range(100):
        case.harness.now_ns += milliseconds(100)
        case.receive(1, fetch(2, last_epoch=0))
    case.propose(proposal(1))
    assert case.reported == []
    case.propose(proposal(1, 2))
    case.propose(proposal(1))
    assert len(case.reported) == 1


def test_a_member_without_a_history_may_be_removed():
    case = with_fetches(lambda fetches: MembersAreRemovedForLag(fetches, LAG_NS))
    case.propose(proposal(1))
    case.propose(proposal(1, 2))
    assert case.reported == []


def test_a_member_that_is_behind_may_be_removed():
    case = with_fetches(lambda fetches: MembersAreRemovedForLag(fetches, LAG_NS))
    case.append(1, raw(0, epoch=0), raw(1, epoch=0))
    for _ in range(100):
        case.harness.now_ns += milliseconds(100)
        case.receive(1, fetch(1, last_epoch=0))
    case.propose(proposal(1))
    assert case.reported == []
