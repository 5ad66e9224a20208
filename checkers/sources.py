"""Finds what there is to check under the paths that a user gives: histories and run directories.

It reads run.json, faults.jsonl and the first facts of a history (which model, whether it is well
formed). It does not judge. A run directory is a folder with a run.json; all else that ends in
.jsonl is a history.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from checkers.faults import disturbances, read_faults
from checkers.history import Operation, iterate_operations
from checkers.models import Model, infer_model, model_named
from checkers.options import MILLISECOND_NS, CheckOptions, LeaseBounds, Limits
from checkers.verdict import CheckerInputError

RUN_FILE: Final = "run.json"
HISTORY_FILE: Final = "history.jsonl"
FAULTS_FILE: Final = "faults.jsonl"
TABLES_DIRECTORY: Final = "tables"
NO_MODEL: Final = "none"


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
            yield from iterate_operations(self.history)
            return
        for operation in iterate_operations(self.history, self.model.validate):
            key = self.model.key(operation)
            same = key == operation.key
            yield operation if same else msgspec.structs.replace(operation, key=key)


def find_sources(
    paths: Iterable[Path], model: str | None = None, limits: Limits | None = None
) -> list[Source]:
    """Returns every history under the paths, in the order given and sorted within a folder.

    Raises:
        CheckerInputError: a path has no history, or a history has no model that fits.
    """
    given = None if model is None else model_named(model)
    bounds = CheckOptions(limits=limits or Limits())
    return [_source(found, given, bounds) for path in paths for found in _under(path)]


def _under(path: Path) -> list[Path]:
    """Returns the run directories and history files of a path."""
    if not path.exists():
        raise CheckerInputError(f"{path}: no such file or directory")
    if path.is_file() or (path / RUN_FILE).is_file():
        return [path]
    runs = sorted(file.parent for file in path.rglob(RUN_FILE))
    histories = [
        file
        for file in sorted(path.rglob("*.jsonl"))
        if not any(file.is_relative_to(run) for run in runs)
    ]
    found = sorted([*runs, *histories])
    if not found:
        raise CheckerInputError(f"{path}: no history (*.jsonl) and no run directory in it")
    return found


def _source(path: Path, given: Model | None, options: CheckOptions) -> Source:
    if path.is_dir():
        return _run_source(path, given, options)
    model = given or _inferred(path)
    return Source(label=str(path), history=path, model=model, options=options)


def _inferred(history: Path) -> Model | None:
    functions = sorted({operation.f for operation in iterate_operations(history)})
    return infer_model(history, functions) if functions else None


def _run_source(directory: Path, given: Model | None, options: CheckOptions) -> Source:
    run = _read_run(directory / RUN_FILE)
    history = directory / HISTORY_FILE
    if not history.is_file():
        raise CheckerInputError(f"{directory}: run directory without {HISTORY_FILE}")
    leases = LeaseBounds(
        session_ns=run.options.session_ms * MILLISECOND_NS,
        failover_ns=run.options.failover_ms * MILLISECOND_NS,
        measurement_ns=run.options.measurement_error_ns,
        rate_error=run.options.monotonic_rate_error,
        disturbed=disturbances(read_faults(directory / FAULTS_FILE)),
    )
    return Source(
        label=str(directory),
        history=history,
        model=given or model_named(run.workload.model),
        options=msgspec.structs.replace(options, leases=leases),
        tables=directory / TABLES_DIRECTORY,
    )


def _read_run(path: Path) -> _Run:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Run)
    except OSError as error:
        raise CheckerInputError(f"{path}: can't be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CheckerInputError(f"{path}: {error}") from error
