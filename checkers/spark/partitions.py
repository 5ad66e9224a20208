"""Judges long partitions of the model `log` by ranges of their offsets.

The workers cut the operations into pieces, which lie in files of the stage, and judge each range of
each partition from these files. Only small facts pass through Java and come to the driver: the
places of the pieces, the sends without an offset and the records of these sends. However hot a
partition is, no task holds more than a range or a part of the history's file.
"""

import pickle
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know
from pyspark.sql.pandas.types import from_arrow_schema

from kraftproof.checkers.logs.declared import is_loss_declared
from kraftproof.checkers.logs.model import Log, has_own_form
from kraftproof.checkers.logs.reading.facts import Ints, Polls, Sends, joined
from kraftproof.checkers.logs.reading.forms import FUNCTIONS
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules.positions import Polled
from kraftproof.checkers.logs.rules.problems import Problems
from kraftproof.checkers.logs.split import pieces as kinds
from kraftproof.checkers.logs.split import resolution
from kraftproof.checkers.logs.split.orders import is_ordered
from kraftproof.checkers.logs.split.pieces import OF_KEY, RANGE, Gaps, Piece, frames_of
from kraftproof.checkers.logs.split.ranges import Places
from kraftproof.checkers.sources import Source
from kraftproof.checkers.spark import partition_workers as workers
from kraftproof.checkers.spark import piece_files
from kraftproof.checkers.spark.partition_verdicts import Whole, operations_path, verdict_on
from kraftproof.checkers.spark.partition_workers import GROUPS, PIECES, RANGES, RESULTS, Place
from kraftproof.checkers.spark.piece_files import Filed
from kraftproof.checkers.spark.staging import Staged
from kraftproof.checkers.spark.workers import run_folder
from kraftproof.checkers.verdict import KeyVerdict

SPLIT_ROWS: Final = 500_000
"""Operations of a run from which its long partitions are split."""
SPLIT_KEY_ROWS: Final = 100_000
"""Operations of a long partition; shorter ones are judged whole, each by one worker."""
CUT_ROWS: Final = 250_000
"""Operations that a task cuts, about, if row groups are smaller."""
_FIRST_ROWS: Final = 1_000
_MOST_TASKS: Final = 10_000
Keys = Mapping[Place, int]
"""Operations by run and partition."""


class Split(NamedTuple):
    """The verdicts on partitions by run, and the partitions that can't be split."""

    verdicts: list[tuple[str, KeyVerdict]]
    odd: list[Place]


def splittable(staged: Staged) -> dict[Place, int]:
    """Return the number of operations of each long partition of long runs of the model `log`."""
    return {
        (run, key): n
        for run, plan in staged.plans.items()
        if plan.model == Log.name and staged.sizes[run] > SPLIT_ROWS and _has_own_form(staged, run)
        for key, n in _keys(operations_path(staged, run)).items()
        if n > SPLIT_KEY_ROWS
    }


def passes_java(source: Source) -> bool:
    """Return whether most operations of a history will likely pass through Java.

    Those of long partitions do not: the workers read them from the file. A look at the first
    operations is enough, since the answer only decides how Java is started.
    """
    if source.model is not None and source.model.name != Log.name:
        return True
    try:
        with pq.ParquetFile(source.history) as file:
            rows = file.metadata.num_rows
            first = next(file.iter_batches(_FIRST_ROWS, columns=["f", "key"]), None)
    except (OSError, pa.ArrowException):
        return True
    if first is None or set(first.schema.names) != {"f", "key"}:
        return True
    if not FUNCTIONS.issuperset(first.column("f").unique().to_pylist()):
        return True
    return bool(len(first.column("key").unique()) * SPLIT_KEY_ROWS > rows)


def _has_own_form(staged: Staged, run: str) -> bool:
    with pq.ParquetFile(operations_path(staged, run)) as file:
        some = file.iter_batches(_FIRST_ROWS, columns=["f", "input"])
        shown = (has_own_form(pa.Table.from_batches([one])) for one in some)
        return next((is_own for is_own in shown if is_own is not None), False)


