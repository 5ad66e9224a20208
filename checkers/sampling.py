"""Samples a history to infer its model: a few operations of each function.

A sample is the first operations of each function, answered operations first. A table too long for
one process has the same sample as a table read whole.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows

SAMPLE: Final = 200
"""Number of sampled operations of each function, answered and unanswered separately."""
_GROUP: Final = "row group"


def sample_of(table: pa.Table) -> Iterator[Operation]:
    """Yield the first operations of each function, answered operations first."""
    is_ok = pc.equal(table.column("status"), "ok")
    for function in table.column("f").unique().to_pylist():
        is_called = pc.equal(table.column("f"), function)
        for chosen in (is_ok, pc.invert(is_ok)):
            rows = pc.indices_nonzero(pc.and_(is_called, chosen)).slice(0, SAMPLE)
            yield from iterate_rows(table.take(rows))


def sample_of_file(path: Path) -> Iterator[Operation]:
    """Yield the same of a Parquet file of operations, of which only a few row groups are read."""
    import pyarrow.parquet as pq  # most checks read no Parquet

    kept: list[pa.Table] = []
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=["index", "f", "status"])
            numbers = pa.array(np.full(len(rows), group), pa.int32())
            kept = [_first_of_each([*kept, rows.append_column(_GROUP, numbers)])]
        wanted = [
            file.read_row_group(group).filter(pc.is_in(pc.field("index"), one.column("index")))
            for one in kept
            for group in one.column(_GROUP).unique().to_pylist()
        ]
    if wanted:
        yield from sample_of(pa.concat_tables(wanted).sort_by("index"))


def _first_of_each(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows that may be in the sample of a file, by their indexes."""
    ordered = pa.concat_tables(tables).sort_by("index")
    is_ok = pc.equal(ordered.column("status"), "ok")
    parts = [
        ordered.filter(pc.and_(pc.equal(ordered.column("f"), function), chosen)).slice(0, SAMPLE)
        for function in ordered.column("f").unique().to_pylist()
        for chosen in (is_ok, pc.invert(is_ok))
    ]
    return pa.concat_tables(parts or [ordered]).combine_chunks()
