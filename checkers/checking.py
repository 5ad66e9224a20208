"""Checks recorded histories: models, engines, the nodes' logs, inline or on Spark.

The package reads files and returns verdicts; it starts no cluster and imports no other package.
Only `checkers.spark` imports pyspark, and only when the Spark engine is asked for.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, Literal

from kraftproof.checkers.crash import ModelCrashError
from kraftproof.checkers.history.faults import read_faults
from kraftproof.checkers.history.read import size_of
from kraftproof.checkers.history.tables import fault_rows, write_table, write_whole
from kraftproof.checkers.judge.assembly import unknown, write_results
from kraftproof.checkers.judge.inline import check_inline
from kraftproof.checkers.options import Limits
from kraftproof.checkers.run_description import RUN_FILE
from kraftproof.checkers.run_files import FAULTS_FILE
from kraftproof.checkers.sources import (
    History,
    Refuse,
    Source,
    find_sources,
    refused,
)
from kraftproof.checkers.stated import InitialValues
from kraftproof.checkers.verdict import CheckerInputError, RunVerdict

Engine = Literal["spark", "inline"]

Report = Callable[[str], None]
"""Takes a line of progress."""

_SHORT_BYTES: Final = 4 << 20
"""File size limit for early reading: files read in milliseconds."""


def _silent(line: str) -> None:
    """Report nothing."""


def check_run(
    run_directory: Path,
    engine: Engine = "inline",
    *,
    limits: Limits | None = None,
    write_tables: bool = True,
    report: Report = _silent,
) -> RunVerdict:
    """Check a run directory: run.json, history.jsonl, faults.jsonl and tables/.

    Args:
        run_directory: the directory.
        engine: `inline` for this process alone, or `spark`.
        limits: the limits for each key.
        write_tables: whether to write tables/{operations,faults,verdicts,findings}.parquet.
        report: takes a line of progress for each step of Spark.

    Raises:
        CheckerInputError: something in the directory can't be read.
    """
    if not (run_directory / RUN_FILE).is_file():
        raise CheckerInputError(f"{run_directory}: not a run directory: it has no {RUN_FILE}")
    (source,) = find_sources([run_directory], limits=limits)
    history = source.read()
    verdict = _checked(history, engine, report)
    if write_tables:
        _write_tables(run_directory, history, verdict)
    return verdict


def check_paths(
    paths: Iterable[Path],
    model: str | None = None,
    engine: Engine = "inline",
    *,
    limits: Limits | None = None,
    processes: int = 1,
    is_keyed: bool | None = None,
    initial: InitialValues | None = None,
    refuse: Refuse | None = None,
    report: Report = _silent,
) -> Iterator[RunVerdict]:
    """Check files, folders and run directories, and yields a verdict for each history.

    Args:
        paths: files, folders and run directories.
        model: the model of all histories, by name or as path/to/file.py:ClassName; otherwise it is
            inferred for each.
        engine: `inline` for this machine's processes, or `spark`.
        limits: the limits for each key.
        processes: how many cores the inline engine may use.
        is_keyed: whether each value is [key, value]; None to infer the form from the values.
        initial: the initial values of the systems; None if unstated.
        refuse: receives the error of each history that can't be checked; the other histories are
            still checked.
        report: takes a line of progress for each step of Spark.

    Raises:
        CheckerInputError: at once, if there is no such model; when its turn comes, if there is no
            Spark, or, without `refuse`, if a history can't be read.
    """
    sources = find_sources(
        paths, model, limits, refuse, processes=processes, is_keyed=is_keyed, initial=initial
    )
    if engine == "inline":
        return _check_each(sources, refuse)
    return _check_on_spark(sources, refuse, report)


def _check_each(sources: Iterable[Source], refuse: Refuse | None) -> Iterator[RunVerdict]:
    for source in sources:
        try:
            verdict = check_inline(source.read())
        except ModelCrashError as error:
            yield unknown(source, str(error))
        except CheckerInputError as error:
            refused(error, refuse)
        else:
            yield verdict


def _check_on_spark(
    sources: Iterable[Source], refuse: Refuse | None, report: Report
) -> Iterator[RunVerdict]:
    found = []
    for source in sources:
        try:
            if _seems_readable(source, refuse):
                found.append(source)
        except ModelCrashError as error:
            yield unknown(source, str(error))
    if found:
        from kraftproof.checkers.spark.pipeline import check_on_spark

        refuse_one = partial(refused, refuse=refuse)
        yield from check_on_spark(found, refuse_one, report, is_crash_raised=refuse is None)


def _seems_readable(source: Source, refuse: Refuse | None) -> bool:
    """Read short files first, so that a mistake is reported before a Spark session starts."""
    try:
        if size_of(source.history) <= _SHORT_BYTES:
            source.read()
    except ModelCrashError:
        raise
    except CheckerInputError as error:
        refused(error, refuse)
        return False
    return True


def _checked(history: History, engine: Engine, report: Report) -> RunVerdict:
    if engine == "inline":
        return check_inline(history)
    (verdict,) = _check_on_spark([history.source], None, report)
    return verdict


def _write_tables(run_directory: Path, history: History, verdict: RunVerdict) -> None:
    tables = history.source.tables
    assert tables is not None
    write_whole(tables, "operations", history.recorded.sort_by("index"))
    faults = read_faults(run_directory / FAULTS_FILE)
    write_table(tables, "faults", fault_rows(faults))
    write_results(tables, verdict)


__all__ = ["CheckerInputError", "Engine", "Limits", "RunVerdict", "check_paths", "check_run"]
