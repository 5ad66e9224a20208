"""Sequence numbers: duplicates, order, epochs, and the state after a truncation."""

import random

from kraftproof.node.core.partition.producers import (
    Duplicate,
    ProducerRefusal,
    ProducerStates,
    last_sequence,
)
from kraftproof.node.wire.errors import ErrorCode
from tests.support.node.client_batches import raw_batch

LARGEST = (1 << 31) - 1


def produced(offset, sequence, *, epoch=0, count=1, producer=9):
    return raw_batch(count, base_offset=offset, producer=(producer, epoch, sequence))


def recorded(*batches, high_watermark=0):
    states = ProducerStates()
    for batch in batches:
        states.record(batch, high_watermark, 0)
    return states


def error_of(states, batch):
    found = states.check(batch)
    return found.error if isinstance(found, ProducerRefusal) else found


def test_the_next_sequence_is_accepted_and_a_gap_is_out_of_order():
    states = recorded(produced(0, 0, count=3))
    assert states.check(produced(0, 3)) is None
    assert error_of(states, produced(0, 4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert error_of(states, produced(0, 2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_retry_of_the_last_five_batches_is_answered_with_its_offset():
    states = recorded(*[produced(10 + n, n) for n in range(7)], high_watermark=17)
    for sequence in range(2, 7):
        offset = 10 + sequence
        assert states.check(produced(0, sequence)) == Duplicate(offset, offset, 1_000)
    assert error_of(states, produced(0, 1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_only_the_last_five_are_compared_though_more_are_uncommitted():
    states = recorded(*[produced(n, n) for n in range(9)])
    assert states.check(produced(0, 4)) == Duplicate(4, 4, 1_000)
    assert error_of(states, produced(0, 3)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_of_another_size_is_no_retry():
    states = recorded(produced(0, 0, count=2))
    assert error_of(states, produced(0, 0, count=3)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_unknown_producer_may_begin_anywhere_and_one_without_id_is_not_compared():
    states = recorded(produced(0, 0))
    assert states.check(produced(0, 77, producer=10)) is None
    assert states.check(raw_batch()) is None
    states.record(raw_batch(base_offset=1), 0, 0)
    assert len(states) == 1


def test_a_new_epoch_begins_at_sequence_0_and_an_old_one_is_refused():
    states = recorded(produced(0, 0, epoch=3))
    assert states.check(produced(0, 0, epoch=4)) is None
    assert error_of(states, produced(0, 1, epoch=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert error_of(states, produced(0, 1, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_batch_of_an_earlier_epoch_is_no_duplicate_of_the_same_sequence():
    states = recorded(produced(0, 0, epoch=3), produced(1, 0, epoch=4))
    assert states.check(produced(0, 0, epoch=4)) == Duplicate(1, 1, 1_000)


def test_after_the_largest_sequence_follows_0():
    states = recorded(produced(0, LARGEST - 1, count=3))
    assert last_sequence(produced(0, LARGEST - 1, count=3)) == 0
    assert states.check(produced(0, 1)) is None
    assert error_of(states, produced(0, LARGEST)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_truncation_returns_to_the_state_of_the_shorter_log():
    """The state must equal that of the remaining batches: neither too old nor too new."""
    chance = random.Random(11)
    for _ in range(200):
        batches, sequences = [], dict.fromkeys((1, 2), 0)
        for offset in range(chance.randint(1, 40)):
            producer = chance.choice((1, 2))
            batches.append(produced(offset, sequences[producer], producer=producer))
            sequences[producer] += 1
        committed = chance.randint(0, len(batches))
        end = chance.randint(committed, len(batches))
        states, shorter = ProducerStates(), ProducerStates()
        for batch in batches:
            states.record(batch, committed, 0)
        for batch in batches[:end]:
            shorter.record(batch, committed, 0)
        states.truncate(end)
        for producer in (1, 2):
            for sequence in range(41):
                asked = produced(0, sequence, producer=producer)
                assert states.check(asked) == shorter.check(asked)


def test_a_truncation_returns_to_the_older_epoch():
    states = recorded(produced(0, 0, epoch=0), produced(1, 0, epoch=1))
    states.truncate(1)
    assert states.check(produced(0, 1, epoch=0)) is None


def test_idle_producers_expire():
    states = ProducerStates()
    states.record(produced(0, 0, producer=1), 1, 100)
    states.record(produced(1, 0, producer=2), 2, 200)
    states.expire(200)
    assert len(states) == 1
    assert states.check(produced(2, 5, producer=1)) is None
    assert error_of(states, produced(2, 5, producer=2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    states.clear()
    assert len(states) == 0
