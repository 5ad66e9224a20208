"""The rows of runs: each run's options, its verdict, and the comparison with earlier runs."""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.history.analysis_schema import RUNS, TREND
from kraftproof.checkers.history.schema import OPERATION_STATUSES
from kraftproof.checkers.spark.figures import by_status, percentiles
from kraftproof.checkers.spark.timeline import QUIET
from kraftproof.checkers.verdict import (
    NO_OPERATIONS,
    NONE_SUCCEEDED,
    UNKNOWN_KEYS_ALLOWED,
    FindingKind,
    Verdict,
)

RUNS_BEFORE: Final = 10
_FIGURES: Final = ("ok_rate", "p50_ms", "p99_ms", "unavailable_seconds")


def runs(
    facts: DataFrame,
    verdicts: DataFrame,
    findings: DataFrame,
    notes: DataFrame,
    tally: DataFrame,
    extents: DataFrame,
) -> DataFrame:
    """Return the runs with their verdicts, as `checkers.judge.assembly` combines them.

    Args:
        facts: what is known of each run beforehand.
        verdicts: on its keys.
        findings: the findings of its keys and its run checks.
        notes: a row with a `note` for each crash, mishap and guard that is not met.
        tally: of its operations.
        extents: the times of its beginning and end.
    """
    safety = findings.where(F.col("kind") == FindingKind.SAFETY.value)
    relations = (
        verdicts.groupBy("run").agg(
            F.count(F.lit(1)).alias("keys"),
            *(
                F.count_if(F.col("verdict") == verdict.value).alias(f"{verdict.value}_keys")
                for verdict in (Verdict.INVALID, Verdict.UNKNOWN)
            ),
            F.count_if(F.col("crashed")).alias("crashed_keys"),
            F.count_if(F.col("is_vacuous")).alias("vacuous_keys"),
            F.count_if(_is_undecided()).alias("undecided_keys"),
        ),
        safety.groupBy("run").agg(F.count(F.lit(1)).alias("findings")),
        notes.groupBy("run").agg(F.array_sort(F.collect_list("note")).alias("doubts")),
        tally.groupBy("run").agg(*by_status()),
        extents,
    )
    whole = facts
    for relation in relations:
        whole = whole.join(relation, on="run", how="left")
    of_keys = ("invalid_keys", "unknown_keys", "crashed_keys", "vacuous_keys", "undecided_keys")
    zero: dict[str, bool | float | int | str] = dict.fromkeys(
        ("keys", *of_keys, "findings", "operations", *OPERATION_STATUSES), 0
    )
    counted = whole.fillna(zero).withColumn("notes", _notes())
    return counted.withColumn("verdict", _verdict()).select(*RUNS.names)


def _is_undecided() -> Column:
    return (F.col("verdict") == Verdict.UNKNOWN.value) & ~F.col("is_vacuous")


def _no_texts() -> Column:
    return F.array().cast("array<string>")


def _notes() -> Column:
    """Return the doubts, and the reason if nothing was checked, in one text.

    Empty without either.
    """
    nothing = (
        F.when(F.col("is_crashed"), _no_texts())
        .when(F.col("keys") == 0, F.array(F.lit(NO_OPERATIONS)))
        .when(F.col("keys") == F.col("vacuous_keys"), F.array(F.lit(NONE_SUCCEEDED)))
        .otherwise(_no_texts())
    )
    return F.concat_ws("; ", F.concat(F.coalesce(F.col("doubts"), _no_texts()), nothing))


def _verdict() -> Column:
    """The rule of `checkers.verdict.verdict_of_keys` and `checkers.judge.assembly`, as a column."""
    is_unknown = (
        (F.col("crashed_keys") > 0)
        | (F.col("undecided_keys") > UNKNOWN_KEYS_ALLOWED * (F.col("keys") - F.col("vacuous_keys")))
        | (F.col("notes") != "")
    )
    return (
        F.when(F.col("is_discounted"), Verdict.UNKNOWN.value)
        .when((F.col("invalid_keys") > 0) | (F.col("findings") > 0), Verdict.INVALID.value)
        .when(is_unknown, Verdict.UNKNOWN.value)
        .otherwise(Verdict.VALID.value)
    )


def trend(
    runs: DataFrame, tally: DataFrame, phases: DataFrame, availability: DataFrame
) -> DataFrame:
    """Return each run's figures beside the medians of the runs before it in its series.

    Rates and latencies are taken from quiet phases, so that runs with different numbers of faults
    are comparable.
    """
    quiet = phases.where((F.col("phase") == QUIET) & (F.col("seconds") > 0))
    rate = quiet.select("run", (F.col("ok") / F.col("seconds")).alias("ok_rate"))
    took = (
        tally.where((F.col("phase") == QUIET) & F.col("took_ns").isNotNull())
        .groupBy("run")
        .agg(*percentiles([0.5, 0.99]))
        .select("run", F.col("points")[0].alias("p50_ms"), F.col("points")[1].alias("p99_ms"))
    )
    without = availability.groupBy("run").agg(F.sum("seconds").alias("unavailable_seconds"))
    timed = F.when(F.col("end_time").isNotNull(), 0.0)
    measured = (
        runs.join(rate, on="run", how="left")
        .join(took, on="run", how="left")
        .join(without, on="run", how="left")
        .withColumn("unavailable_seconds", F.coalesce(F.col("unavailable_seconds"), timed))
        .withColumn("series", F.concat_ws(", ", *(_named(column) for column in _SERIES)))
        .where(F.col("series") != "")
    )
    in_time = Window.partitionBy("series").orderBy("started", "run")
    before = in_time.rowsBetween(-RUNS_BEFORE, -1)
    return measured.select(
        "run",
        "series",
        F.row_number().over(in_time).cast("long").alias("place"),
        "verdict",
        *_FIGURES,
        *(_median(name, before).alias(f"{name}_before") for name in _FIGURES),
    ).select(*TREND.names)


_SERIES: Final = ("workload", "backend", "system")


def _named(column: str) -> Column:
    return F.when(F.col(column) != "", F.col(column))


def _median(column: str, window: object) -> Column:
    """The median over a window of rows, for which Spark has no function of its own."""
    values = F.array_sort(F.collect_list(column).over(window))  # type: ignore[arg-type]
    middle = (F.size(values) / 2).cast("int")
    low = F.get(values, F.floor((F.size(values) - 1) / 2).cast("int"))
    return (low + F.get(values, middle)) / 2
