"""What run.json tells of a run beyond what its check needs: for the tables and their reader."""

from collections.abc import Mapping
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from checkers.faults import read_faults
from checkers.schema import FAULTS
from checkers.sources import FAULTS_FILE, RUN_FILE, Source
from checkers.tables import fault_rows

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
    ]
)
_FAULTS: Final = pa.schema([pa.field("run", pa.string()), *FAULTS])


class _Workload(msgspec.Struct, frozen=True):
    name: str = ""


class _Options(msgspec.Struct, frozen=True):
    backend: str = ""
    seed: int | None = None


class _Run(msgspec.Struct, frozen=True):
    started: str | None = None
    system: str = ""
    workload: _Workload = _Workload()
    options: _Options = _Options()


def facts(spark: SparkSession, sources: Mapping[str, Source]) -> DataFrame:
    """Returns what each run was; of a bare history only its label and its model are known."""
    rows = []
    for run, source in sources.items():
        told = _told(source)
        rows.append(
            {
                "run": run,
                "label": source.label,
                "started": told.started,
                "system": told.system,
                "backend": told.options.backend,
                "workload": told.workload.name,
                "seed": told.options.seed,
                "model": source.model_name,
            }
        )
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=FACTS))


def faults(spark: SparkSession, sources: Mapping[str, Source]) -> DataFrame:
    """Returns the fault events of all runs."""
    rows = [
        {"run": run, **row}
        for run, source in sources.items()
        if source.tables is not None
        for row in fault_rows(read_faults(source.tables.parent / FAULTS_FILE))
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=_FAULTS))


def _told(source: Source) -> _Run:
    if source.tables is None:
        return _Run()
    try:
        return msgspec.json.decode((source.tables.parent / RUN_FILE).read_bytes(), type=_Run)
    except (OSError, msgspec.DecodeError):
        return _Run()  # the check reads what it needs itself, and refuses the run if it can't
