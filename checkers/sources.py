"""Finds what there is to check under the paths that a user gives: histories and run directories.

It reads run.json, faults.jsonl and the first facts of a history (which model, whether it is well
formed). It does not judge. A run directory is a folder with a run.json, its history is
history.jsonl or else tables/operations.parquet; in any other folder all that ends in .jsonl or
.jsonl.gz is a history, but for what runs write beside theirs. A Parquet file given by name is a
table of operations.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from checkers.faults import disturbances, read_faults
from checkers.history import HistoryError, Operation, Validator, iterate_operations
from checkers.models import Model, infer_model, model_named
from checkers.options import MILLISECOND_NS, CheckOptions, LeaseBounds, Limits
from checkers.tables import iterate_rows, read_table, read_table_file, table_path
from checkers.verdict import CheckerInputError

RUN_FILE: Final = "run.json"
HISTORY_FILE: Final = "history.jsonl"
FAULTS_FILE: Final = "faults.jsonl"
TRACE_FILE: Final = "trace.jsonl"
TABLES_DIRECTORY: Final = "tables"
NODE_TABLES: Final = ("records", "snapshots", "trace")
NO_MODEL: Final = "none"

Refuse = Callable[[CheckerInputError], None]
"""What is done with a history that can't be checked; it raises, or notes and goes on."""


class _Workload(msgspec.Struct, frozen=True):
    name: str
    model: str


class _Options(msgspec.Struct, frozen=True):
    session_ms: int = 9_000
    failover_ms: int = 5_000
    measurement_error_ns: int = MILLISECOND_NS
    monotonic_rate_error: float = 0.0


class _Run(msgspec.Struct, frozen=True):
    workload: _Workload
    options: _Options = _Options()


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One history to check, with all that is known about it beforehand.

    Attributes:
        label: the path as the user gave it, or as found under it.
        history: the history's file.
        model: the model, None for an empty history that names none.
        options: limits, and the bounds of leases.
        tables: where the run's neutral tables lie, None for a bare history.
    """

    label: str
    history: Path
    model: Model | None
    options: CheckOptions
    tables: Path | None = None

    @property
    def model_name(self) -> str:
        """The model's name, or that there is none."""
        return NO_MODEL if self.model is None else self.model.name

    def operations(self) -> Iterator[Operation]:
        """Yields the operations as they complete, each valid for the model and under its key."""
        if self.model is None:
            yield from _read(self.history)
            return
        for operation in _read(self.history, self.model.validate):
            key = self.model.key(operation)
            same = key == operation.key
            yield operation if same else msgspec.structs.replace(operation, key=key)

    def validate(self) -> None:
        """Reads all that the check will read.

        Raises:
            CheckerInputError: something can't be read.
        """
        for _ in self.operations():
            pass
        for name in node_tables_there(self):
            assert self.tables is not None
            read_table(self.tables, name)


def node_tables_there(source: Source) -> list[str]:
    """Returns which of the nodes' tables the run has."""
    if source.tables is None:
        return []
    return [name for name in NODE_TABLES if table_path(source.tables, name).exists()]


def find_sources(
    paths: Iterable[Path],
    model: str | None = None,
    limits: Limits | None = None,
    refuse: Refuse | None = None,
) -> list[Source]:
    """Returns every history under the paths, in the order given and sorted within a folder.

    Args:
        paths: files, folders and run directories.
        model: the name of the model of all of them; otherwise it is inferred.
        limits: what one key may cost.
        refuse: told of every path and history that can't be checked; the others are returned.

    Raises:
        CheckerInputError: there is no such model; or, without `refuse`, a path has no history, or
            a history has no model that fits or can't be read.
    """
    given = None if model is None else model_named(model)
    bounds = CheckOptions(limits=limits or Limits())
    sources = []
    for path in paths:
        try:
            found = _under(path)
        except CheckerInputError as error:
            _refused(error, refuse)
            continue
        for history in found:
            try:
                source = _source(history, given, bounds)
                source.validate()
            except CheckerInputError as error:
                _refused(error, refuse)
            else:
                sources.append(source)
    return sources


def _refused(error: CheckerInputError, refuse: Refuse | None) -> None:
    if refuse is None:
        raise error
    refuse(error)


def _under(path: Path) -> list[Path]:
    """Returns the run directories and history files of a path."""
    if not path.exists():
        raise CheckerInputError(f"{path}: no such file or directory")
    if path.is_file() or (path / RUN_FILE).is_file():
        return [path]
    runs = sorted(file.parent for file in path.rglob(RUN_FILE))
    histories = [
        file
        for pattern in ("*.jsonl", "*.jsonl.gz")
        for file in sorted(path.rglob(pattern))
        if file.name not in {FAULTS_FILE, TRACE_FILE} and not file.is_dir()
        if not any(file.is_relative_to(run) for run in runs)
    ]
    found = sorted([*runs, *histories])
    if not found:
        raise CheckerInputError(f"{path}: no history (*.jsonl) and no run directory in it")
    return found


def _read(history: Path, validate: Validator | None = None) -> Iterator[Operation]:
    if history.suffix != ".parquet":
        yield from iterate_operations(history, validate)
        return
    rows = iterate_rows(read_table_file(history, "operations"))
    for number in count():
        try:
            operation = next(rows, None)
            if operation is not None and validate is not None:
                validate(operation)
        except (ValueError, msgspec.MsgspecError) as error:
            raise HistoryError(f"{history}: row {number}: {error}") from error
        if operation is None:
            return
        yield operation


def _source(path: Path, given: Model | None, options: CheckOptions) -> Source:
    if path.is_dir():
        return _run_source(path, given, options)
    model = given or _inferred(path)
    return Source(label=str(path), history=path, model=model, options=options)


def _inferred(history: Path) -> Model | None:
    functions = sorted({operation.f for operation in _read(history)})
    return infer_model(history, functions) if functions else None


def _run_source(directory: Path, given: Model | None, options: CheckOptions) -> Source:
    run = _read_run(directory / RUN_FILE)
    leases = LeaseBounds(
        session_ns=run.options.session_ms * MILLISECOND_NS,
        failover_ns=run.options.failover_ms * MILLISECOND_NS,
        measurement_ns=run.options.measurement_error_ns,
        rate_error=run.options.monotonic_rate_error,
        disturbed=disturbances(read_faults(directory / FAULTS_FILE)),
    )
    return Source(
        label=str(directory),
        history=_history_of(directory),
        model=given or _model_of(directory, run),
        options=msgspec.structs.replace(options, leases=leases),
        tables=directory / TABLES_DIRECTORY,
    )


def _history_of(directory: Path) -> Path:
    table = table_path(directory / TABLES_DIRECTORY, "operations")
    for history in (directory / HISTORY_FILE, directory / f"{HISTORY_FILE}.gz", table):
        if history.is_file():
            return history
    raise CheckerInputError(f"{directory}: run directory without {HISTORY_FILE}")


def _model_of(directory: Path, run: _Run) -> Model:
    try:
        return model_named(run.workload.model)
    except CheckerInputError as error:
        raise CheckerInputError(f"{directory / RUN_FILE}: {error}") from None


def _read_run(path: Path) -> _Run:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Run)
    except OSError as error:
        raise CheckerInputError(f"{path}: can't be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CheckerInputError(f"{path}: {error}") from error
