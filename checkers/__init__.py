"""Checks recorded histories: models, engines, the nodes' logs, inline or on Spark.

It reads files and returns verdicts; it starts no cluster and imports nothing of the other packages.
Only `checkers.spark` imports pyspark, and only when the Spark engine is asked for.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from checkers.assembly import write_results
from checkers.faults import read_faults
from checkers.inline import check_inline
from checkers.options import Limits
from checkers.sources import FAULTS_FILE, RUN_FILE, Refuse, Source, find_sources
from checkers.tables import fault_rows, operation_rows, write_table
from checkers.verdict import CheckerInputError, RunVerdict

Engine = Literal["spark", "inline"]


def check_run(
    run_directory: Path,
    engine: Engine = "spark",
    *,
    limits: Limits | None = None,
    write_tables: bool = True,
) -> RunVerdict:
    """Checks a run directory: run.json, history.jsonl, faults.jsonl and tables/.

    Args:
        run_directory: the directory.
        engine: `spark`, or `inline` for this process alone.
        limits: what one key may cost.
        write_tables: whether to write tables/{operations,faults,verdicts,findings}.parquet.

    Raises:
        CheckerInputError: something in the directory can't be read.
    """
    if not (run_directory / RUN_FILE).is_file():
        raise CheckerInputError(f"{run_directory}: not a run directory: it has no {RUN_FILE}")
    (source,) = find_sources([run_directory], limits=limits)
    (verdict,) = _check([source], engine)
    if write_tables:
        _write_tables(run_directory, source, verdict)
    return verdict


def check_paths(
    paths: Iterable[Path],
    model: str | None = None,
    engine: Engine = "spark",
    *,
    limits: Limits | None = None,
    refuse: Refuse | None = None,
) -> Iterator[RunVerdict]:
    """Checks files, folders and run directories, and yields a verdict for each history.

    Args:
        paths: files, folders and run directories.
        model: the name of the model of all histories; otherwise it is inferred for each.
        engine: `spark`, or `inline` for this process alone.
        limits: what one key may cost.
        refuse: told of each history that can't be checked; the others are checked all the same.

    Raises:
        CheckerInputError: before the first verdict, if there is no such model or no Spark, or,
            without `refuse`, if any history can't be read.
    """
    sources = find_sources(paths, model, limits, refuse)
    return _check(sources, engine) if sources else iter(())


def _check(sources: list[Source], engine: Engine) -> Iterator[RunVerdict]:
    if engine == "inline":
        return map(check_inline, sources)
    from checkers.spark.pipeline import check_on_spark

    return iter(check_on_spark(sources))


def _write_tables(run_directory: Path, source: Source, verdict: RunVerdict) -> None:
    assert source.tables is not None
    operations = sorted(source.operations(), key=lambda operation: operation.index)
    write_table(source.tables, "operations", operation_rows(operations))
    faults = read_faults(run_directory / FAULTS_FILE)
    write_table(source.tables, "faults", fault_rows(faults))
    write_results(source.tables, verdict)


__all__ = ["CheckerInputError", "Engine", "Limits", "RunVerdict", "check_paths", "check_run"]
