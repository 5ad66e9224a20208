"""Brings the histories and the nodes' tables of many runs to where Spark reads them.

Each history is read once, by one executor, into STAGE/run=RUN/operations.parquet. The driver sees
one row a history. A run is known by a number here, as its folder is.

Simplification: a table in our schema that is longer than LONG_BYTES is linked to, not read. Its
rows are not checked for what can't be, such as a process with two operations open or times that
run backwards; the inline engine checks them however long the table is.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that all of Spark's users know

from kraftproof.checkers.history.read import size_of
from kraftproof.checkers.history.tables import table_path
from kraftproof.checkers.kraft.run_checks import RELATION_TABLES
from kraftproof.checkers.models import reference_to
from kraftproof.checkers.sources import NODE_TABLES, Source, node_tables_there
from kraftproof.checkers.spark import relations
from kraftproof.checkers.spark.rows import problem_of
from kraftproof.checkers.spark.workers import Plan, run_folder
from kraftproof.checkers.verdict import CheckerInputError

LONG_BYTES: Final = 32 << 20
"""Some 1.1 million operations, which a worker reads and writes in 6 s and 400 MB.

Both grow with the table while the other cores wait; a longer file is linked instead, and all
workers read parts of the file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """The histories and tables to judge.

    Attributes: sources: by run, each with its model; None for a history without operations and
        without a named model.
        plans: the workers' plans, by run.
        sizes: how many operations each run has.
        problems: by run, the reason why the run can't be read; these runs appear nowhere else.
        folder: the stage.
        tables: the relations with files, by name.
    """

    folder: Path
    sources: Mapping[str, Source]
    plans: Mapping[str, Plan]
    sizes: Mapping[str, int]
    problems: Mapping[str, CheckerInputError]
    tables: Mapping[str, DataFrame]


def stage(spark: SparkSession, folder: Path, sources: Sequence[Source]) -> Staged:
    """Read all histories on the executors, and return the relations of the readable histories.

    Args:
        spark: the session.
        folder: where the stage is made; the executors must see it under the same path.
        sources: the histories and run directories.
    """
    runs = {f"{number:08d}": source for number, source in enumerate(sources)}
    plans = {run: plan_of(source) for run, source in runs.items()}
    rows = relations.read(_runs(spark, runs), plans, folder).collect()
    problems = {
        row["run"]: problem_of(row["problem"], row["traceback"])
        for row in rows
        if row["problem"] is not None
    }
    read = {row["run"]: row for row in rows if row["problem"] is None}
    for run in read:
        _link_node_tables(run_folder(folder, run), runs[run])
    plans = {
        run: plans[run].as_read(row["model"], row["events"]) for run, row in sorted(read.items())
    }
    return Staged(
        folder=folder,
        sources={run: plan.source() for run, plan in plans.items()},
        plans=plans,
        sizes={run: row["operations"] for run, row in sorted(read.items())},
        problems=dict(sorted(problems.items())),
        tables=_tables(spark, folder, sorted(read)),
    )


def without(spark: SparkSession, staged: Staged, runs: Collection[str]) -> Staged:
    """Return the same stage without some runs; their files are not read again."""
    if not runs:
        return staged
    left = [run for run in staged.plans if run not in runs]
    return Staged(
        folder=staged.folder,
        sources={run: staged.sources[run] for run in left},
        plans={run: staged.plans[run] for run in left},
        sizes={run: staged.sizes[run] for run in left},
        problems=staged.problems,
        tables=_tables(spark, staged.folder, left),
    )


def plan_of(source: Source) -> Plan:
    """Return the plan of a source for workers."""
    return Plan(
        label=source.label,
        history=source.history.absolute(),
        model=None if source.model is None else reference_to(source.model),
        # An executor has a core, and Spark has as many executors as there are cores.
        options=msgspec.structs.replace(source.options, processes=1),
        is_long=bytes_of(source) > LONG_BYTES,
        root="" if source.history.is_absolute() else os.path.join(Path.cwd(), ""),
        tables=None if source.tables is None else source.tables.absolute(),
        facts=source.facts,
        description=source.description,
    )


def _runs(spark: SparkSession, runs: Mapping[str, Source]) -> DataFrame:
    """Return the runs, each in a partition of about the same number of bytes, large ones first."""
    sizes = {run: bytes_of(source) for run, source in runs.items()}
    by_size = sorted(sizes, key=lambda run: (-sizes[run], run))
    tasks = max(1, min(len(runs), 4 * spark.sparkContext.defaultParallelism))
    table = pa.table({"run": by_size, "task": [place % tasks for place in range(len(by_size))]})
    return spark.createDataFrame(table).repartitionById(tasks, F.col("task").cast("int"))


def bytes_of(source: Source) -> int:
    """Return the size of a source's history, 0 without a history."""
    return size_of(source.history)


def _link_node_tables(folder: Path, source: Source) -> None:
    for name in node_tables_there(source):
        assert source.tables is not None
        table_path(folder, name).symlink_to(table_path(source.tables, name).resolve())


def _tables(spark: SparkSession, folder: Path, runs: Sequence[str]) -> dict[str, DataFrame]:
    tables = {}
    for name in ("operations", *NODE_TABLES):
        paths = [table_path(run_folder(folder, run), name) for run in runs]
        there = [str(path) for path in paths if path.exists()]
        if there or name == "operations":
            tables[name] = relations.staged(spark, folder, name, there)
    if tables.keys() >= RELATION_TABLES["committed"]:
        tables["committed"] = relations.committed(tables["records"], tables["trace"])
    if tables.keys() >= RELATION_TABLES["kept"]:
        tables["kept"] = relations.kept(tables["committed"], tables["snapshots"])
    return tables
