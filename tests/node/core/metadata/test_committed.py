"""The committed image follows the high watermark, batch by batch."""

import pytest

from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.apply import apply
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.control import LeaderChange
from kraftproof.node.wire.types import Uuid


def log_of(*written, epoch: int = 1) -> Log:
    log = Log()
    for record in written:
        log.append(
            Batch(
                base_offset=log.end_offset,
                epoch=epoch,
                timestamp_ms=0,
                is_control=isinstance(record, LeaderChange),
                records=(record,),
            )
        )
    return log


def topic(number: int) -> records.TopicRecord:
    return records.TopicRecord(name=f"t{number}", topic_id=Uuid(bytes([number] * 16)))


@pytest.mark.requirement("631-12")
def test_only_what_is_below_the_high_watermark_is_seen() -> None:
    log, committed = log_of(LeaderChange(), topic(1), topic(2)), CommittedImage()
    assert not committed.advance(log, 0)
    assert committed.advance(log, 2)
    assert (committed.offset, sorted(committed.image.topic_ids)) == (2, ["t1"])
    assert not committed.advance(log, 2)
    assert not committed.advance(log, 1)
    assert committed.advance(log, 3)
    assert sorted(committed.image.topic_ids) == ["t1", "t2"]


def test_half_a_batch_is_not_taken() -> None:
    log, committed = Log(), CommittedImage()
    log.append(Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(topic(1), topic(2))))
    assert not committed.advance(log, 1)
    assert committed.offset == 0


def test_offered_image_is_taken_by_reference() -> None:
    log, committed = log_of(topic(1)), CommittedImage()
    offered = apply(EMPTY_IMAGE, topic(1))
    committed.stage(1, 1, offered)
    committed.advance(log, 1)
    assert committed.image is offered


@pytest.mark.requirement("631-13")
def test_offer_of_another_epoch_or_withdrawn_is_not_taken() -> None:
    wrong = apply(EMPTY_IMAGE, topic(9))
    for epoch, withdraw in ((2, False), (1, True)):
        committed = CommittedImage()
        committed.stage(1, epoch, wrong)
        if withdraw:
            committed.discard()
        committed.advance(log_of(topic(1)), 1)
        assert sorted(committed.image.topic_ids) == ["t1"]


def test_record_that_does_not_fit_stops_the_node_and_says_where() -> None:
    log, committed = log_of(topic(1), topic(1)), CommittedImage()
    with pytest.raises(ApplyError, match=r"offset 1: topic t1 .* exists already"):
        committed.advance(log, 2)


def test_promised_batch_is_awaited_not_applied() -> None:
    log, committed = log_of(topic(1), topic(2)), CommittedImage()
    committed.expect(2, 1)
    assert committed.advance(log, 2)
    assert (committed.offset, committed.is_behind) == (1, False)
    offered = apply(committed.image, topic(2))
    committed.stage(2, 1, offered)
    assert committed.advance(log, 2)
    assert committed.image is offered


def test_a_promise_binds_its_own_epoch_only() -> None:
    log, committed = log_of(topic(1), epoch=2), CommittedImage()
    committed.expect(1, 1)
    assert committed.advance(log, 1)


def test_a_withdrawn_promise_leaves_the_batch_to_be_applied() -> None:
    log, committed = log_of(topic(1)), CommittedImage()
    committed.expect(1, 1)
    assert not committed.advance(log, 1)
    committed.discard()
    assert committed.is_behind
    assert committed.advance(log, 1)
    assert (committed.offset, committed.is_behind) == (1, False)
