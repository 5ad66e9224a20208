"""Blocks of producer ids: each is given once, after its commit, across failovers and snapshots."""

import pytest

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import allocate_producer_ids_request
from kraftproof.node.wire.records import metadata as records
from tests.node.core.controller.desk import Desk


def allocation(desk: Desk, broker_id: int = 1, by: int = 0):
    broker = desk.image.brokers.get(broker_id)
    epoch = 0 if broker is None else broker.epoch + by
    return allocate_producer_ids_request.AllocateProducerIdsRequest(
        broker_id=broker_id, broker_epoch=epoch
    )


def block(desk: Desk, broker_id: int = 1) -> range:
    answer = desk.ask(allocation(desk, broker_id))
    assert answer.error_code == ErrorCode.NONE
    return range(answer.producer_id_start, answer.producer_id_start + answer.producer_id_len)


def test_no_two_blocks_overlap_whoever_asks_and_whoever_leads() -> None:
    desk = Desk.active(brokers=2)
    blocks = [block(desk, 1), block(desk, 2), block(desk, 1)]
    desk.lose()
    desk.win()
    blocks.append(block(desk, 2))
    assert blocks == [range(first, first + 1000) for first in (0, 1000, 2000, 3000)]


def test_a_block_is_answered_after_its_commit() -> None:
    desk = Desk.active(brokers=1)
    requests = [desk.send(allocation(desk)) for _ in range(2)]
    assert desk.replies() == []
    replies = desk.commit()
    assert [reply.request for reply in replies] == requests
    assert [reply.message.producer_id_start for reply in replies] == [0, 1000]


def test_a_lost_block_is_given_again_since_nobody_got_it() -> None:
    desk = Desk.active(brokers=1)
    end = desk.raft.log.end_offset
    desk.send(allocation(desk))
    desk.lose(cut_to=end)
    assert [reply.message.error_code for reply in desk.replies()] == [ErrorCode.REQUEST_TIMED_OUT]
    desk.win()
    assert block(desk) == range(1000)


@pytest.mark.parametrize(("broker_id", "by"), [(1, 1), (1, -1), (7, 0)])
def test_a_stale_broker_gets_no_ids(broker_id: int, by: int) -> None:
    desk = Desk.active(brokers=1)
    answer = desk.ask(allocation(desk, broker_id, by))
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert desk.image.next_producer_id == 0


def test_no_block_lies_beyond_the_largest_id() -> None:
    desk = Desk.active(brokers=1)
    last = records.ProducerIdsRecord(next_producer_id=(1 << 63) - 1000)
    desk.lose()
    desk.raft.replicate((last,))
    desk.win()
    assert desk.ask(allocation(desk)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.requirement("631-30")
@pytest.mark.requirement("631-32")
def test_the_next_id_is_part_of_a_snapshot_and_never_goes_back() -> None:
    desk = Desk.active(brokers=1)
    block(desk)
    image = apply_all(EMPTY_IMAGE, tuple(records_of(desk.image)))
    assert image.next_producer_id == 1000
    for again in (1000, 999, -1):
        with pytest.raises(ApplyError, match="1000 was reached already"):
            apply_all(image, (records.ProducerIdsRecord(next_producer_id=again),))
