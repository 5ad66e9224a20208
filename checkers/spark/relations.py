"""The relations of a check, as DataFrame -> DataFrame functions named after what they return.

Their schemas are those of `checkers.history.schema` with a `run` column in front. What is done to
one group of rows is in `checkers.spark.workers`; where the rows lie is `checkers.spark.pipeline`'s
affair.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from kraftproof.checkers.guards import tally
from kraftproof.checkers.guards.facts import RunFacts
from kraftproof.checkers.history.schema import RECORDS, TABLES
from kraftproof.checkers.kraft.kept import COLUMNS, SNAPSHOT
from kraftproof.checkers.kraft.run_checks import RunCheck
from kraftproof.checkers.spark import workers
from kraftproof.checkers.spark.rows import CHECKED, JUDGED, KEYS, READ, TALLIED
from kraftproof.checkers.spark.slots import Spread
from kraftproof.checkers.spark.workers import Plans

Wanted = dict[RunCheck, list[str]]
"""The applicable run checks, each with its runs."""


def staged(spark: SparkSession, stage: Path, name: str, paths: Sequence[str]) -> DataFrame:
    """Return one table of all runs; each file is in its run's folder of the stage.

    Without a file the table has no rows.
    """
    run = StructField("run", StringType(), nullable=False)
    schema = StructType([*from_arrow_schema(TABLES[name]), run])
    if not paths:
        return spark.createDataFrame([], schema).select("run", *TABLES[name].names)
    files = spark.read.schema(schema).option("basePath", str(stage)).parquet(*paths)
    return files.select("run", *TABLES[name].names)


def committed(records: DataFrame, trace: DataFrame) -> DataFrame:
    """Return each node's records below the highest watermark reported by the node itself."""
    watermarks = trace.groupBy("run", "node").agg(F.max("high_watermark").alias("watermark"))
    return (
        records.join(watermarks, on=["run", "node"], how="inner")
        .where(F.col("offset") < F.col("watermark"))
        .select("run", *RECORDS.names)
    )


def kept(committed: DataFrame, snapshots: DataFrame) -> DataFrame:
    """Return the committed records and the whole snapshots in one table."""
    whole = snapshots.where(F.col("entities").isNotNull()).select(
        "run", "offset", F.lit(SNAPSHOT).alias("type"), F.col("entities").alias("json")
    )
    return committed.select("run", *COLUMNS).unionAll(whole)


def read(runs: DataFrame, plans: Plans, stage: Path) -> DataFrame:
    """Return each run's model and number of operations, or why it can't be read.

    On the way the histories are put into the stage.
    """
    schema = from_arrow_schema(READ)
    return runs.select("run").mapInArrow(workers.read_histories(plans, stage), schema)


def judged(spread: Spread, plans: Plans, stage: Path) -> DataFrame:
    """Return the verdict and the findings of every key of every run.

    Args:
        spread: the operations by slot, and the hot keys, whose tasks come first.
        plans: the plans of the runs.
        stage: where a hot key's operations are.
    """
    schema = from_arrow_schema(JUDGED)
    slots = spread.operations.groupBy("run", "slot")
    of_slots = slots.applyInArrow(workers.judge_slot(plans), schema)
    if not spread.hot:
        return of_slots
    return _hot(spread).mapInArrow(workers.judge_keys(plans, stage), schema).unionAll(of_slots)


def _hot(spread: Spread) -> DataFrame:
    """Return the hot keys, each in a partition of its own."""
    rows = [{"run": run, "key": key, "task": task} for task, (run, key) in enumerate(spread.hot)]
    schema = KEYS.append(pa.field("task", pa.int32(), nullable=False))
    keys = spread.operations.sparkSession.createDataFrame(pa.Table.from_pylist(rows, schema))
    return keys.repartitionById(len(rows), F.col("task")).select(*KEYS.names)


def checked(wanted: Wanted, relations: dict[str, DataFrame], plans: Plans) -> DataFrame:
    """Return the results of the run checks, each in its runs.

    Checks of the same relations share one pass over the relations.
    """
    alike: dict[tuple[str, ...], Wanted] = {}
    for check, runs in wanted.items():
        alike.setdefault(check.relations, {})[check] = runs
    found = [
        _checked_alike([relations[name] for name in names], checks, plans)
        for names, checks in alike.items()
    ]
    return reduce(DataFrame.unionAll, found)


def tallied(operations: DataFrame, facts: Mapping[str, RunFacts]) -> DataFrame:
    """Return the tally of each run that has facts, as `checkers.guards.tally` counts."""
    wanted = operations.where(F.col("run").isin(sorted(facts))).select("run", *tally.COLUMNS)
    parts = wanted.mapInArrow(workers.tally(facts), from_arrow_schema(TALLIED))
    counts = (F.sum(name).alias(name) for name in TALLIED.names[1:])
    return parts.groupBy("run").agg(*counts)


def _checked_alike(inputs: list[DataFrame], checks: Wanted, plans: Plans) -> DataFrame:
    schema = from_arrow_schema(CHECKED)
    runs = sorted({run for applying in checks.values() for run in applying})
    groups = [rows.where(F.col("run").isin(runs)).groupBy("run") for rows in inputs]
    names = {check.name: frozenset(applying) for check, applying in checks.items()}
    if len(groups) == 1:
        return groups[0].applyInArrow(workers.check_group(names, plans), schema)
    left, right = groups
    return left.cogroup(right).applyInArrow(workers.check_groups(names, plans), schema)
