"""Puts the verdict on a run together from those on its keys and the findings of its run checks.

Shared by both engines. A run check that crashed leaves the run unknown; a check whose tables are
missing is listed as not applicable.
"""

from collections.abc import Iterable, Set
from pathlib import Path

import msgspec

from checkers.kraft.node_logs import Tables
from checkers.kraft.run_checks import RUN_CHECKS, RunCheck
from checkers.sources import Source, node_tables_there
from checkers.tables import write_table
from checkers.verdict import (
    Finding,
    KeyVerdict,
    NotApplicableError,
    RunVerdict,
    Verdict,
    verdict_of_findings,
    verdict_of_keys,
    worst,
)


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one run check found, that it crashed, or why it can't be made."""

    check: str
    findings: tuple[Finding, ...] = ()
    crash: str | None = None
    skipped: str | None = None


def run_check(check: RunCheck, tables: Tables) -> CheckResult:
    """Runs one check, and keeps a crash from being anything but unknown."""
    try:
        return CheckResult(check=check.name, findings=tuple(check.find(tables)))
    except NotApplicableError as error:
        return CheckResult(check=check.name, skipped=str(error))
    except Exception as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        return CheckResult(check=check.name, crash=f"{type(error).__name__}: {error}")


def checks_of(model_name: str, tables: Set[str]) -> tuple[list[RunCheck], list[str]]:
    """Returns the run checks that apply to a run with those tables, and the names of the others."""
    wanted = [check for check in RUN_CHECKS if check.is_for(model_name)]
    applicable = [check for check in wanted if check.is_applicable(tables)]
    return applicable, [check.name for check in wanted if check not in applicable]


def assemble(
    source: Source, keys: Iterable[KeyVerdict], results: Iterable[CheckResult], seconds: float
) -> RunVerdict:
    """Returns the verdict on one run."""
    ordered = tuple(sorted(keys, key=lambda verdict: verdict.key))
    by_name: dict[str, list[CheckResult]] = {}
    for result in results:
        by_name.setdefault(result.check, []).append(result)
    done = [result for name in sorted(by_name) for result in by_name[name]]
    found = [finding for result in done for finding in result.findings]
    findings = tuple(
        sorted([finding for key in ordered for finding in key.findings] + found, key=_place)
    )
    crashes = [f"{result.check} crashed: {result.crash}" for result in done if result.crash]
    skipped = {r.check: f"{r.check} ({r.skipped})" for r in done if r.skipped}
    tables = frozenset({"operations", *node_tables_there(source)})
    applicable, missing = checks_of(source.model_name, tables)
    verdict = worst(
        [
            verdict_of_keys(ordered),
            verdict_of_findings(findings),
            Verdict.UNKNOWN if crashes else Verdict.VALID,
        ]
    )
    return RunVerdict(
        history=source.label,
        model=source.model_name,
        verdict=verdict,
        seconds=seconds,
        operations=sum(key.operations for key in ordered),
        keys=ordered,
        findings=findings,
        checked=tuple(check.name for check in applicable if check.name not in skipped),
        not_applicable=() if source.tables is None else (*missing, *skipped.values()),
        notes=(
            *(() if ordered else ("the history has no operations: nothing was checked",)),
            *crashes,
            *(f"key {key.key}: {key.reason}" for key in ordered if key.reason),
        ),
    )


def unknown(source: Source, reason: str) -> RunVerdict:
    """Return the verdict on a run of which nothing could be judged."""
    return RunVerdict(
        history=source.label,
        model=source.model_name,
        verdict=Verdict.UNKNOWN,
        seconds=0.0,
        operations=0,
        notes=(reason,),
    )


def _place(finding: Finding) -> tuple[bool, int, str, str]:
    """Safety first, then in the order of the operations."""
    index = -1 if finding.operation_index is None else finding.operation_index
    return (finding.kind != "safety", index, finding.check, finding.sentence)


def write_results(tables: Path, run: RunVerdict) -> None:
    """Writes a run's verdicts and findings into its tables."""
    skipped = {"findings", "traceback"}
    rows = (
        {name: value for name, value in msgspec.to_builtins(key).items() if name not in skipped}
        for key in run.keys
    )
    write_table(tables, "verdicts", rows)
    write_table(tables, "findings", (msgspec.to_builtins(finding) for finding in run.findings))
