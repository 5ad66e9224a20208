"""Moves rows between Python and the Parquet files of RUN/tables.

The module writes the tables declared by `checkers.history.schema`, in bounded batches, and refuses
to read other tables. The meaning of the rows is unknown here. pyarrow.parquet is imported only when
needed: most checks do not need it.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.checkers.history.operations import Operation, as_text
from kraftproof.checkers.history.schema import SCHEMA_VERSION, table_schema
from kraftproof.checkers.verdict import CheckerInputError

_BATCH_ROWS: Final = 50_000


def table_path(directory: Path, name: str) -> Path:
    """Return where a table lies in a directory of tables."""
    return directory / f"{name}.parquet"


def write_table(directory: Path, name: str, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write a table, replacing an old table, and return its path."""
    import pyarrow.parquet as pq

    schema = table_schema(name)
    path = _path_to_write(directory, name)
    remaining = iter(rows)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(remaining, _BATCH_ROWS)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    return path


def write_whole(directory: Path, name: str, table: pa.Table) -> Path:
    """Write an in-memory table, replacing an old table, and return its path."""
    import pyarrow.parquet as pq

    path = _path_to_write(directory, name)
    schema = table_schema(name)
    pq.write_table(table.select(schema.names).cast(schema), path, row_group_size=_BATCH_ROWS)
    return path


def _path_to_write(directory: Path, name: str) -> Path:
    """Make the directory of tables, and return where a table goes.

    Raises:
        OSError: the directory can't be made, or a folder has the table's name; pyarrow's own error
            has the path only in its text.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = table_path(directory, name)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return path


def read_table(directory: Path, name: str) -> pa.Table | None:
    """Return a table, or None if the directory lacks the table.

    Raises:
        CheckerInputError: the file is no such table, or one of another schema version.
    """
    path = table_path(directory, name)
    return read_table_file(path, name) if path.exists() else None


def read_table_file(path: Path, name: str) -> pa.Table:
    """Return the named table from a file.

    Raises:
        CheckerInputError: the file is no such table, or one of another schema version.
    """
    import pyarrow.parquet as pq

    wanted = table_schema(name)
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise CheckerInputError(f"{path}: not a readable Parquet file: {reason}") from error
    version = (table.schema.metadata or {}).get(b"schema_version", b"none").decode()
    if version != str(SCHEMA_VERSION):
        raise CheckerInputError(f"{path}: schema_version is {version}, not {SCHEMA_VERSION}")
    for field in wanted:
        if field.name in table.column_names:
            continue
        if not field.nullable:
            raise CheckerInputError(f"{path}: column {field.name} is missing")
        table = table.append_column(field, pa.nulls(len(table), field.type))
    try:
        return table.select(wanted.names).cast(wanted)
    except (pa.ArrowException, ValueError) as error:
        raise CheckerInputError(f"{path}: not a table of {name}: {error}") from error


def rows_of_key(path: Path, key: str) -> pa.Table:
    """Return the rows of one key of a table of operations, in the file's order.

    Memory holds them and a few batches of the others; row groups without the key are not read.

    Raises:
        OSError, pa.ArrowException: the file is damaged.
    """
    import pyarrow.parquet as pq

    names = table_schema("operations").names
    wanted = [("key", "=", key)]
    # One thread: the executor has a core for it. The path's RUN=… is no column of the file's.
    return pq.read_table(path, columns=names, filters=wanted, partitioning=None, use_threads=False)


def operation_rows(operations: Iterable[Operation]) -> Iterator[dict[str, object]]:
    """Yield the row of each operation."""
    encode = msgspec.json.Encoder().encode
    for operation in operations:
        row = msgspec.structs.asdict(operation)
        row["input"] = encode(operation.input).decode()
        row["output"] = encode(operation.output).decode()
        yield row


def fault_rows(events: Iterable[FaultEvent]) -> Iterator[dict[str, object]]:
    """Yield the row of each fault event."""
    for event in events:
        row = msgspec.structs.asdict(event)
        row["targets"] = as_text(event.targets)
        row["detail"] = None if event.detail is None else as_text(event.detail)
        yield row


def operations_table(operations: Iterable[Operation]) -> pa.Table:
    """Return operations as a table."""
    return pa.Table.from_pylist(list(operation_rows(operations)), table_schema("operations"))


def events_in(table: pa.Table) -> int:
    """Return the number of events of operations, without those that set initial values."""
    recorded = table.filter(pc.greater_equal(table.column("index"), 0))
    return 2 * len(recorded) - int(recorded.column("complete_index").null_count)


def operations_of(table: pa.Table) -> list[Operation]:
    """Return the operations of a table's rows, in the order of their invocations."""
    return sorted(iterate_rows(table), key=lambda operation: operation.index)


def iterate_rows(table: pa.Table) -> Iterator[Operation]:
    """Yield the operation of each row.

    Raises:
        ValueError: a row is no operation.
    """
    decode = msgspec.json.Decoder().decode
    for row in rows_of(table, *Operation.__struct_fields__):
        fields = dict(zip(Operation.__struct_fields__, row, strict=True))
        fields["input"] = decode(str(fields["input"]))
        fields["output"] = decode(str(fields["output"]))
        yield msgspec.convert(fields, Operation)


def rows_of(table: pa.Table, *columns: str) -> Iterator[tuple[object, ...]]:
    """Yield the values of some columns, row by row."""
    return zip(*(table.column(column).to_pylist() for column in columns), strict=True)
