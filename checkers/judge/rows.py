"""Judges the keys of models that take a key's operations as columns, and completes verdicts."""

import time
from collections.abc import Iterable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.crash import crashed, reraise_interrupt, traceback_of
from kraftproof.checkers.findings import located_all
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows
from kraftproof.checkers.models import Model, TableModel
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import KeyVerdict, Verdict, verdict_of_findings


def judge_rows(model: TableModel, columns: Columns, key: int, options: CheckOptions) -> KeyVerdict:
    """Return the verdict on a key of a model that judges columns.

    Raises:
        ValueError: the model can't read a value.
    """
    started = time.monotonic()
    rows = columns.rows_of(key)
    try:
        findings, reason = model.judge_rows(columns.keys[key], rows, options)
    except ValueError:
        raise
    except BaseException as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        reraise_interrupt(error)
        return unknown_verdict(model, columns.keys[key], len(rows), error)
    decided = verdict_of_findings(findings)
    is_unknown = decided is Verdict.VALID and reason is not None
    named = [one.operation_index for one in findings if one.operation_index is not None]
    verdict = KeyVerdict(
        key=columns.keys[key],
        model=model.name,
        verdict=Verdict.UNKNOWN if is_unknown else decided,
        operations=len(rows),
        findings=tuple(findings),
        reason=reason,
    )
    known = rows.filter(pc.is_in(rows.column("index"), pa.array(named, pa.int64())))
    verdict = located_verdict(verdict, iterate_rows(known), options)
    return msgspec.structs.replace(verdict, seconds=time.monotonic() - started)


def located_verdict(
    verdict: KeyVerdict, operations: Iterable[Operation], options: CheckOptions
) -> KeyVerdict:
    """Return a verdict whose findings say when, where and under which fault."""
    if not verdict.findings:
        return verdict
    findings = located_all(verdict.findings, operations, options.faults)
    return msgspec.structs.replace(verdict, findings=tuple(findings))


def unknown_verdict(model: Model, key: str, operations: int, error: BaseException) -> KeyVerdict:
    """Return the verdict on a key whose model crashed."""
    return KeyVerdict(
        key=key,
        model=model.name,
        verdict=Verdict.UNKNOWN,
        operations=operations,
        reason=crashed(model.name, model, error),
        crashed=True,
        traceback=traceback_of(error),
    )
