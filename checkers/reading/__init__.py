"""Reads histories, in whatever form, into tables of operations (`checkers.schema.OPERATIONS`).

A form is one module here: JSON lines, Jepsen's EDN and logs, Parquet. It is told by the file's
name, and by its first line where the name says nothing. Not here: which folders to search
(`checkers.sources`), models, verdicts. The exact reader of JSON lines and the pairing of events are
`checkers.history`.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from checkers.history import (
    HistoryError,
    Operation,
    Validator,
    iterate_operations,
    open_lines,
    validated,
)
from checkers.reading.jepsen import edn_operations, is_log_line, log_operations
from checkers.reading.jsonl import batches_of_operations, json_batches
from checkers.reading.parquet import SUFFIX as PARQUET
from checkers.reading.parquet import is_operations, is_table_folder, parquet_operations
from checkers.schema import OPERATIONS
from checkers.tables import iterate_rows

_BY_LINE: Final[dict[str, Callable[[Path, Validator | None], Iterator[Operation]]]] = {
    "json": iterate_operations,
    "edn": edn_operations,
    "log": log_operations,
}
_SUFFIXES: Final = {".jsonl": "json", ".edn": "edn", ".log": "log", PARQUET: "parquet"}
_NOT_HISTORIES: Final = frozenset({"faults.jsonl", "trace.jsonl", "results.edn", "jepsen.log"})
"""What Kraftproof and Jepsen write beside a history."""


def operations_table_of(path: Path) -> pa.Table:
    """Returns the operations of a history in the order of their invocations.

    Raises:
        CheckerInputError: it can't be read; one line that names file, line and field.
    """
    return pa.Table.from_batches(operation_batches_of(path), OPERATIONS).sort_by("index")


def operation_batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    """Yields the operations of a history as they complete, at the end those that never did.

    A Parquet file is read whole, and comes as its rows do.

    Raises:
        CheckerInputError: it can't be read; one line that names file, line and field.
    """
    form = _form_of(path)
    if form == "json":
        return json_batches(path)
    if form == "parquet":
        return iter(parquet_operations(path).to_batches())
    return batches_of_operations(_BY_LINE[form](path, None))


def located_operations_of(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yields the operations one by one, so that one that is refused is named by file and line.

    Args:
        path: the history.
        validate: raises ValueError, naming the field, for an operation to refuse.

    Raises:
        CheckerInputError: it can't be read, or `validate` refused an operation.
    """
    form = _form_of(path)
    if form != "parquet":
        yield from _BY_LINE[form](path, validate)
        return
    for row, operation in enumerate(iterate_rows(parquet_operations(path))):
        yield validated(f"{path}: row {row}", operation, validate)


def is_history(path: Path) -> bool:
    """Says whether what was found in a folder is a history, by its name and how it begins."""
    if path.is_dir():
        is_closed = not os.access(path, os.R_OK | os.X_OK, effective_ids=True)  # told when read
        return is_closed or (is_table_folder(path) and is_operations(path))
    if path.suffix == PARQUET:
        return is_operations(path)
    if not path.is_file() or path.name.removesuffix(".gz") in _NOT_HISTORIES:
        return False
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix in {".log", ".txt"}:
        return _form_told_by_content(path) in {"edn", "log"}
    return suffix in {".jsonl", ".edn"}


def size_of(path: Path) -> int:
    """Returns how many bytes a history has; 0 if it can't be told."""
    try:
        files = [file for file in path.iterdir() if file.is_file()] if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files)
    except OSError:
        return 0


def _form_of(path: Path) -> str:
    if path.is_dir():
        return "parquet"
    suffix = Path(path.name.removesuffix(".gz")).suffix
    return _SUFFIXES.get(suffix) or _form_told_by_content(path) or "json"


def _form_told_by_content(path: Path) -> str | None:
    """Returns the form that the first line shows, None if it shows none."""
    try:
        with open_lines(path) as lines:
            _, line = next(lines, (0, b""))
    except HistoryError:
        return None
    if line.startswith(b"PAR1"):
        return "parquet"
    if line.startswith((b"{:", b"[{:", b"({:", b"#", b";")):
        return "edn"
    if line.startswith(b"{"):
        return "json"
    return "log" if is_log_line(line) else None
