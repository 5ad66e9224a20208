"""Checks many histories in one Spark job: operations -> (run, key) -> verdicts -> findings.

Histories are staged as Parquet, one folder a run, so that one read sees them all and the driver
never holds the operations of more than one history's open calls. Only verdicts and findings come
back.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession

from checkers.assembly import CheckResult, assemble, checks_of
from checkers.kraft.run_checks import RELATION_TABLES
from checkers.sources import NODE_TABLES, Source, node_tables_there
from checkers.spark import relations
from checkers.spark.relations import Wanted
from checkers.spark.session import session
from checkers.tables import operation_rows, table_path, write_table
from checkers.verdict import KeyVerdict, RunVerdict, Verdict


def check_on_spark(sources: Sequence[Source]) -> list[RunVerdict]:
    """Returns the verdict on each history, in the order given."""
    runs = {f"{number:08d}": source for number, source in enumerate(sources)}
    with tempfile.TemporaryDirectory(prefix="kraftproof-check-") as directory:
        stage = Path(directory)
        for run, source in runs.items():
            _stage(stage / run, source)
        spark = session()
        try:
            keys, results = _collect(spark, stage, runs)
        except Exception as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
            return [_crashed(source, error) for source in sources]
    return [
        assemble(source, keys[run], results[run], sum(key.seconds for key in keys[run]))
        for run, source in runs.items()
    ]


def _crashed(source: Source, error: Exception) -> RunVerdict:
    first = (str(error).strip().splitlines() or [""])[0]
    return RunVerdict(
        history=source.label,
        model=source.model_name,
        verdict=Verdict.UNKNOWN,
        seconds=0.0,
        operations=0,
        notes=(f"the Spark job failed: {type(error).__name__}: {first}",),
    )


def _stage(folder: Path, source: Source) -> None:
    write_table(folder, "operations", operation_rows(source.operations()))
    for name in node_tables_there(source):
        assert source.tables is not None
        table_path(folder, name).symlink_to(table_path(source.tables, name).resolve())


def _collect(
    spark: SparkSession, stage: Path, runs: dict[str, Source]
) -> tuple[dict[str, list[KeyVerdict]], dict[str, list[CheckResult]]]:
    plans = {
        run: (source.model.name, source.options)
        for run, source in runs.items()
        if source.model is not None
    }
    tables = _tables(spark, stage, runs)
    keys: dict[str, list[KeyVerdict]] = {run: [] for run in runs}
    for row in relations.judged(tables["operations"], plans).collect():
        fields = row.asDict(recursive=True)
        keys[fields.pop("run")].append(msgspec.convert(fields, KeyVerdict))
    results: dict[str, list[CheckResult]] = {run: [] for run in runs}
    wanted = _wanted(runs)
    if wanted:
        for row in relations.checked(wanted, tables).collect():
            fields = row.asDict(recursive=True)
            results[fields.pop("run")].append(msgspec.convert(fields, CheckResult))
    return keys, results


def _wanted(runs: dict[str, Source]) -> Wanted:
    """Returns the run checks that apply to any run, each with its runs."""
    wanted: Wanted = {}
    for run, source in runs.items():
        there = frozenset({"operations", *node_tables_there(source)})
        for check in checks_of(source.model_name, there)[0]:
            wanted.setdefault(check, []).append(run)
    return wanted


def _tables(spark: SparkSession, stage: Path, runs: dict[str, Source]) -> dict[str, DataFrame]:
    """Returns the relations that there are files for."""
    tables = {}
    for name in ("operations", *NODE_TABLES):
        paths = [str(path) for run in runs if (path := table_path(stage / run, name)).exists()]
        if paths:
            tables[name] = relations.staged(spark, name, paths)
    if tables.keys() >= RELATION_TABLES["committed"]:
        tables["committed"] = relations.committed(tables["records"], tables["trace"])
    if tables.keys() >= RELATION_TABLES["kept"]:
        tables["kept"] = relations.kept(tables["committed"], tables["snapshots"])
    return tables
