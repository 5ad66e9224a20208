"""Reads a history that is a Parquet table of operations, ours or somebody else's.

A table with a row for each event is read, too (`checkers.history.read.parquet_events`).

A table is a file, or a folder of them as Spark writes it. One with another `schema_version` than
ours is refused, one without any is read if it has the columns; `index`, times, `node` and `error`
may be missing. The reader checks rules that hold for every JSON history by its form: no operation
completes before it began, no two events have the same index, and no process has two open
operations.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.history.lines import HistoryError
from kraftproof.checkers.history.read.canonical import canonical
from kraftproof.checkers.history.read.parquet_events import (
    EVENT_COLUMNS,
    is_of_events,
    operations_of_events,
)
from kraftproof.checkers.history.schema import OPERATION_STATUSES, OPERATIONS, SCHEMA_VERSION
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.history.unpacking import UNREADABLE, open_unpacked

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_OPTIONAL: Final = ("index", "invoke_time", "complete_time", "node", "error")
_NEEDED: Final = tuple(name for name in OPERATIONS.names if name not in _OPTIONAL)
_NEVER: Final = np.iinfo(np.int64).max
SUFFIX: Final = ".parquet"
_MAGIC: Final = b"PAR1"
_WANTED: Final = (
    f": a row is an operation ({', '.join(_NEEDED)})"
    f" or an event ({', '.join(EVENT_COLUMNS)}, value)"
)


def is_table_folder(path: Path) -> bool:
    """Return whether a folder is one table in several files, by its name or by theirs."""
    files = _files(path) if path.is_dir() else []
    if not files:
        return False
    is_observed = path.suffix == SUFFIX or files[0].name.startswith("part-")
    return is_observed or os.access(path / "_SUCCESS", os.F_OK)


def is_operations(path: Path) -> bool:
    """Return whether a file or a folder holds a table of operations, or may be meant to.

    An unreadable file is included, so that its reader reports the reason; the files in a table's
    folder are not separate tables.
    """
    if is_table_folder(path.parent):
        return False
    try:
        names = _opened(_files(path)[0]).schema_arrow.names
        return is_of_events(names) or set(names) >= set(_NEEDED)
    except UNREADABLE:
        return True


def _files(path: Path) -> list[Path]:
    return sorted(path.glob(f"[!._]*{SUFFIX}")) if path.is_dir() else [path]


def parquet_operations(path: Path) -> pa.Table:
    """Return the operations of a Parquet file, as its rows come.

    Raises: HistoryError: the table is no history; the message names file, row and column.
    """
    rows = _read(path)
    if is_of_events(rows.column_names):
        return operations_table(operations_of_events(path, rows))
    table = _with_columns(path, rows)
    for check in (_require_values, _require_order, _require_apart, _require_one_open):
        check(path, table)
    for name in ("input", "output"):
        place = table.column_names.index(name)
        texts = canonical(path, table.column(name), name)
        table = table.set_column(place, OPERATIONS.field(name), texts)
    pa.default_memory_pool().release_unused()  # the buffers of the decompression
    return table


def _read(path: Path) -> pa.Table:
    parts = []
    for file in _files(path):
        try:
            parts.append(_opened(file).read())
        except UNREADABLE as error:
            reason = (str(error).splitlines() or [""])[0]
            raise HistoryError(f"{file}: not a readable Parquet file: {reason}") from error
    try:
        table = pa.concat_tables(parts)
    except (pa.ArrowException, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise HistoryError(f"{path}: its files are of several tables: {reason}") from error
    version = (table.schema.metadata or {}).get(b"schema_version", b"none").decode(errors="replace")
    if version not in {"none", str(SCHEMA_VERSION)}:
        raise HistoryError(f"{path}: schema_version is {version}, not {SCHEMA_VERSION}")
    return table


def _opened(file: Path) -> "ParquetFile":
    """Open a Parquet file; a packed file is unpacked into memory."""
    from pyarrow.parquet import ParquetFile  # most checks need none of it

    with file.open("rb") as plain:
        is_packed = plain.read(len(_MAGIC)) != _MAGIC
    if not is_packed:
        return ParquetFile(file)
    with open_unpacked(file) as unpacked:
        return ParquetFile(pa.BufferReader(unpacked.read()))


def _with_columns(path: Path, table: pa.Table) -> pa.Table:
    """Return the columns of OPERATIONS, with defaults for missing columns."""
    named = [name for name in table.column_names if name in OPERATIONS.names]
    twice = [name for name in named if named.count(name) > 1]
    if twice:
        raise HistoryError(f"{path}: column {twice[0]} is there twice")
    columns = {name: table.column(name) for name in named}
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        raise HistoryError(f"{path}: column {missing[0]} is missing{_WANTED}")
    if "index" not in columns:
        columns["index"] = pc.subtract(pc.rank(table.column("invoke_index")), pa.scalar(1))
    filled = []
    for field in OPERATIONS:
        column = columns.get(field.name, pa.nulls(len(table), field.type))
        try:
            if pa.types.is_timestamp(column.type):
                column = pc.cast(column, pa.timestamp("ns", column.type.tz))
            filled.append(pc.cast(column, field.type))
        except (pa.ArrowException, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise HistoryError(f"{path}: column {field.name}: {reason}") from error
    return pa.table(filled, schema=OPERATIONS)


def _require_values(path: Path, table: pa.Table) -> None:
    for field in OPERATIONS:
        if not field.nullable:
            _refuse(path, table, pc.is_null(table.column(field.name)), field.name, "is null")
    status = table.column("status")
    known = pc.is_in(status, pa.array(OPERATION_STATUSES))
    _refuse(path, table, pc.invert(known), "status", "is none of ok, fail and info")
    unanswered = pc.and_(pc.equal(status, "ok"), pc.is_null(table.column("complete_index")))
    _refuse(path, table, unanswered, "complete_index", "is null, but the status is ok")


def _require_apart(path: Path, table: pa.Table) -> None:
    """Require that no two events, and no two operations, have the same number."""
    complete = table.column("complete_index")
    done = complete.drop_null().to_numpy()
    if done.max(initial=0) == _NEVER:
        is_never = pc.fill_null(pc.equal(complete, _NEVER), fill_value=False)
        _refuse(path, table, is_never, "complete_index", "stands for no event")
    events = np.concatenate([_numbers(table, "invoke_index"), done])
    for numbers, name in (
        (_numbers(table, "index"), "index"),
        (events, "invoke_index or complete_index"),
    ):
        if not _are_distinct(numbers):
            order = np.argsort(numbers, kind="stable")
            place = int(np.flatnonzero(np.diff(numbers[order]) == 0)[0])
            rows = np.arange(len(table))
            row = np.concatenate([rows, rows[complete.is_valid().to_numpy()]])[order]
            raise HistoryError(
                f"{path}: row {row[place + 1]}: field {name}: {numbers[order[place]]} is that of"
                f" row {row[place]} as well"
            )


def _are_distinct(numbers: NDArray[np.int64]) -> bool:
    """Return whether no number is there twice; without sorting where they are close together."""
    if len(numbers) == 0:
        return True
    low, high = int(numbers.min()), int(numbers.max())
    if high - low < 4 * len(numbers):
        return bool(np.bincount(numbers - low).max() == 1)
    return bool(np.all(np.diff(np.sort(numbers)) > 0))


def _require_order(path: Path, table: pa.Table) -> None:
    for name, first in (("complete_index", "invoke_index"), ("complete_time", "invoke_time")):
        compare = pc.less_equal if name == "complete_index" else pc.less
        is_before = pc.fill_null(compare(table.column(name), table.column(first)), fill_value=False)
        _refuse(path, table, is_before, name, f"is before {first}")


def _require_one_open(path: Path, table: pa.Table) -> None:
    process, invoke = _numbers(table, "process"), _numbers(table, "invoke_index")
    complete = pc.fill_null(table.column("complete_index"), _NEVER).to_numpy()
    order = _by_process(process, invoke)
    is_open = (process[order][1:] == process[order][:-1]) & (
        complete[order][:-1] >= invoke[order][1:]
    )
    if np.any(is_open):
        place = int(np.flatnonzero(is_open)[0])
        first, second = int(order[place]), int(order[place + 1])
        one, other = table.column("f")[first].as_py(), table.column("f")[second].as_py()
        raise HistoryError(
            f"{path}: row {second}: field process: process {process[second]} invokes {other},"
            f" but its {one} of row {first} is open"
        )


def _by_process(process: NDArray[np.int64], invoke: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows by process, and those of a process by invocation."""
    is_short = process.min(initial=0) >= 0 and process.max(initial=0) <= np.iinfo(np.uint16).max
    if is_short and (np.diff(invoke) > 0).all():
        return np.argsort(process.astype(np.uint16), kind="stable")  # NumPy sorts these by radix
    return np.lexsort((invoke, process))


def _numbers(table: pa.Table, name: str) -> NDArray[np.int64]:
    column: NDArray[np.int64] = table.column(name).to_numpy()
    return column


def _refuse(path: Path, table: pa.Table, is_wrong: pa.ChunkedArray, name: str, what: str) -> None:
    row = pc.index(is_wrong, pa.scalar(value=True)).as_py()
    if row >= 0:
        value = table.column(name)[row].as_py()
        shown = "" if value is None else f"{value} "
        raise HistoryError(f"{path}: row {row}: field {name}: {shown}{what}")
