"""Reads histories of any form into tables of operations (see `OPERATIONS` in ../schema.py).

A form is one module here: JSON lines, Jepsen's EDN and logs, Parquet. The beginning of a file shows
its form, or else its name does (`forms`); the meaning of values, keys and transactions follows from
the whole history, equally for all forms (`values`). Not here: which folders to search
(`checkers.sources`), models, verdicts. The exact reader of JSON lines and the pairing of events are
`checkers.history.operations`.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from kraftproof.checkers.history.lines import HistoryError
from kraftproof.checkers.history.operations import (
    Operation,
    Validator,
    iterate_operations,
    validated,
)
from kraftproof.checkers.history.read.forms import (
    PARQUET_SUFFIX,
    form_by_content,
    form_of,
    is_array_of_events,
)
from kraftproof.checkers.history.read.jepsen import edn_operations, log_operations
from kraftproof.checkers.history.read.jsonl import batches_of_operations, json_batches
from kraftproof.checkers.history.read.parquet import (
    is_operations,
    is_table_folder,
    parquet_operations,
)
from kraftproof.checkers.history.read.values import KeyTexts, ValueForm, value_form_of, with_meaning
from kraftproof.checkers.history.schema import OPERATIONS
from kraftproof.checkers.history.tables import iterate_rows
from kraftproof.checkers.history.unpacking import without_packing

_BY_LINE: Final[dict[str, Callable[[Path, Validator | None], Iterator[Operation]]]] = {
    "json": iterate_operations,
    "edn": edn_operations,
    "log": log_operations,
}
_NOT_HISTORIES: Final = frozenset({"faults.jsonl", "trace.jsonl", "results.edn", "jepsen.log"})
"""Names of the files that Kraftproof and Jepsen write beside a history."""


def operations_table_of(path: Path, *, is_keyed: bool | None = None) -> pa.Table:
    """Return the operations of a history in the order of their invocations.

    Args:
        path: the history.
        is_keyed: whether its values are [key, value]; None to tell from the values.

    Raises: CheckerInputError: the history can't be read; the message names file, line and field.
    """
    recorded = _recorded_table(path)
    form = value_form_of(recorded, is_keyed=is_keyed)
    try:
        return with_meaning(recorded, form)
    except ValueError as error:
        _name_line(path, form)
        raise HistoryError(f"{path}: {error}") from error


def located_operations_of(
    path: Path, validate: Validator | None = None, *, is_keyed: bool | None = None
) -> Iterator[Operation]:
    """Yield the operations one by one, so that a refused operation is named by file and line.

    The history is read twice, because the meaning of its values depends on all values.

    Args:
        path: the history.
        validate: raises ValueError, naming the field, for an operation to refuse.
        is_keyed: whether its values are [key, value]; None to infer the form from the values.

    Raises:
        CheckerInputError: it can't be read, or `validate` refused an operation.
    """
    form = value_form_of(_recorded_table(path), is_keyed=is_keyed)

    def check(operation: Operation) -> None:
        for meant in form.meaning(operation):
            if validate is not None:
                validate(meant)

    for operation in _located(path, check):
        yield from form.meaning(operation)


def _name_line(path: Path, form: ValueForm) -> None:
    """Raise the error for the first operation whose values are not of a form, with its line."""
    key_texts = KeyTexts()

    def check(operation: Operation) -> None:
        form.meaning(operation)
        if form.is_keyed:
            key_texts.require_distinct(operation)

    for _ in _located(path, check):
        pass


def _recorded_table(path: Path) -> pa.Table:
    table = pa.Table.from_batches(_recorded_batches(path), OPERATIONS)
    is_sorted = bool((np.diff(table.column("index").to_numpy()) > 0).all())
    return table.combine_chunks() if is_sorted else table.sort_by("index")


def _recorded_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the operations by completion.

    The operations of a Parquet file in the order of its rows.
    """
    form = form_of(path)
    if form == "json":
        return json_batches(path)
    if form == "parquet":
        return iter(parquet_operations(path).to_batches())
    return batches_of_operations(_BY_LINE[form](path, None))


def _located(path: Path, check: Validator) -> Iterator[Operation]:
    """Yield the operations as they were recorded, each checked."""
    form = form_of(path)
    if form != "parquet":
        yield from _BY_LINE[form](path, check)
        return
    for row, operation in enumerate(iterate_rows(parquet_operations(path))):
        yield validated(f"{path}: row {row}", operation, check)


def is_history(path: Path) -> bool:
    """Return whether a file in a folder is a history, by its name and its beginning."""
    if path.is_dir():
        is_closed = not os.access(path, os.R_OK | os.X_OK, effective_ids=True)  # told when read
        return is_closed or (is_table_folder(path) and is_operations(path))
    bare = without_packing(path)
    if bare.suffix == PARQUET_SUFFIX:
        return is_operations(path)
    if not path.is_file() or bare.name in _NOT_HISTORIES:
        return False
    if bare.suffix in {".log", ".txt"}:
        return form_by_content(path) in {"edn", "log"}
    if bare.suffix == ".json":
        return is_array_of_events(path)
    return bare.suffix in {".jsonl", ".edn"}


def size_of(path: Path) -> int:
    """Return the size of a history in bytes; 0 if unknown."""
    try:
        files = [file for file in path.iterdir() if file.is_file()] if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files)
    except OSError:
        return 0
