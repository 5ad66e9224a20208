"""Invariants of a leader's answers to idempotent producers, and of their batches in its log."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.producers import (
    ProducersAreJudgedByTheLog,
    ProducersWriteInOrder,
)
from kraftproof.cluster.simulated.invariants.partitions.replicas import BROKER
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions import requests
from tests.cluster.simulated.invariants.partitions.requests import written
from tests.support.node.raw_batches import produced, raw


def produce(data):
    return requests.produce(data, timeout_ms=1_000)


def test_producers_are_judged_by_the_log():
    case = PartitionCase(ProducersAreJudgedByTheLog())
    order = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    first = produced([b"a"], producer_id=5, producer_epoch=0, base_sequence=0)
    second = produced([b"b"], producer_id=5, producer_epoch=0, base_sequence=1)
    case.append(1, raw(0, b"a", producer_id=5, producer_epoch=0, base_sequence=0))
    case.answer(1, produce(first), written(0))
    assert case.reported == []
    case.answer(1, produce(first), written(0, order))
    case.answer(1, produce(second), written(0, order))
    case.answer(1, produce(second), written(1))
    name = "sequence 1 of producer 5 is refused"
    assert case.reported == [
        f"{NAME}: the batch at offset 0 is refused when it comes again",
        f"{NAME}: {name}, after offset 0 of the log",
        f"{NAME}: offset 1 is acknowledged, and the log has another batch or none",
    ]


def test_an_older_epoch_of_a_producer_is_refused_also_as_a_copy():
    case = PartitionCase(ProducersAreJudgedByTheLog())
    first = produced([b"a"], producer_id=5, producer_epoch=0, base_sequence=0)
    case.append(1, raw(0, b"a", producer_id=5, producer_epoch=0, base_sequence=0))
    case.append(1, raw(1, b"b", producer_id=5, producer_epoch=1, base_sequence=0))
    case.answer(1, produce(first), written(0, ErrorCode.INVALID_PRODUCER_EPOCH))
    assert case.reported == []


@pytest.mark.parametrize(
    ("epoch", "sequence", "is_right"),
    [(0, 3, True), (0, 4, False), (0, 2, False), (1, 0, True), (1, 3, False), (0, 0, False)],
)
def test_a_leader_appends_a_producers_batches_in_order(epoch, sequence, is_right):
    case = PartitionCase(ProducersWriteInOrder())
    begin = raw(0, b"a", b"b", producer_id=5, producer_epoch=0, base_sequence=1)
    other = raw(2, b"c", producer_id=6, producer_epoch=0, base_sequence=90)
    following = raw(3, b"d", producer_id=5, producer_epoch=epoch, base_sequence=sequence)
    case.append(1, begin, other)
    case.append(2, begin, other, following)
    assert case.reported == []
    case.append(1, following)
    assert bool(case.reported) is not is_right


def test_the_last_number_is_before_0_and_a_forgotten_producer_is_not_judged():
    for limit in (None, "1000"):
        case = PartitionCase(ProducersWriteInOrder())
        last = (1 << 31) - 1
        case.append(1, raw(0, b"a", producer_id=5, producer_epoch=0, base_sequence=last))
        case.append(1, raw(1, b"b", producer_id=5, producer_epoch=0, base_sequence=0))
        if limit is not None:
            setting = records.ConfigRecord(
                resource_type=BROKER,
                resource_name="",
                name="producer.id.expiration.ms",
                value=limit,
            )
            case.publish(setting)
        case.append(1, raw(2, b"c", producer_id=5, producer_epoch=0, base_sequence=7))
        assert bool(case.reported) is (limit is None)
