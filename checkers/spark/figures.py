"""Computes figures of many runs: latency, coverage, total time of phases.

The figures derive from the *tally*, one pass over the operations that counts equal operations: few
rows, however many operations. Latencies are rounded to three digits there, so that percentiles are
exact, the same on every cluster, and cheap.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.history.analysis_schema import COVERAGE, PHASES
from kraftproof.checkers.history.schema import OPERATION_STATUSES
from kraftproof.checkers.spark.timeline import SECOND_NS

PERCENTILES: Final = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99, "p999_ms": 0.999}
_MILLISECOND_NS: Final = 1_000_000
_DIGITS: Final = 3
_ERROR_NAME: Final = "^[A-Z][A-Z0-9_]*$"
"""Error names; other errors may contain node names and numbers, and count as one kind."""


def tally(placed: DataFrame, facts: DataFrame) -> DataFrame:
    """Return how many operations of a run are alike in all that the figures ask."""
    taken = F.col("complete_time") - F.col("invoke_time")
    alike = placed.groupBy(
        "run",
        "phase",
        "faults",
        "f",
        "status",
        _answer().alias("answer"),
        F.when(F.col("status") == "ok", _rounded(taken)).alias("took_ns"),
    ).agg(F.count(F.lit(1)).alias("operations"))
    return alike.join(facts.select("run", "model"), on="run", how="inner")


def _answer() -> Column:
    """Return the answer besides the status: an error's name, or the outcome."""
    error = F.when(F.col("error").rlike(_ERROR_NAME), F.col("error")).when(
        F.col("error").isNotNull(), "another error"
    )
    outcome = F.when(
        F.col("output").startswith("{"), F.get_json_object(F.col("output"), "$.outcome")
    )
    return F.coalesce(error, outcome, F.lit(""))


def _rounded(time_ns: Column) -> Column:
    size = F.floor(F.log10(F.greatest(time_ns, F.lit(1)))) - (_DIGITS - 1)
    unit = F.pow(F.lit(10.0), F.greatest(size, F.lit(0)))
    return (F.floor(time_ns / unit + 0.5) * unit).cast("long")  # Spark's own round is decimal


def latency(tally: DataFrame, of: str) -> DataFrame:
    """Return the percentiles of the time that ok operations took, by operation and phase.

    Args:
        tally: of the operations.
        of: `run`, or `model` for all runs of a model together.
    """
    shares = list(PERCENTILES.values())
    return (
        tally.where(F.col("took_ns").isNotNull())
        .groupBy(of, "f", "phase", "faults")
        .agg(
            F.sum("operations").alias("operations"),
            *percentiles(shares),
            (F.max("took_ns") / _MILLISECOND_NS).alias("longest_ms"),
        )
        .select(
            *(of, "f", "phase", "faults", "operations"),
            *(F.col("points")[place].alias(name) for place, name in enumerate(PERCENTILES)),
            "longest_ms",
        )
    )


def percentiles(shares: Sequence[float]) -> list[Column]:
    """Return the column `points`: those percentiles of the tally's `took_ns`, in ms."""
    points = F.percentile("took_ns", list(shares), F.col("operations"))
    return [F.transform(points, lambda point: point / _MILLISECOND_NS).alias("points")]


def by_status() -> list[Column]:
    """Return how many operations of a tally there are, in all and by status."""
    every = F.sum("operations").alias("operations")
    return [every, *(_sum_of(status).alias(status) for status in OPERATION_STATUSES)]


def _sum_of(status: str) -> Column:
    return F.sum(F.when(F.col("status") == status, F.col("operations")).otherwise(0))


def phases(tally: DataFrame, stretches: DataFrame, extents: DataFrame) -> DataFrame:
    """Return the total time of each phase of a run, and its operations by result."""
    since = F.greatest(F.col("since"), F.col("start_time"))
    until = F.least(F.col("until"), F.col("end_time"))
    lasted = (
        stretches.join(extents, on="run", how="inner")
        .where(until > since)
        .groupBy("run", "phase", "faults")
        .agg((F.sum(until - since) / SECOND_NS).alias("seconds"))
    )
    counted = tally.groupBy("run", "phase", "faults").agg(*by_status())
    zero: dict[str, bool | float | int | str] = {"seconds": 0.0, "operations": 0}
    zero |= dict.fromkeys(OPERATION_STATUSES, 0)
    return (
        counted.join(lasted, on=["run", "phase", "faults"], how="full")
        .fillna(zero)
        .select(*PHASES.names)
    )


def coverage(tally: DataFrame) -> DataFrame:
    """Return how often each outcome of an operation was seen in each phase; 0 for not at all."""
    outcome = ["model", "f", "status", "answer"]
    phase = ["phase", "faults"]
    phases = tally.select("model", *phase).distinct()
    pairs = tally.select(*outcome).distinct().join(phases, on="model", how="inner")
    seen = tally.groupBy(*outcome, *phase).agg(
        F.sum("operations").alias("operations"), F.countDistinct("run").alias("runs")
    )
    return (
        pairs.join(seen, on=[*outcome, *phase], how="left")
        .fillna({"operations": 0, "runs": 0})
        .select(*COVERAGE.names)
    )
