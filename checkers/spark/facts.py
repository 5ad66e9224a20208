"""Reads the facts of runs from the files of run directories, for tables."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kraftproof.checkers.guards.doubts import doubts
from kraftproof.checkers.guards.tally import Tally
from kraftproof.checkers.history.faults import read_faults
from kraftproof.checkers.history.schema import FAULTS, FINDINGS
from kraftproof.checkers.history.tables import fault_rows
from kraftproof.checkers.judge.assembly import violations
from kraftproof.checkers.run_description import RunDescription, Workload
from kraftproof.checkers.run_files import FAULTS_FILE
from kraftproof.checkers.sources import Source

FACTS: Final = pa.schema(
    [
        ("run", pa.string()),
        ("label", pa.string()),
        ("started", pa.string()),
        ("system", pa.string()),
        ("backend", pa.string()),
        ("workload", pa.string()),
        ("seed", pa.int64()),
        ("model", pa.string()),
        ("is_crashed", pa.bool_()),
        ("is_discounted", pa.bool_()),
    ]
)
_RUN: Final = pa.field("run", pa.string())
_FAULTS: Final = pa.schema([_RUN, *FAULTS])
_FINDINGS: Final = pa.schema([_RUN, *FINDINGS])
_NOTES: Final = pa.schema([_RUN, ("note", pa.string())])


_BARE: Final = RunDescription(workload=Workload(name="", model=""))
"""The description of a bare history."""


def facts(
    spark: SparkSession, sources: Mapping[str, Source], crashed: Collection[str]
) -> DataFrame:
    """Return the facts of each run; for a bare history only its label and its model are known.

    Args:
        spark: the session.
        sources: the runs.
        crashed: the runs whose model crashed, so that no key of them was judged.
    """
    rows = []
    for run, source in sources.items():
        described = source.description or _BARE
        rows.append(
            {
                "run": run,
                "label": source.label,
                "started": described.started,
                "system": described.system,
                "backend": described.options.backend,
                "workload": described.workload.name,
                "seed": described.options.seed,
                "model": source.model_name,
                "is_crashed": run in crashed,
                "is_discounted": source.facts is not None and source.facts.is_discounted,
            }
        )
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=FACTS))


def faults(spark: SparkSession, sources: Mapping[str, Source]) -> DataFrame:
    """Return the fault events of all runs."""
    rows = [
        {"run": run, **row}
        for run, source in sources.items()
        if source.tables is not None
        for row in fault_rows(read_faults(source.tables.parent / FAULTS_FILE))
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=_FAULTS))


def violated(spark: SparkSession, sources: Mapping[str, Source]) -> DataFrame:
    """Return the invariants that the runs' harness saw violated, as findings."""
    rows = [
        {"run": run, **msgspec.to_builtins(finding)}
        for run, source in sources.items()
        for finding in violations(source)
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=_FINDINGS))


def doubted(
    spark: SparkSession, sources: Mapping[str, Source], tallies: Mapping[str, Tally]
) -> DataFrame:
    """Return a `note` for each mishap of a run and for each guard that it does not meet."""
    rows = [
        {"run": run, "note": sentence}
        for run, source in sources.items()
        if source.facts is not None
        for sentence in doubts(source.facts, tallies[run])
    ]
    return notes_of(spark, rows)


def notes_of(spark: SparkSession, rows: list[dict[str, str]]) -> DataFrame:
    """Return a relation of a `note` for a `run`."""
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=_NOTES))
