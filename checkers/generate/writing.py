"""Writes generated chunks: JSON lines (plain or gzip) or the Parquet table of operations.

Both hold the same: reading the lines gives the table. Text is put together by Arrow, column by
column, so that a million operations take seconds. A file appears under its name only when complete.
"""

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.unfinished import whole_file
from kraftproof.checkers.verdict import CheckerInputError

SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".parquet")
_LINES: Final = 200_000
"""Number of lines written at a time."""

Write = Callable[[pa.Table], None]
"""Writes the operations of one chunk, in the order of their invocations."""


@contextmanager
def writer(path: Path) -> Iterator[Write]:
    """Open a file for chunks of operations, in the form that its suffix names.

    Raises:
        CheckerInputError: the suffix is none of SUFFIXES, or the file can't be written.
    """
    refuse_suffix(path)
    try:
        with whole_file(path) as part, _opened(part, path) as write:
            yield write
    except OSError as error:
        reason = str(error) if error.errno is None else os.strerror(error.errno)
        raise CheckerInputError(f"--out {path}: can't be written: {reason}") from error


def refuse_suffix(path: Path) -> None:
    """Raise CheckerInputError unless the path's suffix names a supported format."""
    if not path.name.endswith(SUFFIXES):
        known = ", ".join(SUFFIXES)
        raise CheckerInputError(f"--out {path}: a name that ends in one of {known} is expected")


@contextmanager
def _opened(partial: Path, path: Path) -> Iterator[Write]:
    if path.suffix == ".parquet":
        with pq.ParquetWriter(partial, table_schema("operations")) as tables:
            yield tables.write_table
        return
    with partial.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
                yield lambda table: _write_lines(packed, table)
        else:
            yield lambda table: _write_lines(raw, table)


def _write_lines(file: BinaryIO | gzip.GzipFile, table: pa.Table) -> None:
    """Write both events of each operation, in the order of the events' indexes."""
    completed = np.flatnonzero(table["complete_index"].is_valid().to_numpy())
    index = table["complete_index"].take(pa.array(completed)).to_numpy()
    order = np.argsort(np.concatenate([table["invoke_index"].to_numpy(), index]))
    for start in range(0, len(order), _LINES):
        events = order[start : start + _LINES]
        is_completion = events >= len(table)
        invoked = table.take(pa.array(events[~is_completion]))
        answered = table.take(pa.array(completed[events[is_completion] - len(table)]))
        lines = pa.concat_arrays(
            [
                _lines(invoked, "invoke_index", pa.scalar("invoke"), "input", "invoke_time"),
                _lines(answered, "complete_index", answered["status"], "output", "complete_time"),
            ]
        ).take(pa.array(np.argsort(np.argsort(is_completion, kind="stable"))))
        _, offsets, characters = lines.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)
        file.write(memoryview(characters)[: ends[len(lines)]])


def _lines(
    table: pa.Table, index: str, event_type: pa.ChunkedArray | pa.Scalar, value: str, time: str
) -> pa.Array:
    """Return a JSON line for each operation's invocation or completion: large_string[n]."""
    error: pa.ChunkedArray | str = ""
    if index == "complete_index":
        named = pc.binary_join_element_wise(',"error":"', table["error"], '"', "")
        error = pc.fill_null(named, "")
    pieces = [
        *('{"index":', _text(table[index]), ',"process":', _text(table["process"])),
        *(',"type":"', _large(event_type), '","f":"', table["f"], '","key":"', table["key"]),
        *('","value":', table[value], ',"time":', _text(table[time]), error, "}\n"),
    ]
    joined = pc.binary_join_element_wise(*map(_large, pieces), _large(""))
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def _text(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(numbers, pa.large_string())


def _large(text: str | pa.ChunkedArray | pa.Scalar) -> pa.ChunkedArray | pa.Scalar:
    """Return text whose offsets have 64 bits, as a chunk's lines may be over 2 GiB."""
    return pc.cast(pa.scalar(text) if isinstance(text, str) else text, pa.large_string())
