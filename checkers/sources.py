"""Finds the histories and run directories under the paths that a user gives.

The files of a run directory that describe its run are read when a source is found, the history when
its turn comes. A run directory is a folder with a run.json; its history is history.jsonl or else
tables/operations.parquet. In another folder, each file that `checkers.history.read` accepts is a
history. A file given by name is a history, and so is a folder NAME.parquet of Parquet files.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa

from kraftproof.checkers.crash import ModelCrashError, crashed, reraise_interrupt
from kraftproof.checkers.guards.facts import RunFacts
from kraftproof.checkers.history.lines import HistoryError
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.read import is_history, located_operations_of, operations_table_of
from kraftproof.checkers.history.read.parquet import is_table_folder
from kraftproof.checkers.history.tables import events_in, iterate_rows, table_path
from kraftproof.checkers.initial import parse_initial, started
from kraftproof.checkers.kraft.declared import as_declared, disturbed_times
from kraftproof.checkers.models import Model, has_own_keys, model_named
from kraftproof.checkers.models.inference import infer_model
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.run_description import RUN_FILE, RunDescription
from kraftproof.checkers.run_files import read_run_files
from kraftproof.checkers.run_outcome import OUTCOME_FILE
from kraftproof.checkers.sampling import sample_of
from kraftproof.checkers.stated import InitialValues
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

HISTORY_FILE: Final = "history.jsonl"
FILES_OF_RUNS: Final = (RUN_FILE, OUTCOME_FILE)
"""Files of run directories only: with one of the two lost, the history alone is not judged."""
TABLES_DIRECTORY: Final = "tables"
NODE_TABLES: Final = ("records", "batches", "snapshots", "trace", "writes", "replicas")
NO_MODEL: Final = "none"

Refuse = Callable[[CheckerInputError], None]
"""Receives the error of a history that can't be checked, and raises or records the error."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A history to check, with the facts known before reading its operations.

    Attributes: label: the path as the user gave it, or as found under it.
        history: the history's file.
        model: the model; None for an inferred one, or an empty history without a named one.
        options: limits, the bounds of leases, and what the user states of the values.
        tables: where the run's neutral tables lie, None for a bare history.
        facts: the input of the guards, None for a bare history.
        description: the content of run.json, None for a bare history.
    """

    label: str
    history: Path
    model: Model | None
    options: CheckOptions
    tables: Path | None = None
    facts: RunFacts | None = None
    description: RunDescription | None = None

    @property
    def model_name(self) -> str:
        """Return the name of the model, or a text for an unknown model."""
        return NO_MODEL if self.model is None else self.model.name

    def read(self) -> "History":
        """Read the history.

        Raises: CheckerInputError: the history can't be read, or no model or several models fit.
        """
        table = operations_table_of(self.history, is_keyed=self.options.is_keyed)
        functions = table.column("f").unique().to_pylist()
        model, facts = self.model, self.facts
        if model is None and functions:
            model = infer_model(self.history, functions, sample_of(table))
        if facts is not None:
            facts = msgspec.structs.replace(facts, events=events_in(table))
        return _history(msgspec.structs.replace(self, model=model, facts=facts), table)

    def named(self, error: ValueError) -> CheckerInputError:
        """Return the error for a value that the model can't read, with file and line.

        If a run's own model refuses a recorded value, the model is wrong: the verdict is unknown.
        """
        if isinstance(error, CheckerInputError):
            return error
        refusal = self._refusal() or HistoryError(f"{self.history}: {error}")
        if self.facts is None:
            return refusal
        return ModelCrashError(f"model {self.model_name!r} can't judge the run: {refusal}")

    def _refusal(self) -> CheckerInputError | None:
        """Return the model's reason for refusing the first refused operation, if any."""
        model = self.model

        def validate(operation: Operation) -> None:
            if model is not None:
                model.validate(operation)
                _key_by(model, operation)

        try:
            located = located_operations_of(self.history, validate, is_keyed=self.options.is_keyed)
            for _ in located:
                pass
        except CheckerInputError as located:
            return located
        except Exception:  # noqa: BLE001 a model may raise anything: then there is no better word
            return None
        return None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A history that was read.

    Attributes: source: the origin of the history, with its model inferred.
        table: the operations of the history, with the model's keys, as weak as declared.
        recorded: the operations as the run recorded them.
    """

    source: Source
    table: pa.Table
    recorded: pa.Table


def _history(source: Source, table: pa.Table) -> History:
    """Return a history under the model's keys, after what sets up its initial values."""
    table, stated = _under_own_keys(source, table), source.options.initial
    if source.model is not None and stated is not None:
        table = started(source.history, source.model, table, stated)
    options = source.options
    weak = as_declared(
        table, options.guarantees, disturbed_times(options), options.leases.failover_ns
    )
    return History(source=source, table=weak, recorded=table)


