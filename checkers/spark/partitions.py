"""Judges long histories of the model `log`, each partition by ranges of its offsets.

Two passes over the ranges, with a scan of small facts between. The pieces of a range come to one
task by a shuffle of binary values: no task holds more than a range or a part of the file, however
hot a partition is. The driver holds the sends without an offset and the records of these sends.
"""

import pickle
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know
from pyspark.sql.pandas.types import from_arrow_schema

from kraftproof.checkers.findings import located_all
from kraftproof.checkers.history.schema import OPERATIONS
from kraftproof.checkers.history.tables import iterate_rows, table_path
from kraftproof.checkers.logs.declared import is_loss_declared
from kraftproof.checkers.logs.judge import reason_of
from kraftproof.checkers.logs.model import Log, has_own_form
from kraftproof.checkers.logs.reading.facts import Ints, Polls, Sends, joined
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules.positions import Polled
from kraftproof.checkers.logs.rules.problems import Problems, merged
from kraftproof.checkers.logs.split import pieces as kinds
from kraftproof.checkers.logs.split import resolution
from kraftproof.checkers.logs.split.pieces import OF_KEY, RANGE, Gaps, Piece, frames_of
from kraftproof.checkers.logs.split.ranges import Places
from kraftproof.checkers.logs.wording import findings_of
from kraftproof.checkers.spark import partition_workers as workers
from kraftproof.checkers.spark.partition_workers import PIECES, RESULTS, TASKS, Place, Shared
from kraftproof.checkers.spark.staging import Staged
from kraftproof.checkers.spark.workers import GroupFunction, run_folder
from kraftproof.checkers.verdict import KeyVerdict, Verdict, verdict_of_findings

SPLIT_ROWS: Final = 500_000
"""Operations of a run from which its partitions are split."""
_GROUP: Final = ("run", "key", "part", "task")
_MOST_TASKS: Final = 10_000
_PLACE: Final = pa.schema([("run", pa.string()), ("key", pa.string())])
_FIRST: Final = pa.schema([("run", pa.string()), ("key", pa.string()), ("first", pa.int64())])


class Split(NamedTuple):
    """The verdicts on partitions by run, and the partitions that can't be split."""

    verdicts: list[tuple[str, KeyVerdict]]
    odd: list[Place]


class _Partition(NamedTuple):
    """The pieces of a whole partition, and what the first pass found in its ranges."""

    pieces: list[Piece]
    places: dict[int, Places]

    @property
    def operations(self) -> int:
        return sum(one.n for one in self.pieces if one.kind == kinds.COUNT)


def splittable(staged: Staged) -> list[str]:
    """Return the long runs of the model `log` in the form with one partition a key."""
    return [
        run
        for run, plan in staged.plans.items()
        if plan.model == Log.name and staged.sizes[run] > SPLIT_ROWS and _has_own_form(staged, run)
    ]


def _path(staged: Staged, run: str) -> Path:
    return table_path(run_folder(staged.folder, run), "operations")


def _has_own_form(staged: Staged, run: str) -> bool:
    with pq.ParquetFile(_path(staged, run)) as file:
        first = next(file.iter_batches(1, columns=["input"]), None)
    return first is not None and has_own_form(pa.Table.from_batches([first]))


def judge_partitions(spark: SparkSession, staged: Staged, runs: Sequence[str]) -> Split:
    """Return the verdict on each partition of some runs.

    Raises:
        PySparkException, Py4JError: the job failed.
    """
    pieces = _pieces(spark, staged, runs).persist(StorageLevel.DISK_ONLY)
    try:
        return _judged(spark, staged, pieces)
    finally:
        pieces.unpersist()


def _spread(spark: SparkSession, pieces: DataFrame, tops: Mapping[Place, int]) -> DataFrame:
    """Return the pieces of ranges, each range in a task of its own."""
    rows, first = [], 0
    for (run, key), top in tops.items():
        rows.append({"run": run, "key": key, "first": first})
        first += top + 1
    tasks = max(1, min(first, _MOST_TASKS))
    begins = F.broadcast(spark.createDataFrame(pa.Table.from_pylist(rows, schema=_FIRST)))
    task = F.pmod(F.col("first") + F.col("part"), F.lit(tasks)).cast("int").alias("task")
    placed = pieces.join(begins, on=["run", "key"], how="inner").select(*PIECES.names, task)
    return placed.repartitionById(tasks, F.col("task"))


def _pieces(spark: SparkSession, staged: Staged, runs: Sequence[str]) -> DataFrame:
    rows = []
    for run in runs:
        path = _path(staged, run).resolve()
        groups = pq.read_metadata(path).num_row_groups
        rows += [{"run": run, "path": str(path), "group": group} for group in range(groups)]
    numbered = [{**row, "task": task} for task, row in enumerate(rows)]
    tasks = spark.createDataFrame(pa.Table.from_pylist(numbered, schema=TASKS))
    spread = tasks.repartitionById(len(rows), F.col("task"))
    return spread.mapInArrow(workers.cut(RANGE), from_arrow_schema(PIECES))