def _keys(path: Path) -> Counter[str]:
    """Return the number of operations of each key of a file."""
    found: Counter[str] = Counter()
    with pq.ParquetFile(path, read_dictionary=["key"]) as file:
        for batch in file.iter_batches(columns=["key"], use_threads=False):
            column = batch.column("key")
            counts = np.bincount(column.indices.to_numpy(), minlength=len(column.dictionary))
            found.update(dict(zip(column.dictionary.to_pylist(), counts.tolist(), strict=True)))
    return found


def judge_partitions(spark: SparkSession, staged: Staged, keys: Keys) -> Split:
    """Return the verdict on each of some partitions.

    Raises:
        PySparkException, Py4JError: the job failed.
    """
    cut = _cut(spark, staged, keys)
    odd = [place for place, one in cut.items() if one.is_odd]
    whole = {place: one for place, one in cut.items() if not one.is_odd}
    shared = workers.Shared(
        bounds={
            place: resolution.bounds_of(
                frames_of(one.pieces, kinds.COVERS, Polls),
                is_declared=is_loss_declared(staged.plans[place[0]].options),
            )
            for place, one in whole.items()
        },
        values={place: one.values for place, one in whole.items()},
    )
    job = _Job(spark, staged.folder, shared, whole)
    found = job.problems()
    verdicts = [
        (place[0], verdict_on(staged, place, job.facts(place), found[place])) for place in whole
    ]
    return Split(verdicts, sorted(odd))


@dataclass(slots=True)
class _Partition:
    """The pieces of one partition: those of the whole, and the places of the others, by range."""

    pieces: list[Piece] = field(default_factory=list)
    ranges: dict[int, list[Filed]] = field(default_factory=lambda: defaultdict(list))
    runs: set[str] = field(default_factory=set)

    @property
    def is_odd(self) -> bool:
        return len(self.runs) > 1 or any(one.kind == kinds.ODD for one in self.pieces)

    @property
    def values(self) -> str:
        return next(iter(self.runs), "")

    def count(self, kind: str) -> int:
        return sum(one.n for one in self.pieces if one.kind == kind)


def _cut(spark: SparkSession, staged: Staged, keys: Keys) -> dict[Place, _Partition]:
    """Return the pieces of some partitions; their bytes are in files of the stage."""
    by_run: dict[str, set[str]] = defaultdict(set)
    for run, key in keys:
        by_run[run].add(key)
    rows = [row for run in by_run for row in _groups(run, operations_path(staged, run).resolve())]
    numbered = [{**row, "task": task} for task, row in enumerate(rows)]
    groups = spark.createDataFrame(pa.Table.from_pylist(numbered, schema=GROUPS))
    cut = workers.cut(staged.folder, RANGE, by_run)
    done = groups.repartitionById(len(rows), F.col("task")).mapInArrow(
        cut, from_arrow_schema(PIECES)
    )
    found = {place: _Partition() for place in keys}
    for row in done.collect():
        run = row["run"]
        of_keys = []
        for one in pickle.loads(bytes(row["data"])):  # noqa: S301 made by our own workers
            partition = found[run, one.key]
            if one.values:
                partition.runs.add(one.values)
            if one.part == OF_KEY:
                of_keys.append(one)
            else:
                partition.ranges[one.part].append(one)
        for piece in piece_files.read(of_keys, run_folder(staged.folder, run)):
            found[run, piece.key].pieces.append(piece)
    return found


def _groups(run: str, path: Path) -> Iterator[dict[str, object]]:
    """Yield the tasks that cut a file: row groups, small ones together."""
    metadata = pq.read_metadata(path)
    first = rows = 0
    for group in range(metadata.num_row_groups):
        rows += metadata.row_group(group).num_rows
        if rows >= CUT_ROWS or group + 1 == metadata.num_row_groups:
            yield {"run": run, "path": str(path), "first": first, "after": group + 1}
            first, rows = group + 1, 0


