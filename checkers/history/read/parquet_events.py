"""Reads a Parquet table with a row for each event: process, type, f, and what else events have.

A value may be of any type. Texts are JSON if all of the column's are, else they stand for
themselves. Without an index, the rows are in real-time order. See `checkers.history.read.parquet`
for tables with one row an operation.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import NEMESIS, Event, Operation, pair, refused_event

EVENT_COLUMNS: Final = ("process", "type", "f")
_JSON_COLUMNS: Final = ("value", "key", "error")
_ROWS_CONVERTED: Final = 50_000


def is_of_events(names: Sequence[str]) -> bool:
    """Return whether a table with these columns has a row for each event."""
    return set(names) >= set(EVENT_COLUMNS) and "status" not in names


def operations_of_events(path: Path, table: pa.Table) -> Iterator[Operation]:
    """Yield the operations of a table of events.

    Raises: HistoryError: a row is no event, or contradicts earlier rows; the message names the row.
    """
    return pair(path, _events(path, table))


def _events(path: Path, table: pa.Table) -> Iterator[tuple[str, Event]]:
    names = [name for name in Event.__struct_fields__ if name in table.column_names]
    as_json = [name for name in _JSON_COLUMNS if name in names and _is_json(table.column(name))]
    decode = msgspec.json.Decoder().decode
    last = -1
    for row, fields in enumerate(_rows(_with_times(table.select(names)))):
        if fields["process"] in NEMESIS:
            continue
        for name in as_json:
            fields[name] = None if fields[name] is None else decode(str(fields[name]))
        event = _event(path, row, {"index": last + 1} | fields)
        last = event.index
        yield f" row {row}", event


def _with_times(table: pa.Table) -> pa.Table:
    """Return the table with its timestamps as nanoseconds."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            stamps = pc.cast(table.column(place), pa.timestamp("ns", field.type.tz))
            table = table.set_column(place, field.name, pc.cast(stamps, pa.int64()))
    return table


def _rows(table: pa.Table) -> Iterator[dict[str, object]]:
    for batch in table.to_batches(max_chunksize=_ROWS_CONVERTED):
        yield from batch.to_pylist()


def _event(path: Path, row: int, fields: dict[str, object]) -> Event:
    if isinstance(fields["process"], str) and fields["process"].lstrip("-").isdigit():
        fields["process"] = int(fields["process"])
    try:
        return msgspec.convert(fields, Event)
    except msgspec.ValidationError as error:
        raise refused_event(path, f" row {row}", error) from error


def _is_json(column: pa.ChunkedArray) -> bool:
    """Return whether all texts of a column are JSON."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    decode = msgspec.json.Decoder().decode
    try:
        for text in column.unique().drop_null().to_pylist():
            decode(text)
    except msgspec.DecodeError:
        return False
    return True
