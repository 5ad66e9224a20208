"""Spreads the keys of all runs over tasks, so that no large key or run delays the others.

A *slot* is one task's share of the keys. A key with more operations than a slot should have gets
one of its own, and these are the first, largest first, since Spark starts tasks in the order of
their partitions; the other keys of a run are spread over as many slots as its size wants by a hash;
small runs share one. A large key with an eighth of its run or more is *hot*, and in no slot: its
task reads the key from the run's file, which is quicker than sorting the key and passing the rows
through Java; no file is read for more than eight hot keys. It counts, and looks at no operation.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

SLOTS_PER_CORE: Final = 4
FEWEST_ROWS: Final = 20_000
MOST_ROWS: Final = 500_000
"""Operations in a slot: below the minimum a task's start costs too much, above the maximum its
memory.
"""

HOT: Final = 8
"""A large key is hot if its run has at most this many times the key's operations."""

_NO_SLOT: Final = -1
_KEYS: Final = pa.schema([("run", pa.string()), ("key", pa.string()), ("own_slot", pa.int32())])
_RUNS: Final = pa.schema([("run", pa.string()), ("first", pa.int32()), ("slots", pa.int32())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Operations with their slots.

    Attributes:
        operations: the columns given, and `slot`, which is also the partition.
        slots: how many there are.
        hot: the run and the key of each hot key, largest first, whose operations are not there.
    """

    operations: DataFrame
    slots: int
    hot: tuple[tuple[str, str], ...]


def spread(
    spark: SparkSession,
    operations: DataFrame,
    sizes: Mapping[str, int],
    apart: Mapping[tuple[str, str], int] | None = None,
) -> Spread:
    """Return the operations, each in the slot of its key.

    Args:
        spark: the session.
        operations: with `run` and `key`.
        sizes: how many operations each run has; other runs are left out.
        apart: the size of each key that is judged otherwise, and is in no slot.
    """
    absent = {key: n for key, n in (apart or {}).items() if key[0] in sizes}
    rows = rows_a_slot(sum(sizes.values()), spark.sparkContext.defaultParallelism)
    large = large_keys(operations, sizes, rows)
    large = {key: n for key, n in large.items() if key not in absent}
    hot = {(run, key): n for (run, key), n in large.items() if n * HOT >= sizes[run]}
    left = Counter(sizes)
    for (run, _), n in (*hot.items(), *absent.items()):
        left[run] -= n
    own = [key for key in large if key not in hot]
    runs, slots = shares({run: n for run, n in left.items() if n}, rows, first=len(own))
    places = dict.fromkeys((*hot, *absent), _NO_SLOT) | {key: slot for slot, key in enumerate(own)}
    keys = [{"run": run, "key": key, "own_slot": slot} for (run, key), slot in places.items()]
    of_key = F.broadcast(spark.createDataFrame(pa.Table.from_pylist(keys, schema=_KEYS)))
    of_run = F.broadcast(spark.createDataFrame(pa.Table.from_pylist(runs, schema=_RUNS)))
    hashed = F.col("first") + F.pmod(F.xxhash64("key"), F.col("slots"))
    slot = F.coalesce(F.col("own_slot"), hashed).cast("int").alias("slot")
    placed = (
        operations.join(of_run, on="run", how="inner")
        .join(of_key, on=["run", "key"], how="left")
        .select(*operations.columns, slot)
        .where(F.col("slot") != _NO_SLOT)
        .repartitionById(slots, F.col("slot"))
    )
    return Spread(operations=placed, slots=slots, hot=tuple(hot))


def rows_a_slot(operations: int, cores: int) -> int:
    """Return how many operations a slot should have."""
    return min(MOST_ROWS, max(FEWEST_ROWS, operations // (SLOTS_PER_CORE * cores)))


def large_keys(
    operations: DataFrame, sizes: Mapping[str, int], rows: int
) -> dict[tuple[str, str], int]:
    """Return the size of each key with more operations than that, largest first.

    They are a few for each core.
    """
    runs = sorted(run for run, size in sizes.items() if size > rows)
    if not runs:
        return {}
    counted = operations.where(F.col("run").isin(runs)).groupBy("run", "key").count()
    large = counted.where(F.col("count") > rows).select("run", "key", "count")
    found = large.orderBy(F.desc("count"), "run", "key").collect()
    return {(row["run"], row["key"]): row["count"] for row in found}


def shares(
    sizes: Mapping[str, int], rows: int, *, first: int
) -> tuple[list[dict[str, object]], int]:
    """Return each run's first slot and number of slots, and the total number of slots."""
    found: list[dict[str, object]] = []
    slot, capacity = first, rows
    for run in sorted(sizes):
        slots = -(-sizes[run] // rows)
        if slots > 1 or sizes[run] > capacity:
            slot, capacity = (slot, rows) if capacity == rows else (slot + 1, rows)
        found.append({"run": run, "first": slot, "slots": slots})
        if slots > 1:
            slot, capacity = slot + slots, rows
        else:
            capacity -= sizes[run]
    return found, max(1, slot + (capacity < rows))
