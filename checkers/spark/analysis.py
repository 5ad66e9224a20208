"""Analyses any number of runs: the relations of ANALYSIS_TABLES (history/schema.py), in order.

operations -> slots of (run, key) -> verdicts -> findings -> availability -> latency -> coverage ->
trend. The operations are passed over five times, however many tables there are: to size the keys,
to judge, for the guards, for the tally and for the slices; a run's once more for each of its hot
keys. Nothing
comes to the driver but counts, and the runs that can't be read.
"""

import shutil
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.history.schema import COVERAGE, FINDINGS, VERDICTS
from kraftproof.checkers.sources import Source
from kraftproof.checkers.spark import figures, timeline
from kraftproof.checkers.spark.facts import doubted, facts, faults, violated
from kraftproof.checkers.spark.judging import SPARK_ERRORS, Judged, judge
from kraftproof.checkers.spark.staging import stage
from kraftproof.checkers.spark.trend import runs, trend
from kraftproof.checkers.spark.writing import write, write_small

_STAGE: Final = ".stage"


class AnalysisError(Exception):
    """The job failed for a reason that lies in no history; the message is one line."""


def analyze(
    spark: SparkSession,
    sources: Sequence[Source],
    out: Path,
    *,
    gap_ns: int,
    tell: Callable[[str], None],
) -> list[str]:
    """Writes the tables of an analysis, and returns why some histories can't be read.

    Args:
        spark: the session.
        sources: the histories and run directories.
        out: a directory that the executors see under the same path.
        gap_ns: how long a window without an ok operation is told of.
        tell: gets a few words for each step.

    Raises:
        AnalysisError: Spark gave up.
    """
    folder = out / _STAGE
    try:
        tell(f"reading {len(sources)} histories")
        staged = stage(spark, folder, sources)
        if not staged.plans:
            return list(staged.problems.values())
        tell(f"judging {sum(staged.sizes.values())} operations of {len(staged.plans)} runs")
        done = judge(spark, staged)
        if done.staged.plans:
            _write(spark, done, out, gap_ns, tell)
    except SPARK_ERRORS as error:
        raise AnalysisError(f"the Spark job failed: {_first_line(error)}") from error
    finally:
        spark.catalog.clearCache()
        shutil.rmtree(folder, ignore_errors=True)
    return [problem for _, problem in sorted({**staged.problems, **done.problems}.items())]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _write(
    spark: SparkSession, done: Judged, out: Path, gap_ns: int, tell: Callable[[str], None]
) -> None:
    sources, operations = done.staged.sources, done.staged.tables["operations"]
    tell("verdicts and findings")
    verdicts = done.keys.select("run", *VERDICTS.names)
    findings = reduce(
        DataFrame.unionAll,
        (_findings(done.keys), _findings(done.checks), violated(spark, sources)),
    )
    write(verdicts, out, "verdicts")
    write(findings.sortWithinPartitions("run", "check", "operation_index"), out, "findings")
    tell("faults, phases, availability")
    known = facts(spark, sources)
    windows = timeline.fault_windows(faults(spark, sources)).persist()
    stretches = timeline.stretches(known, windows).persist()
    slices = timeline.slices(operations).persist()
    extents = timeline.extents(slices).persist()
    availability = timeline.availability(slices, extents, windows, longer_than_ns=gap_ns).persist()
    write_small(windows, out, "fault_windows", ["run", "start_time", "fault"])
    write_small(availability, out, "availability", ["run", "start_time"])
    tell("latency, coverage, trend")
    tally = figures.tally(timeline.placed(operations, stretches), known).persist()
    phases = figures.phases(tally, stretches, extents).persist()
    write_small(phases, out, "phases", ["run", "phase", "faults"])
    for of, name in (("run", "latency"), ("model", "latency_overall")):
        write_small(figures.latency(tally, of), out, name, [of, "f", "phase", "faults"])
    write_small(figures.coverage(tally), out, "coverage", COVERAGE.names[:6])
    notes = _crashes(done.checks).unionAll(doubted(spark, sources, done.tallies))
    whole = runs(known, verdicts, findings, notes, tally, extents).persist()
    write_small(whole, out, "runs", ["run"])
    write_small(trend(whole, tally, phases, availability), out, "trend", ["series", "place"])


def _findings(found: DataFrame) -> DataFrame:
    each = found.select("run", F.explode("findings").alias("finding"))
    return each.select("run", *(F.col("finding")[name].alias(name) for name in FINDINGS.names))


def _crashes(checks: DataFrame) -> DataFrame:
    note = F.concat(F.col("check"), F.lit(" crashed: "), F.col("crash"))
    return checks.where(F.col("crash").isNotNull()).select("run", note.alias("note"))
