"""Analyses any number of runs: the relations of ANALYSIS_TABLES (analysis_schema.py), in order.

operations -> slots of (run, key) -> verdicts -> findings -> availability -> latency -> coverage ->
trend. The operations are passed over five times, however many tables there are: to size the keys,
to judge, for the guards, for the tally and for the slices; a run's once more for each of its hot
keys. Nothing
comes to the driver but counts, and the runs that can't be read.
"""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.crash import TRACEBACK_FILE, ModelCrashError, keep_text
from kraftproof.checkers.history.analysis_schema import COVERAGE
from kraftproof.checkers.history.schema import FINDINGS, VERDICTS
from kraftproof.checkers.sources import Source
from kraftproof.checkers.spark import figures, timeline
from kraftproof.checkers.spark.facts import doubted, facts, faults, notes_of, violated
from kraftproof.checkers.spark.judging import SPARK_ERRORS, Judged, judge
from kraftproof.checkers.spark.session import job
from kraftproof.checkers.spark.staging import stage
from kraftproof.checkers.spark.trend import runs, trend
from kraftproof.checkers.spark.writing import remove_tables, write, write_small
from kraftproof.checkers.unfinished import unfinished
from kraftproof.checkers.verdict import CheckerInputError

_STAGE: Final = ".stage"
FULL: Final = os.strerror(errno.ENOSPC)
"""The sign of a full disk in the text of an error, also of an executor's error."""


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
    """Write the tables of an analysis, and returns why some histories can't be read.

    Args:
        spark: the session.
        sources: the histories and run directories.
        out: a directory that the executors see under the same path.
        gap_ns: the minimum length of a reported window without an ok operation.
        tell: gets a few words for each step.

    Raises:
        AnalysisError: Spark gave up.
        CheckerInputError: the disk of `out` is full.
    """
    try:
        with job(spark), unfinished(out / _STAGE) as folder:
            tell(f"reading {len(sources)} histories")
            staged = stage(spark, folder, sources)
            tell(f"judging {sum(staged.sizes.values())} operations of {len(staged.plans)} runs")
            done = judge(spark, staged)
            problems = {**staged.problems, **done.problems}
            crashes = _crashed_runs(sources, problems)
            if done.staged.plans or crashes:
                _write(spark, done, crashes, out, gap_ns, tell)
    except (*SPARK_ERRORS, OSError) as error:
        if FULL in str(error):
            remove_tables(out)
            raise CheckerInputError(f"{out}: {FULL}") from error
        if isinstance(error, OSError):
            raise
        raise AnalysisError(f"the Spark job failed: {_first_line(error)}") from error
    return [str(error) for run, error in sorted(problems.items()) if run not in crashes]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CrashedRun:
    """A run without a judged key, since its model crashed: unknown, as the inline engine says.

    Attributes:
        source: the run.
        note: the reason, and the file of the traceback.
    """

    source: Source
    note: str


def _crashed_runs(
    sources: Sequence[Source], problems: Mapping[str, CheckerInputError]
) -> dict[str, _CrashedRun]:
    """Return, by run, the runs whose model crashed, and keep the tracebacks."""
    found = {}
    for run, error in sorted(problems.items()):
        if isinstance(error, ModelCrashError):
            source = sources[int(run)]
            found[run] = _CrashedRun(source=source, note=f"{error}{kept(source, error.traceback)}")
    return found


def _crashed_keys(spark: SparkSession, done: Judged) -> DataFrame:
    """Return a `note` for each run with keys whose model crashed, and keep the first traceback."""
    first = F.min_by(F.struct("key", "reason", "traceback"), "key").alias("first")
    crashed = done.keys.where("crashed").groupBy("run").agg(first, F.count("*").alias("keys"))
    rows = []
    for row in crashed.collect():
        key, reason, traceback = row["first"]
        more = f" and {row['keys'] - 1} more keys" if row["keys"] > 1 else ""
        note = f"key {key}{more}: {reason}{kept(done.staged.sources[row['run']], traceback)}"
        rows.append({"run": row["run"], "note": note})
    return notes_of(spark, rows)


def kept(source: Source, traceback: str) -> str:
    """Keep a traceback in a run's directory, and return where, as the end of a sentence."""
    if not traceback or source.facts is None:
        return ""
    path = source.history.parent / TRACEBACK_FILE
    return f" (traceback: {path})" if keep_text(traceback, path) else ""


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _write(
    spark: SparkSession,
    done: Judged,
    crashes: Mapping[str, _CrashedRun],
    out: Path,
    gap_ns: int,
    tell: Callable[[str], None],
) -> None:
    sources, operations = done.staged.sources, done.staged.tables["operations"]
    tell("verdicts and findings")
    verdicts = done.keys.select("run", *VERDICTS.names)
    findings = reduce(
        DataFrame.unionAll,
        (_findings(done.keys), _findings(done.checks), violated(spark, sources)),
    ).where(~F.col("run").isin(_discounted(sources)))
    write(verdicts, out, "verdicts")
    write(findings.sortWithinPartitions("run", "check", "operation_index"), out, "findings")
    tell("faults, phases, availability")
    every = {**sources, **{run: one.source for run, one in crashes.items()}}
    known = facts(spark, every, crashes)
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
    notes = notes.unionAll(_crashed_keys(spark, done))
    whole_runs = [{"run": run, "note": one.note} for run, one in crashes.items()]
    notes = notes.unionAll(notes_of(spark, whole_runs))
    whole = runs(known, verdicts, findings, notes, tally, extents).persist()
    write_small(whole, out, "runs", ["run"])
    write_small(trend(whole, tally, phases, availability), out, "trend", ["series", "place"])


def _discounted(sources: Mapping[str, Source]) -> list[str]:
    """Return the runs of which no finding counts, as in `checkers.judge.assembly`."""
    return [run for run, one in sources.items() if one.facts and one.facts.is_discounted]


def _findings(found: DataFrame) -> DataFrame:
    each = found.select("run", F.explode("findings").alias("finding"))
    return each.select("run", *(F.col("finding")[name].alias(name) for name in FINDINGS.names))


def _crashes(checks: DataFrame) -> DataFrame:
    note = F.concat(F.col("check"), F.lit(" crashed: "), F.col("crash"))
    return checks.where(F.col("crash").isNotNull()).select("run", note.alias("note"))
