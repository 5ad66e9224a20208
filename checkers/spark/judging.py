"""Judges what was staged: the relations of verdicts and of what the run checks find.

A run with an unreadable value or a damaged table is a problem, reported in one line; the other runs
are still judged.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.guards.tally import Tally
from kraftproof.checkers.judge.assembly import checks_of
from kraftproof.checkers.sources import node_tables_there
from kraftproof.checkers.spark import relations
from kraftproof.checkers.spark.partitions import judge_partitions, splittable
from kraftproof.checkers.spark.relations import Wanted
from kraftproof.checkers.spark.rows import CHECKED, JUDGED, problem_of
from kraftproof.checkers.spark.slots import spread
from kraftproof.checkers.spark.staging import Staged, without
from kraftproof.checkers.verdict import CheckerInputError

SPARK_ERRORS: Final = (PySparkException, Py4JError)
_STAGED_FILE: Final = re.compile(r"/run=(\d{8})/[a-z]+\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The result of judging runs.

    Attributes:
        staged: the runs that could be judged.
        keys: see `checkers.spark.rows.JUDGED`; no row has a `problem`.
        checks: see `checkers.spark.rows.CHECKED`.
        tallies: of the operations of each run, all zero for a bare history.
        problems: by run, why the others could not.
    """

    staged: Staged
    keys: DataFrame
    checks: DataFrame
    tallies: Mapping[str, Tally]
    problems: Mapping[str, CheckerInputError]


def judge(spark: SparkSession, staged: Staged) -> Judged:
    """Judge every key of every run, and returns the relations, which are kept until dropped.

    Raises:
        PySparkException, Py4JError: the job failed for a reason that lies in no history.
    """
    problems: dict[str, CheckerInputError] = {}
    while staged.plans:
        try:
            keys = _keys(spark, staged)
            problems |= _unreadable(keys)
        except SPARK_ERRORS as error:
            problems |= _damaged(error, staged)
            staged = without(spark, staged, problems)
            continue
        judged = without(spark, staged, problems)
        return Judged(
            staged=judged,
            keys=keys.where(F.col("problem").isNull() & ~F.col("run").isin(sorted(problems))),
            checks=_checks(spark, judged).persist(),
            tallies=_tallies(judged),
            problems=problems,
        )
    nothing, unchecked = _no_rows(spark, JUDGED), _no_rows(spark, CHECKED)
    return Judged(staged=staged, keys=nothing, checks=unchecked, tallies={}, problems=problems)


def _keys(spark: SparkSession, staged: Staged) -> DataFrame:
    """Return the verdict and the findings of every key of every run that has a model, kept."""
    apart = splittable(staged)
    left = Counter({run: n for run, n in staged.sizes.items() if staged.plans[run].model})
    for (run, _), n in apart.items():
        left[run] -= n
    sizes = {run: n for run, n in staged.sizes.items() if left[run] > 0}
    wanted = F.col("run").isin(sorted(sizes))  # files of the other runs are not read
    slots = spread(spark, staged.tables["operations"].where(wanted), sizes, apart)
    if not apart:
        return relations.judged(slots, staged.plans, staged.folder).persist()
    split = judge_partitions(spark, staged, apart)
    rows = [{"run": run, **msgspec.to_builtins(one)} for run, one in split.verdicts]
    found = spark.createDataFrame(pa.Table.from_pylist(rows, schema=JUDGED))
    found = found.select(*JUDGED.names)
    if sizes or split.odd:
        whole = replace(slots, hot=(*slots.hot, *split.odd))
        found = found.unionAll(relations.judged(whole, staged.plans, staged.folder))
    return found.persist()


def _unreadable(keys: DataFrame) -> dict[str, CheckerInputError]:
    """Computes all keys, and returns the runs with a value that their model can't read."""
    unread = keys.where(F.col("problem").isNotNull()).groupBy("run")
    found = unread.agg(F.min("problem"), F.min_by("traceback", "problem"))
    try:
        return {row[0]: problem_of(row[1], row[2]) for row in found.collect()}
    except SPARK_ERRORS:
        keys.unpersist()
        raise


def _damaged(error: Exception, staged: Staged) -> dict[str, CheckerInputError]:
    """Return the run whose file Spark could not read to its end, or raises the error again."""
    place = _STAGED_FILE.search(str(error))
    if place is None or place[1] not in staged.plans:
        raise error
    plan = staged.plans[place[1]]
    return {place[1]: CheckerInputError(plan.damaged())}


def _checks(spark: SparkSession, staged: Staged) -> DataFrame:
    """Return the findings of the run checks, each in its runs."""
    wanted: Wanted = {}
    for run, source in staged.sources.items():
        there = frozenset({"operations", *node_tables_there(source)})
        for check in checks_of(source.model_name, there)[0]:
            wanted.setdefault(check, []).append(run)
    if not wanted:
        return _no_rows(spark, CHECKED)
    return relations.checked(wanted, dict(staged.tables), staged.plans)


def _tallies(staged: Staged) -> dict[str, Tally]:
    """Return the tally of each run; only runs whose harness says how they went are counted."""
    sources = staged.sources
    facts = {run: one.facts for run, one in sources.items() if one.facts and one.facts.span}
    tallies = dict.fromkeys(sources, Tally())
    if facts:
        for row in relations.tallied(staged.tables["operations"], facts).collect():
            fields = row.asDict()
            tallies[fields.pop("run")] = msgspec.convert(fields, Tally)
    return tallies


def _no_rows(spark: SparkSession, schema: pa.Schema) -> DataFrame:
    return spark.createDataFrame(schema.empty_table())