@dataclass(slots=True)
class _Job:
    """Judges the ranges of partitions, in one pass, or in two if an order may be broken."""

    spark: SparkSession
    stage: Path
    shared: workers.Shared
    partitions: Mapping[Place, _Partition]
    firsts: Mapping[Place, Mapping[int, Places]] = field(init=False)

    def facts(self, place: Place) -> Whole:
        """Return the facts on a whole partition, after the passes."""
        one = self.partitions[place]
        return Whole(
            operations=one.count(kinds.COUNT),
            is_vacuous=one.count(kinds.SUCCEEDED) == 0,
            is_any_acked=any(each.is_any_acked for each in self.firsts[place].values()),
            is_whole=self.shared.bounds[place].cover.is_whole,
            values=self._values(place),
            states=kinds.rows_of(one.pieces),
        )

    def problems(self) -> dict[Place, list[Problems]]:
        """Return the problems of each partition."""
        passed = self._passed(workers.places(self.shared), self.partitions)
        self.firsts = {place: passed.get(place, {}) for place in self.partitions}
        elsewhere = self._elsewhere()
        found: dict[Place, list[Problems]] = {}
        contexts: dict[tuple[str, str, int], resolution.Context] = {}
        unordered = set()
        for place, one in self.partitions.items():
            firsts, bounds = self.firsts[place], self.shared.bounds[place]
            sends, is_home = elsewhere.get(place, (Sends.empty(), np.zeros(0, dtype=np.int64)))
            resolved, problems = resolution.resolve(
                joined([firsts[part].left for part in sorted(firsts)], Polled),
                joined([each.left_polled for each in firsts.values()], Polled),
                frames_of(one.pieces, kinds.LOOSE, Sends),
                sends,
                is_home,
                bounds,
            )
            problems += resolution.backwards(frames_of(one.pieces, kinds.BACKWARDS, Gaps))
            problems += [each for places in firsts.values() for each in places.problems]
            found[place] = problems
            facts = {part: each.facts() for part, each in firsts.items()}
            if not is_ordered(facts, resolved):
                unordered.add(place)
                context = resolution.contexts(firsts, resolved, self._values(place), RANGE)
                contexts |= {(*place, part): each for part, each in context.items()}
        if unordered:
            sent = self.spark.sparkContext.broadcast(contexts)
            orders = self._passed(workers.orders(self.shared, sent), unordered)
            for place, by_part in orders.items():
                found[place] += [one for problems in by_part.values() for one in problems]
            sent.unpersist()
        return found

    def _values(self, place: Place) -> Values:
        return Values(run=self.shared.values[place])

    def _passed(self, judge: workers.Pass, wanted: Container[Place]) -> dict[Place, dict[int, Any]]:
        """Return the result of a pass for each range, by partition."""
        rows = [
            {"run": run, "key": key, "part": part, "data": pickle.dumps(filed)}
            for (run, key), one in self.partitions.items()
            if (run, key) in wanted
            for part, filed in sorted(one.ranges.items())
        ]
        if not rows:
            return {}
        tasks = min(len(rows), _MOST_TASKS)
        numbered = [{**row, "task": place % tasks} for place, row in enumerate(rows)]
        ranges = self.spark.createDataFrame(pa.Table.from_pylist(numbered, schema=RANGES))
        function = workers.passed(self.stage, judge)
        done = ranges.repartitionById(tasks, F.col("task")).mapInArrow(
            function, from_arrow_schema(RESULTS)
        )
        found: dict[Place, dict[int, Any]] = defaultdict(dict)
        for row in done.collect():
            result = pickle.loads(bytes(row["data"]))  # noqa: S301 made by our own workers
            found[row["run"], row["key"]][row["part"]] = result
        return found

    def _elsewhere(self) -> dict[Place, tuple[Sends, Ints]]:
        """Return the acknowledged sends of leftovers that no send without an offset explains."""
        wanted = {}
        for place, one in self.partitions.items():
            firsts = self.firsts[place].values()
            left = [part for each in firsts for part in (each.left, each.left_polled)]
            values = resolution.unexplained(left, frames_of(one.pieces, kinds.LOOSE, Sends))
            if len(values):
                wanted[place] = values
        found = {}
        passed = self._passed(workers.homes(self.shared, wanted), wanted) if wanted else {}
        for place, by_part in passed.items():
            sends = joined([one[0] for one in by_part.values()], Sends)
            found[place] = sends, np.concatenate([one[1] for one in by_part.values()])
        return found
