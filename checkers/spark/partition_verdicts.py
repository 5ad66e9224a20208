"""Puts the verdict on a partition together that was judged by ranges."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from kraftproof.checkers.findings import located_all
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import OPERATIONS
from kraftproof.checkers.history.tables import iterate_rows, table_path
from kraftproof.checkers.logs.judge import reason_of
from kraftproof.checkers.logs.model import Log
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules.problems import Problems, merged
from kraftproof.checkers.logs.states import state_findings
from kraftproof.checkers.logs.wording import findings_of
from kraftproof.checkers.spark.staging import Staged
from kraftproof.checkers.spark.workers import run_folder
from kraftproof.checkers.verdict import KeyVerdict, Verdict, verdict_of_findings


class Whole(NamedTuple):
    """The facts on a whole partition.

    Attributes:
        operations: the number of operations.
        is_vacuous: whether no operation succeeded.
        is_any_acked: whether any send was acknowledged with an offset.
        is_whole: whether the final reads cover the log.
        values: the numbering of the values.
        states: the reports of brokers, by invocation.
    """

    operations: int
    is_vacuous: bool
    is_any_acked: bool
    is_whole: bool
    values: Values
    states: Sequence[Operation]


def operations_path(staged: Staged, run: str) -> Path:
    """Return the file of a run's operations in the stage."""
    return table_path(run_folder(staged.folder, run), "operations")


def verdict_on(
    staged: Staged, place: tuple[str, str], whole: Whole, problems: list[Problems]
) -> KeyVerdict:
    """Return the verdict on a partition, equal to that of the inline engine.

    Args:
        staged: the stage.
        place: the run and the partition.
        whole: the facts on the partition.
        problems: those of the ranges.
    """
    run, key = place
    findings = findings_of(key, merged(problems), whole.values)
    findings += state_findings(key, whole.states)
    named = sorted({one.operation_index for one in findings if one.operation_index is not None})
    if named:
        rows = pq.read_table(
            operations_path(staged, run),
            columns=OPERATIONS.names,
            filters=[("index", "in", named)],
            partitioning=None,
        )
        faults = staged.plans[run].options.faults
        findings = located_all(findings, iterate_rows(rows), faults)
    reason = reason_of(is_any_acked=whole.is_any_acked, is_whole=whole.is_whole)
    decided = verdict_of_findings(findings)
    is_unknown = decided is Verdict.VALID and (reason is not None or whole.is_vacuous)
    return KeyVerdict(
        key=key,
        model=Log.name,
        verdict=Verdict.UNKNOWN if is_unknown else decided,
        operations=whole.operations,
        findings=tuple(findings),
        reason=reason,
        is_vacuous=whole.is_vacuous,
    )