def _under_own_keys(source: Source, table: pa.Table) -> pa.Table:
    if source.model is None or not has_own_keys(source.model):
        return table
    try:
        keys = [_key_by(source.model, operation) for operation in iterate_rows(table)]
    except ValueError as error:
        raise source.named(error) from error
    except BaseException as error:
        reraise_interrupt(error)
        raise ModelCrashError(crashed(source.model.name, source.model, error)) from error
    place = table.column_names.index("key")
    return table.set_column(place, table.schema.field(place), pa.array(keys, pa.string()))


def _key_by(model: Model, operation: Operation) -> str:
    key: object = model.key(operation)
    if not isinstance(key, str):
        raise TypeError(
            f"operation {operation.index} has the key {shortened(repr(key))}, which is no text"
        )
    return key


def node_tables_there(source: Source) -> list[str]:
    """Return which of the nodes' tables the run has."""
    if source.tables is None:
        return []
    return [name for name in NODE_TABLES if table_path(source.tables, name).exists()]


def find_sources(
    paths: Iterable[Path],
    model: str | None = None,
    limits: Limits | None = None,
    refuse: Refuse | None = None,
    *,
    processes: int = 1,
    is_keyed: bool | None = None,
    initial: InitialValues | None = None,
) -> Iterator[Source]:
    """Return every history under the paths, in the order given and sorted within a folder.

    Args:
        paths: files, folders and run directories.
        model: the name of the model for all histories; without a name, each model is inferred.
        limits: the limits for each key.
        processes: how many cores the keys of one history may use.
        is_keyed: whether each value is [key, value]; None to infer the form from the values.
        initial: the initial values of the systems; None if unstated.
        refuse: receives each path that can't be checked; the others are returned.

    Raises:
        CheckerInputError: at once, if there is no such model; or, without `refuse` and when its
            turn comes, if a path has no history or a run directory can't be read.
    """
    given = None if model is None else model_named(model)
    options = CheckOptions(
        limits=limits or Limits(), processes=processes, is_keyed=is_keyed, initial=initial
    )
    return _sources(paths, given, options, refuse)


def _sources(
    paths: Iterable[Path], given: Model | None, options: CheckOptions, refuse: Refuse | None
) -> Iterator[Source]:
    for path in paths:
        try:
            found = _under(path)
        except CheckerInputError as error:
            refused(error, refuse)
            continue
        for history in found:
            try:
                source = _source(history, given, options)
            except CheckerInputError as error:
                refused(error, refuse)
            else:
                yield source


def refused(error: CheckerInputError, refuse: Refuse | None) -> None:
    """Pass an error to `refuse`, or raise the error without `refuse`."""
    if refuse is None:
        raise error
    refuse(error)


def _under(path: Path) -> list[Path]:
    """Return the run directories and history files of a path."""
    try:
        mode = path.stat().st_mode
        is_run = any((path / name).is_file() for name in FILES_OF_RUNS)
        is_one = stat.S_ISREG(mode) or is_run or is_table_folder(path)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "no such file or directory" if is_missing else f"can't be read: {error.strerror}"
        raise CheckerInputError(f"{path}: {reason}") from error
    if is_one:
        return [path]
    if not stat.S_ISDIR(mode):
        raise CheckerInputError(f"{path}: neither a file nor a folder")
    runs = {file.parent for name in FILES_OF_RUNS for file in path.rglob(name)}
    histories = [
        file
        for file in path.rglob("*")
        if is_history(file) and not any(file.is_relative_to(run) for run in runs)
    ]
    found = sorted([*runs, *histories])
    if not found:
        raise CheckerInputError(
            f"{path}: no history (*.jsonl, *.edn, *.parquet) and no run directory in it"
        )
    return found


def _source(path: Path, given: Model | None, options: CheckOptions) -> Source:
    if (shown := os.fsencode(path).decode(errors="backslashreplace")) != str(path):
        raise CheckerInputError(f"{shown}: a name that is no UTF-8")
    if path.is_dir() and not is_table_folder(path):
        return _run_source(path, given, options)
    return Source(label=str(path), history=path, model=given, options=options)


def _run_source(directory: Path, given: Model | None, options: CheckOptions) -> Source:
    run = read_run_files(directory)
    return Source(
        label=str(directory),
        history=_history_of(directory),
        model=given or _model_of(directory, run.model),
        options=msgspec.structs.replace(
            options,
            leases=run.leases,
            faults=run.spans,
            guarantees=run.guarantees,
            leader_changes=run.leader_changes,
            initial=options.initial or parse_initial(run.initial, may_be_absent=True),
        ),
        tables=directory / TABLES_DIRECTORY,
        facts=run.facts,
        description=run.description,
    )


def _history_of(directory: Path) -> Path:
    table = table_path(directory / TABLES_DIRECTORY, "operations")
    for history in (directory / HISTORY_FILE, directory / f"{HISTORY_FILE}.gz", table):
        if history.is_file():
            return history
    raise CheckerInputError(f"{directory}: run directory without {HISTORY_FILE}")


def _model_of(directory: Path, name: str) -> Model:
    try:
        return model_named(name)
    except CheckerInputError as error:
        raise CheckerInputError(f"{directory / RUN_FILE}: {error}") from None
