"""Time spans as relations: faults in force, quiet time, time without success.

Times are ns of the history's clock. An operation belongs to the phase of its invocation, or to the
phase of a fault that began while the operation was open: the effect of a fault is never counted as
quiet. Quiet begins SETTLE_SECONDS after the last heal, as for the guards (docs/concepts.md).
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.history.analysis_schema import FAULT_WINDOWS
from kraftproof.checkers.history.schema import OPERATIONS

SECOND_NS: Final = 1_000_000_000
SETTLE_SECONDS: Final = 3
SLICE_NS: Final = 100_000_000
"""Windows without an ok operation are found among slices of this length, which is also their
minimum length.
"""

FAULT, RECOVERY, QUIET = "fault", "recovery", "quiet"
_EVER: Final = 1 << 62


def fault_windows(faults: DataFrame) -> DataFrame:
    """Return when each fault that was applied was in force."""

    def time_of(phase: str) -> Column:
        return F.min(F.when(F.col("phase") == phase, F.col("time")))

    return (
        faults.groupBy("run", "fault", "kind", "targets")
        .agg(
            time_of("applied").alias("start_time"),
            time_of("healed").alias("end_time"),
            time_of("bitten").isNotNull().alias("bitten"),
            time_of("moot").isNotNull().alias("is_moot"),
        )
        .where(F.col("start_time").isNotNull() & ~F.col("is_moot"))
        .select(*FAULT_WINDOWS.names)
    )


def stretches(runs: DataFrame, windows: DataFrame) -> DataFrame:
    """Return each run's time as stretches of one phase each, from before the run to after its end.

    They don't overlap and leave no gap. `struck_time` and `struck_faults` are those of the next
    stretch with a fault.
    """
    is_fault = F.size("in_force") > 0
    phase = F.when(is_fault, FAULT).when(F.size("healed") > 0, RECOVERY).otherwise(QUIET)
    labelled = _kinds(_pieces(runs, windows), windows).select(
        "run",
        "since",
        "until",
        phase.alias("phase"),
        F.concat_ws("+", F.when(is_fault, F.col("in_force")).otherwise(F.col("healed"))).alias(
            "faults"
        ),
    )
    to_come = Window.partitionBy("run").orderBy("since").rowsBetween(1, Window.unboundedFollowing)

    def next_fault(column: str) -> Column:
        strikes = F.when(F.col("phase") == FAULT, F.col(column))
        return F.first(strikes, ignorenulls=True).over(to_come)

    return labelled.select(
        *labelled.columns,
        next_fault("since").alias("struck_time"),
        next_fault("faults").alias("struck_faults"),
    )


def _ended() -> Column:
    return F.coalesce(F.col("end_time"), F.lit(_EVER))


def _pieces(runs: DataFrame, windows: DataFrame) -> DataFrame:
    """Return each run's time, cut wherever a fault begins, ends, or has settled."""
    settled = _ended() + SETTLE_SECONDS * SECOND_NS
    marks = runs.select("run", F.lit(-_EVER).alias("since"))
    for mark in (F.col("start_time"), _ended(), settled):
        marks = marks.unionAll(windows.select("run", mark.alias("since")))
    in_time = Window.partitionBy("run").orderBy("since")
    until = F.lead("since", 1, 2 * _EVER - 1).over(in_time)
    return marks.distinct().select("run", "since", until.alias("until"))


def _kinds(pieces: DataFrame, windows: DataFrame) -> DataFrame:
    """Return the pieces with the kinds of faults `in_force`, and those `healed` just before."""
    near = windows.select(
        "run", "kind", F.col("start_time").alias("began"), _ended().alias("ended")
    )
    is_near = (F.col("began") <= F.col("since")) & (
        F.col("since") < F.col("ended") + SETTLE_SECONDS * SECOND_NS
    )
    kinds = pieces.join(near, on="run", how="left").where(F.col("kind").isNull() | is_near)

    def set_of(condition: Column) -> Column:
        return F.array_sort(F.collect_set(F.when(condition, F.col("kind"))))

    found = kinds.groupBy("run", "since").agg(
        set_of(F.col("since") < F.col("ended")).alias("in_force"),
        set_of(F.col("since") >= F.col("ended")).alias("healed"),
    )
    none = F.array().cast("array<string>")
    return pieces.join(found, on=["run", "since"], how="left").select(
        "run",
        "since",
        "until",
        F.coalesce(F.col("in_force"), none).alias("in_force"),
        F.coalesce(F.col("healed"), none).alias("healed"),
    )


