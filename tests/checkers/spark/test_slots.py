"""How keys are spread over tasks: large ones first and alone, every key in one slot only."""

from random import Random

import pyarrow as pa
import pytest

from kraftproof.checkers.spark.slots import FEWEST_ROWS, HOT, MOST_ROWS, rows_a_slot, shares, spread
from tests.support.random_cases import random_cases


def test_slots_have_bounds_whatever_the_job():
    assert rows_a_slot(100, 2) == FEWEST_ROWS
    assert rows_a_slot(10**9, 2) == MOST_ROWS
    assert rows_a_slot(800_000, 2) == 100_000


@pytest.mark.parametrize("seed", range(random_cases(200)))
def test_small_runs_share_slots_large_ones_have_theirs_and_none_is_empty(seed):
    random = Random(seed)
    sizes = {f"{run:04d}": round(10 ** random.uniform(0, 3.5)) for run in range(30)}
    found, slots = shares(sizes, 1000, first=3)
    taken: dict[int, list[int]] = {}
    for share in found:
        size = sizes[share["run"]]
        assert share["slots"] == -(-size // 1000)
        for slot in range(share["first"], share["first"] + share["slots"]):
            taken.setdefault(slot, []).append(min(size, 1000))
    assert sorted(taken) == list(range(3, slots))
    assert all(sum(rows) <= 1000 or len(rows) == 1 for rows in taken.values())


def test_no_operations_still_make_a_slot():
    assert shares({}, 1000, first=0) == ([], 1)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_large_keys_are_alone_in_the_first_partitions_hot_ones_in_none_and_no_key_is_cut(
    monkeypatch,
):
    from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

    from kraftproof.checkers.spark.session import session

    monkeypatch.setattr("kraftproof.checkers.spark.slots.MOST_ROWS", FEWEST_ROWS)
    spark = session()
    sizes = {"hot": 60_000, "hot too": 30_000, "large": FEWEST_ROWS + 1}
    small = {f"k{number}": 400 for number in range(300)}
    keys = [key for key, size in (sizes | small).items() for _ in range(size)]
    assert sizes["hot too"] * HOT >= len(keys) > sizes["large"] * HOT
    operations = spark.createDataFrame(pa.table({"run": ["r"] * len(keys), "key": keys}))
    placed = spread(spark, operations, {"r": len(keys), "other": 1})
    counted = (
        placed.operations.select("key", "slot", F.spark_partition_id().alias("partition"))
        .groupBy("key", "slot", "partition")
        .count()
        .collect()
    )
    assert placed.hot == (("r", "hot"), ("r", "hot too"))
    assert {row["key"]: row["count"] for row in counted} == small | {"large": sizes["large"]}
    assert len(counted) == len(small) + 1
    assert all(row["slot"] == row["partition"] for row in counted)
    assert [row["key"] for row in counted if row["slot"] == 0] == ["large"]
    assert {row["slot"] for row in counted} < set(range(placed.slots))
