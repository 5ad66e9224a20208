"""Replicas of partitions: what differs below the lowest high watermark, and what may differ."""

import pyarrow as pa
import pytest

from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.kraft.partitions.replicas import replicas_agree
from kraftproof.checkers.verdict import NotApplicableError


def replica(node, *records, partition="t-0", high_watermark=3):
    """A node's records (offset, epoch, crc)."""
    return [
        {
            "node": node, "partition": partition, "offset": offset, "epoch": epoch,
            "batch_crc": crc, "value": None, "high_watermark": high_watermark,
        }
        for offset, epoch, crc in records
    ]  # fmt: skip


def facts(*replicas):
    rows = pa.Table.from_pylist(
        [row for one in replicas for row in one], schema=table_schema("replicas")
    )
    return [(one.node, one.log_offset, one.fact) for one in replicas_agree({"replicas": rows})]


ALL = ((0, 1, 5), (1, 1, 6), (2, 2, 7))


@pytest.mark.parametrize(
    ("other", "high_watermark", "found"),
    [
        (ALL, 3, None),
        (((0, 1, 5), (1, 1, 6), (2, 3, 7)), 3, "node 2 has another batch at offset 2"),
        (((0, 1, 5), (1, 1, 9), (2, 2, 7)), 3, "node 2 has another batch at offset 1"),
        (((0, 1, 5), (2, 2, 7)), 3, "node 2 lacks offset 1"),
        (((0, 1, 5), (1, 1, 9), (2, 3, 9)), 1, None),
        (((1, 1, 6), (2, 2, 7)), 3, None),  # deleted by retention
    ],
)
def test_differences_below_the_high_watermark_are_found(other, high_watermark, found):
    told = facts(replica(1, *ALL), replica(2, *other, high_watermark=high_watermark))
    assert [fact.startswith(str(found)) for _, _, fact in told] == [True] * (found is not None)


def test_partitions_are_compared_apart():
    both = [replica(1, *ALL), replica(2, *ALL[:1], partition="t-1"), replica(2, *ALL)]
    assert facts(*both) == []


def test_one_replica_proves_nothing():
    with pytest.raises(NotApplicableError):
        facts(replica(1, *ALL), replica(2, *ALL, high_watermark=None))