def placed(operations: DataFrame, stretches: DataFrame) -> DataFrame:
    """Return the operations with the phase and the faults that each belongs to."""
    at = F.coalesce(F.col("invoke_time"), F.lit(0))
    is_struck = (F.col("phase") != FAULT) & (F.col("complete_time") >= F.col("struck_time"))
    here = F.broadcast(stretches.withColumnRenamed("run", "of_run"))
    within = (F.col("run") == F.col("of_run")) & (at >= F.col("since")) & (at < F.col("until"))
    return operations.join(here, on=within, how="inner").select(
        "run",
        *OPERATIONS.names,
        F.when(is_struck, FAULT).otherwise(F.col("phase")).alias("phase"),
        F.when(is_struck, F.col("struck_faults")).otherwise(F.col("faults")).alias("faults"),
    )


def slices(operations: DataFrame) -> DataFrame:
    """Return a summary of each slice of each run: of few rows, however many operations."""
    ended = F.coalesce(F.col("complete_time"), F.col("invoke_time"))
    when_ok = F.when(F.col("status") == "ok", F.col("complete_time"))
    return (
        operations.where(F.col("invoke_time").isNotNull())
        .groupBy("run", F.floor(ended / SLICE_NS).alias("slice"))
        .agg(
            F.min("invoke_time").alias("began"),
            F.max(ended).alias("ended"),
            F.min(when_ok).alias("first_ok"),
            F.max(when_ok).alias("last_ok"),
        )
    )


def extents(slices: DataFrame) -> DataFrame:
    """Return when each run began and ended, by its operations."""
    return slices.groupBy("run").agg(
        F.min("began").alias("start_time"), F.max("ended").alias("end_time")
    )


def availability(
    slices: DataFrame, extents: DataFrame, windows: DataFrame, *, longer_than_ns: int
) -> DataFrame:
    """Return the long windows without an ok operation, and the faults within.

    Args:
        slices: of the operations.
        extents: of the runs; time before the first and after the last ok operation counts.
        windows: when faults were in force.
        longer_than_ns: the minimum length of a window, at least SLICE_NS.
    """
    assert longer_than_ns >= SLICE_NS
    marks = (
        slices.where(F.col("first_ok").isNotNull())
        .select("run", F.col("first_ok").alias("first"), F.col("last_ok").alias("last"))
        .unionAll(extents.select("run", F.col("start_time"), F.col("start_time")))
        .unionAll(extents.select("run", F.col("end_time"), F.col("end_time")))
    )
    in_time = Window.partitionBy("run").orderBy("first", "last")
    gaps = (
        marks.select(
            "run",
            F.lag("last").over(in_time).alias("start_time"),
            F.col("first").alias("end_time"),
        )
        .where(F.col("end_time") - F.col("start_time") >= longer_than_ns)
        .distinct()
    )
    return _with_faults(gaps, windows)


def _with_faults(gaps: DataFrame, windows: DataFrame) -> DataFrame:
    faults = windows.select(
        "run", "kind", F.col("start_time").alias("began"), _ended().alias("ended")
    )
    kind = F.when(
        (F.col("began") < F.col("end_time")) & (F.col("ended") > F.col("start_time")),
        F.col("kind"),
    )
    return (
        gaps.join(faults, on="run", how="left")
        .groupBy("run", "start_time", "end_time")
        .agg(F.concat_ws("+", F.array_sort(F.collect_set(kind))).alias("faults"))
        .select(
            "run",
            "start_time",
            "end_time",
            ((F.col("end_time") - F.col("start_time")) / SECOND_NS).alias("seconds"),
            "faults",
        )
    )
