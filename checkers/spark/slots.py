"""Spreads the keys of all runs over tasks, so that no large key or run holds up the others.

A *slot* is one task's share of the keys. A key with more operations than a slot should have gets
one of its own, and these are the first, largest first, since Spark starts tasks in the order of
their partitions; the other keys of a run are spread over as many slots as its size wants by a hash;
small runs share one. It counts, and looks at no operation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

SLOTS_PER_CORE: Final = 4
FEWEST_ROWS: Final = 20_000
MOST_ROWS: Final = 500_000
"""Operations in a slot: so few that a task costs more to start, so many that memory minds."""

_KEYS: Final = pa.schema([("run", pa.string()), ("key", pa.string()), ("own_slot", pa.int32())])
_RUNS: Final = pa.schema([("run", pa.string()), ("first", pa.int32()), ("slots", pa.int32())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Operations with their slots.

    Attributes:
        operations: the columns given, and `slot`, which is also the partition.
        slots: how many there are.
    """

    operations: DataFrame
    slots: int


def spread(spark: SparkSession, operations: DataFrame, sizes: Mapping[str, int]) -> Spread:
    """Returns the operations, each in the slot of its key.

    Args:
        spark: the session.
        operations: with `run` and `key`.
        sizes: how many operations each run has; other runs are left out.
    """
    rows = rows_a_slot(sum(sizes.values()), spark.sparkContext.defaultParallelism)
    large = large_keys(operations, sizes, rows)
    runs, slots = shares({run: n for run, n in sizes.items() if n}, rows, first=len(large))
    own = [{"run": run, "key": key, "own_slot": slot} for slot, (run, key) in enumerate(large)]
    of_key = F.broadcast(spark.createDataFrame(pa.Table.from_pylist(own, schema=_KEYS)))
    of_run = F.broadcast(spark.createDataFrame(pa.Table.from_pylist(runs, schema=_RUNS)))
    hashed = F.col("first") + F.pmod(F.xxhash64("key"), F.col("slots"))
    placed = (
        operations.join(of_run, on="run", how="inner")
        .join(of_key, on=["run", "key"], how="left")
        .select(
            *operations.columns, F.coalesce(F.col("own_slot"), hashed).cast("int").alias("slot")
        )
    )
    return Spread(operations=placed.repartitionById(slots, F.col("slot")), slots=slots)


def rows_a_slot(operations: int, cores: int) -> int:
    """Returns how many operations a slot should have."""
    return min(MOST_ROWS, max(FEWEST_ROWS, operations // (SLOTS_PER_CORE * cores)))


def large_keys(operations: DataFrame, sizes: Mapping[str, int], rows: int) -> list[tuple[str, str]]:
    """Returns the keys with more operations than that, largest first: a few for each core."""
    runs = sorted(run for run, size in sizes.items() if size > rows)
    if not runs:
        return []
    counted = operations.where(F.col("run").isin(runs)).groupBy("run", "key").count()
    large = counted.where(F.col("count") > rows).select("run", "key", "count")
    found = large.orderBy(F.desc("count"), "run", "key").collect()
    return [(row["run"], row["key"]) for row in found]


def shares(
    sizes: Mapping[str, int], rows: int, *, first: int
) -> tuple[list[dict[str, object]], int]:
    """Returns each run's first slot and how many it has, and how many slots there are in all."""
    found: list[dict[str, object]] = []
    slot, room = first, rows
    for run in sorted(sizes):
        slots = -(-sizes[run] // rows)
        if slots > 1 or sizes[run] > room:
            slot, room = (slot, rows) if room == rows else (slot + 1, rows)
        found.append({"run": run, "first": slot, "slots": slots})
        if slots > 1:
            slot, room = slot + slots, rows
        else:
            room -= sizes[run]
    return found, max(1, slot + (room < rows))
