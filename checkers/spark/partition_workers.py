"""The work of a Spark worker on parts of partitions. No pyspark here: Arrow in, Arrow out."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
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
from kraftproof.checkers.spark.workers import GroupFunction, MapFunction

TASKS: Final = pa.schema(
    [
        required("run", pa.string()),
        required("path", pa.string()),
        required("group", pa.int64()),
        required("task", pa.int32()),
    ]
)
"""One row for each row group of a history's file."""
PIECES: Final = pa.schema(
    [
        required("run", pa.string()),
        required("key", pa.string()),
        required("part", pa.int64()),
        required("kind", pa.string()),
        required("data", pa.binary()),
        required("n", pa.int64()),
        required("values", pa.string()),
    ]
)
"""One row for each piece of a partition; `values` is the end of its values' texts."""
RESULTS: Final = pa.schema(
    [
        required("run", pa.string()),
        required("key", pa.string()),
        required("part", pa.int64()),
        required("data", pa.binary()),
    ]
)
"""One row for each range: the pickled result of a pass."""
BATCH: Final = 16_384
"""Operations that are cut at a time; a poll may have thousands of records."""

Place = tuple[str, str]
"""Run and partition."""
RangePlace = tuple[str, str, int]
"""Run, partition and range."""


class Shared(NamedTuple):
    """The facts on whole partitions that the passes need, by run and partition."""

    bounds: Mapping[Place, Bounds]
    values: Mapping[Place, str]


class Broadcast(Protocol):
    """A value that Spark sends to each worker once."""

    @property
    def value(self) -> object:
        """Return the value."""
        ...


def cut(size: int) -> MapFunction:
    """Return the function that cuts the operations of some row groups into pieces.

    Args:
        size: the offsets of a range.
    """

    def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.to_pylist():
                for rows in _parts(task["path"], task["group"]):
                    yield _batch(task["run"], list(pieces_of(rows, size)))

    return pieces


def _parts(path: str, group: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        names = OPERATIONS.names
        for part in file.iter_batches(BATCH, [group], columns=names, use_threads=False):
            yield pa.Table.from_batches([part])


def _batch(run: str, found: list[Piece]) -> pa.RecordBatch:
    columns = [[run] * len(found), *map(list, zip(*found, strict=True))]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, PIECES.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PIECES)


def _pieces(rows: pa.Table) -> list[Piece]:
    return [
        Piece(row["key"], row["part"], row["kind"], row["data"], row["n"], row["values"])
        for row in rows.to_pylist()
    ]


def _group(group: tuple[pa.Scalar, ...]) -> RangePlace:
    run, key, part, _ = (one.as_py() for one in group)
    return str(run), str(key), int(part)


def _result(place: RangePlace, result: object) -> pa.Table:
    columns = [[one] for one in (*place, pickle.dumps(result))]
    return pa.Table.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, RESULTS.types, strict=True)],
        schema=RESULTS,
    )


def places(shared: Shared) -> GroupFunction:
    """Return the function of the first pass over a range."""

    def judge(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        run, key, part = _group(group)
        values = Values(run=shared.values[run, key])
        found = ranges.judge_places(_pieces(rows), shared.bounds[run, key], values)
        return _result((run, key, part), found)

    return judge


def orders(shared: Shared, contexts: Broadcast) -> GroupFunction:
    """Return the function of the second pass; `contexts` are by run, partition and range."""

    def judge(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        place = _group(group)
        run, key, _ = place
        known = contexts.value
        assert isinstance(known, dict)
        context: Context = known[place]
        values = Values(run=shared.values[run, key])
        found = ranges.judge_order(_pieces(rows), shared.bounds[run, key], values, *context)
        return _result(place, found)

    return judge


def homes(shared: Shared, wanted: Mapping[Place, Ints]) -> GroupFunction:
    """Return the function that looks up the sends of some values."""

    def find(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        run, key, part = _group(group)
        found = ranges.homes(_pieces(rows), shared.bounds[run, key], wanted[run, key])
        return _result((run, key, part), found)

    return find
