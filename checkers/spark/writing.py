"""Writes relations as tables of an analysis: OUT/NAME.parquet, a folder of parts.

The executors write their partitions to OUT, a path shared with the driver. A part that is written
twice, for a task was repeated, replaces itself.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from kraftproof.checkers.history.analysis_schema import ANALYSIS_TABLES, analysis_schema

_WRITTEN: Final = pa.schema([("part", pa.string()), ("rows", pa.int64())])


def remove_tables(out: Path) -> None:
    """Remove the files of an unfinished analysis."""
    for name in ANALYSIS_TABLES:
        shutil.rmtree(out / f"{name}.parquet", ignore_errors=True)


def write(relation: DataFrame, out: Path, name: str) -> int:
    """Write a relation, a part for each of its partitions, and returns the number of rows.

    Raises:
        OSError: the disk is full.
    """
    folder = out / f"{name}.parquet"
    folder.mkdir(parents=True)
    schema = from_arrow_schema(_WRITTEN)
    columns = analysis_schema(name).names
    parts = relation.select(*columns).mapInArrow(_part_writer(folder, name), schema)
    rows = [row["rows"] for row in parts.collect()]
    if None in rows:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    return sum(rows)


def write_small(relation: DataFrame, out: Path, name: str, order: Sequence[str]) -> int:
    """Write a relation of few rows as one part, in order, and returns the number of rows."""
    return write(relation.coalesce(1).sortWithinPartitions(*order), out, name)


def _part_writer(
    folder: Path, name: str
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def write_part(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        number = context.partitionId()
        schema = analysis_schema(name)
        unfinished = folder / f".{number:05d}-{context.taskAttemptId()}"
        rows = 0
        try:
            with pq.ParquetWriter(unfinished, schema) as writer:
                for batch in batches:
                    writer.write_table(pa.Table.from_batches([batch]).cast(schema))
                    rows += batch.num_rows
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            # Reported by a row, since Spark would log the traceback of an exception.
            yield pa.RecordBatch.from_pylist([{"part": f"{number:05d}", "rows": None}], _WRITTEN)
            return
        if rows or number == 0:  # one part at least, so that the table has its schema
            unfinished.replace(folder / f"part-{number:05d}.parquet")
        else:
            unfinished.unlink()
        yield pa.RecordBatch.from_pylist([{"part": f"{number:05d}", "rows": rows}], _WRITTEN)

    return write_part