def _judged(spark: SparkSession, staged: Staged, pieces: DataFrame) -> Split:
    whole: dict[Place, list[Piece]] = defaultdict(list)
    for row in pieces.where(F.col("part") == OF_KEY).collect():
        data = bytes(row["data"])
        found = Piece(row["key"], OF_KEY, row["kind"], data, row["n"], row["values"])
        whole[row["run"], row["key"]].append(found)
    odd = {place for place, own in whole.items() if any(one.kind == kinds.ODD for one in own)}
    in_ranges = pieces.where(F.col("part") != OF_KEY)
    named = pieces.where(F.col("values") != "")
    by_place = named.groupBy("run", "key")
    texts = by_place.agg(F.min("values"), F.max("values"), F.max("part")).collect()
    odd |= {(row[0], row[1]) for row in texts if row[2] != row[3]}  # values of several runs
    options = {run: plan.options for run, plan in staged.plans.items()}
    shared = Shared(
        bounds={
            place: resolution.bounds_of(
                frames_of(own, kinds.COVERS, Polls),
                is_declared=is_loss_declared(options[place[0]]),
            )
            for place, own in whole.items()
            if place not in odd
        },
        values=dict.fromkeys(whole, "") | {(row[0], row[1]): row[3] for row in texts},
    )
    tops = {(row[0], row[1]): row[4] for row in texts if (row[0], row[1]) not in odd}
    kept = _spread(spark, in_ranges, tops)
    firsts = _passed(kept, workers.places(shared))
    partitions = {place: _Partition(whole[place], firsts.get(place, {})) for place in shared.bounds}
    return Split(_verdicts(spark, staged, kept, shared, partitions), sorted(odd))


def _passed(pieces: DataFrame, function: GroupFunction) -> dict[Place, dict[int, Any]]:
    """Return the result of a pass for each range, by partition."""
    done = pieces.groupBy(*_GROUP).applyInArrow(function, from_arrow_schema(RESULTS))
    found: dict[Place, dict[int, Any]] = defaultdict(dict)
    for row in done.collect():
        result = pickle.loads(bytes(row["data"]))  # noqa: S301 made by our own workers
        found[row["run"], row["key"]][row["part"]] = result
    return found


def _verdicts(
    spark: SparkSession,
    staged: Staged,
    pieces: DataFrame,
    shared: Shared,
    partitions: Mapping[Place, _Partition],
) -> list[tuple[str, KeyVerdict]]:
    elsewhere = _elsewhere(pieces, shared, partitions)
    contexts: dict[tuple[str, str, int], resolution.Context] = {}
    found: dict[Place, list[Problems]] = {}
    for place, one in partitions.items():
        values = Values(run=shared.values[place])
        sends, is_home = elsewhere.get(place, (Sends.empty(), np.zeros(0, dtype=np.int64)))
        resolved, problems = resolution.resolve(
            joined([each.left for each in one.places.values()], Polled),
            joined([each.left_polled for each in one.places.values()], Polled),
            frames_of(one.pieces, kinds.LOOSE, Sends),
            sends,
            is_home,
            shared.bounds[place],
        )
        problems += resolution.backwards(frames_of(one.pieces, kinds.BACKWARDS, Gaps))
        problems += [each for places in one.places.values() for each in places.problems]
        found[place] = problems
        for part, context in resolution.contexts(one.places, resolved, values, RANGE).items():
            contexts[*place, part] = context
    sent = spark.sparkContext.broadcast(contexts)
    for place, by_part in _passed(pieces, workers.orders(shared, sent)).items():
        for problems in by_part.values():
            found[place] += problems
    sent.unpersist()
    return [
        (place[0], _verdict(staged, place, one, shared, merged(found[place])))
        for place, one in partitions.items()
    ]


def _elsewhere(
    pieces: DataFrame, shared: Shared, partitions: Mapping[Place, _Partition]
) -> dict[Place, tuple[Sends, Ints]]:
    """Return the acknowledged sends of leftovers that no send without an offset explains."""
    wanted = {}
    for place, one in partitions.items():
        left = [part for each in one.places.values() for part in (each.left, each.left_polled)]
        values = resolution.unexplained(left, frames_of(one.pieces, kinds.LOOSE, Sends))
        if len(values):
            wanted[place] = values
    if not wanted:
        return {}
    rows = [{"run": run, "key": key} for run, key in wanted]
    mine = pieces.sparkSession.createDataFrame(pa.Table.from_pylist(rows, schema=_PLACE))
    chosen = pieces.join(F.broadcast(mine), on=["run", "key"], how="left_semi")
    found = {}
    for place, by_part in _passed(chosen, workers.homes(shared, wanted)).items():
        parts = [one for one in by_part.values() if isinstance(one, tuple)]
        sends = joined([one[0] for one in parts], Sends)
        found[place] = sends, np.concatenate([one[1] for one in parts])
    return found


def _verdict(
    staged: Staged, place: Place, one: _Partition, shared: Shared, found: list[Problems]
) -> KeyVerdict:
    run, key = place
    plan = staged.plans[run]
    findings = findings_of(key, found, Values(run=shared.values[place]))
    named = {each.operation_index for each in findings} - {None}
    if named:
        chosen = [("index", "in", sorted(one for one in named if one is not None))]
        rows = pq.read_table(
            _path(staged, run), columns=OPERATIONS.names, filters=chosen, partitioning=None
        )
        findings = located_all(findings, iterate_rows(rows), plan.options.faults)
    is_any_acked = any(each.is_any_acked for each in one.places.values())
    reason = reason_of(is_any_acked=is_any_acked, is_whole=shared.bounds[place].cover.is_whole)
    decided = verdict_of_findings(findings)
    is_unknown = decided is Verdict.VALID and reason is not None
    return KeyVerdict(
        key=key,
        model=Log.name,
        verdict=Verdict.UNKNOWN if is_unknown else decided,
        operations=one.operations,
        findings=tuple(findings),
        reason=reason,
    )
