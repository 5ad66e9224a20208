"""Keep the steps and the findings of all nights as Parquet, a file per night and table.

The layout is nights/steps/night=N.parquet and nights/findings/night=N.parquet. Spark and pyarrow
read each folder as a table.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from kraftproof.errors import UsageError
from kraftproof.nightly.steps import Step
from kraftproof.option_files import option_file

STEPS: Final = pa.schema(
    [
        ("night", pa.int64()),
        ("day", pa.string()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("verdict", pa.string()),
        ("seconds", pa.float64()),
        ("ok", pa.int64()),
        ("ok_in_faults", pa.int64()),
        ("bitten", pa.map_(pa.string(), pa.int64())),
        ("run", pa.string()),
        ("command", pa.string()),
    ]
)
FINDINGS: Final = pa.schema(
    [
        ("night", pa.int64()),
        ("day", pa.string()),
        ("step", pa.string()),
        ("fingerprint", pa.string()),
        ("check", pa.string()),
        ("sentence", pa.string()),
        ("reproduced", pa.int64()),
        ("repeats", pa.int64()),
        ("command", pa.string()),
    ]
)


def keep(archive: Path, night: int, day: str, steps: Sequence[Step]) -> None:
    """Write the tables of a night, in place of earlier tables of the night.

    Raises:
        UsageError: a file can't be written.
    """
    rows = [
        {
            "night": night,
            "day": day,
            "kind": step.kind,
            "name": step.name,
            "verdict": step.verdict,
            "seconds": step.seconds,
            "ok": step.ok,
            "ok_in_faults": step.ok_in_faults,
            "bitten": list(step.bitten.items()),
            "run": step.run,
            "command": step.command,
        }
        for step in steps
    ]
    findings = [
        {
            "night": night,
            "day": day,
            "step": step.name,
            "fingerprint": one.fingerprint,
            "check": one.check,
            "sentence": one.sentence,
            "reproduced": one.reproduced,
            "repeats": one.repeats,
            "command": one.command,
        }
        for step in steps
        for one in step.findings
    ]
    _write(archive / "steps" / f"night={night}.parquet", rows, STEPS)
    _write(archive / "findings" / f"night={night}.parquet", findings, FINDINGS)


def earlier(archive: Path, table: str, night: int) -> list[dict[str, Any]]:
    """Return the rows of a table from all nights before a night, in the order of the nights.

    Raises:
        UsageError: a file is no such table.
    """
    rows: list[dict[str, Any]] = []
    for path in (archive / table).glob("night=*.parquet"):
        try:
            rows += pq.ParquetFile(path).read().to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise UsageError(f"{path}: {error}") from error
    return sorted((row for row in rows if row["night"] < night), key=lambda row: row["night"])


def _write(path: Path, rows: Iterable[dict[str, Any]], schema: pa.Schema) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with option_file("--out", path) as part:
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), part)
