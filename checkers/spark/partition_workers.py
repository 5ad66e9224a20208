"""The work of a Spark worker on parts of partitions. No pyspark here: Arrow in, Arrow out."""

import pickle
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from kraftproof.checkers.history.schema import OPERATIONS, required
from kraftproof.checkers.logs.reading.facts import Ints
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.split import ranges
from kraftproof.checkers.logs.split.pieces import Piece, pieces_of
from kraftproof.checkers.logs.split.ranges import Bounds
from kraftproof.checkers.logs.split.resolution import Context
from kraftproof.checkers.spark import piece_files
from kraftproof.checkers.spark.piece_files import Filed
from kraftproof.checkers.spark.workers import MapFunction, run_folder

GROUPS: Final = pa.schema(
    [
        required("run", pa.string()),
        required("path", pa.string()),
        required("first", pa.int64()),
        required("after", pa.int64()),
        required("task", pa.int32()),
    ]
)
"""One row for some neighbouring row groups of a history's file."""
PIECES: Final = pa.schema([required("run", pa.string()), required("data", pa.binary())])
"""One row for each row of GROUPS: the pickled places of its pieces."""
RANGES: Final = pa.schema(
    [
        required("run", pa.string()),
        required("key", pa.string()),
        required("part", pa.int64()),
        required("data", pa.binary()),
        required("task", pa.int32()),
    ]
)
"""One row for each range: the pickled places of its pieces."""
RESULTS: Final = pa.schema(
    [
        required("run", pa.string()),
        required("key", pa.string()),
        required("part", pa.int64()),
        required("data", pa.binary()),
    ]
)
"""One row for each range: the pickled result of a pass."""
_BATCH: Final = 16_384
_CUT_ROWS: Final = 65_536
_CUT_BYTES: Final = 64 << 20
"""Operations that are cut at a time; a poll may have thousands of records."""

Place = tuple[str, str]
"""Run and partition."""
RangePlace = tuple[str, str, int]
"""Run, partition and range."""
Pass = Callable[[RangePlace, list[Piece]], object]
"""Judges the pieces of a range."""


class Shared(NamedTuple):
    """The facts on whole partitions that the passes need, by run and partition."""

    bounds: Mapping[Place, Bounds]
    values: Mapping[Place, str]

    def values_of(self, place: RangePlace) -> Values:
        """Return the numbering of a partition's values."""
        return Values(run=self.values[place[:2]])


class Broadcast(Protocol):
    """A value that Spark sends to each worker once."""

    @property
    def value(self) -> object:
        """Return the value."""
        ...


def cut(stage: Path, size: int, keys: Mapping[str, Container[str]]) -> MapFunction:
    """Return the function that cuts the operations of some row groups into pieces.

    Args:
        stage: where the pieces are written.
        size: the offsets of a range.
        keys: the partitions to cut, by run.
    """

    def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.to_pylist():
                run = task["run"]
                parts = _parts(task["path"], list(range(task["first"], task["after"])))
                made = (one for rows in parts for one in pieces_of(rows, size, keys[run]))
                filed = list(piece_files.written(made, run_folder(stage, run)))
                row = {"run": run, "data": pickle.dumps(filed)}
                yield pa.RecordBatch.from_pylist([row], schema=PIECES)

    return pieces


def _parts(path: str, groups: list[int]) -> Iterator[pa.Table]:
    """Yield some operations at a time: few, if they are large."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    with pq.ParquetFile(path) as file:
        names = OPERATIONS.names
        for part in file.iter_batches(_BATCH, groups, columns=names, use_threads=False):
            held.append(part)
            rows, size = rows + len(part), size + part.nbytes
            if rows >= _CUT_ROWS or size >= _CUT_BYTES:
                yield pa.Table.from_batches(held).combine_chunks()
                held, rows, size = [], 0, 0
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def passed(stage: Path, judge: Pass) -> MapFunction:
    """Return the function that reads the pieces of ranges and judges each range."""

    def pass_over(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                place = row["run"], row["key"], row["part"]
                filed: list[Filed] = pickle.loads(row["data"])  # noqa: S301 made by our own driver
                found = judge(place, piece_files.read(filed, run_folder(stage, place[0])))
                columns = [[one] for one in (*place, pickle.dumps(found))]
                yield pa.RecordBatch.from_arrays(
                    [pa.array(one, kind) for one, kind in zip(columns, RESULTS.types, strict=True)],
                    schema=RESULTS,
                )

    return pass_over


def places(shared: Shared) -> Pass:
    """Return the first pass."""

    def judge(place: RangePlace, pieces: list[Piece]) -> ranges.Places:
        return ranges.judge_places(pieces, shared.bounds[place[:2]], shared.values_of(place))

    return judge


def orders(shared: Shared, contexts: Broadcast) -> Pass:
    """Return the second pass; `contexts` are by run, partition and range."""

    def judge(place: RangePlace, pieces: list[Piece]) -> object:
        known = contexts.value
        assert isinstance(known, dict)
        context: Context = known[place]
        bounds, values = shared.bounds[place[:2]], shared.values_of(place)
        return ranges.judge_order(pieces, bounds, values, *context)

    return judge


def homes(shared: Shared, wanted: Mapping[Place, Ints]) -> Pass:
    """Return the pass that looks up the sends of some values."""

    def find(place: RangePlace, pieces: list[Piece]) -> object:
        return ranges.homes(pieces, shared.bounds[place[:2]], wanted[place[:2]])

    return find
