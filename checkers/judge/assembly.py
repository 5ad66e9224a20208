"""Puts the verdict on a run together from those on its keys and the findings of its run checks.

Shared by both engines. A run check that crashed leaves the run unknown; a check whose tables are
missing is listed as not applicable. What the harness saw and the guards are part of the verdict.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.findings import Faults, located_all
from kraftproof.checkers.guards.doubts import doubts, figures
from kraftproof.checkers.guards.tally import Tally
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows, write_table
from kraftproof.checkers.kraft.moments import timed
from kraftproof.checkers.kraft.node_logs import Tables
from kraftproof.checkers.kraft.run_checks import RUN_CHECKS, RunCheck
from kraftproof.checkers.sources import Source, node_tables_there
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import (
    NO_OPERATIONS,
    NONE_SUCCEEDED,
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
    """The findings of a run check, its crash, or the reason for skipping the check."""

    check: str
    findings: tuple[Finding, ...] = ()
    crash: str | None = None
    skipped: str | None = None


def run_check(
    check: RunCheck, tables: Tables, faults: Faults, trace: Callable[[], pa.Table | None]
) -> CheckResult:
    """Run a check, and turn a crash into an unknown verdict.

    Args:
        check: the check.
        tables: the relations of the check.
        faults: when the run's faults were in force.
        trace: returns the run's table `trace`, or None for a run without traces.
    """
    try:
        found = timed(check.find(tables), trace)
        wanted = [one.operation_index for one in found if one.operation_index is not None]
        operations = _operations(tables["operations"], wanted) if wanted else []
        located = located_all(found, operations, faults)
        return CheckResult(check=check.name, findings=tuple(located))
    except NotApplicableError as error:
        return CheckResult(check=check.name, skipped=str(error))
    except Exception as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        return CheckResult(
            check=check.name, crash=f"{type(error).__name__}: {shortened(str(error))}"
        )


def _operations(table: pa.Table, wanted: Sequence[int]) -> list[Operation]:
    """Return the operations with the given indexes."""
    return list(iterate_rows(table.filter(pc.is_in(table["index"], pa.array(wanted)))))


def checks_of(model_name: str, tables: Set[str]) -> tuple[list[RunCheck], list[str]]:
    """Return the run checks for a run with the given tables, and the names of other checks."""
    wanted = [check for check in RUN_CHECKS if check.is_for(model_name)]
    applicable = [check for check in wanted if check.is_applicable(tables)]
    return applicable, [check.name for check in wanted if check not in applicable]


def assemble(
    source: Source,
    keys: Iterable[KeyVerdict],
    results: Iterable[CheckResult],
    tally: Tally,
    seconds: float,
) -> RunVerdict:
    """Return the verdict on a run.

    Args:
        source: the run.
        keys: the verdicts on the run's keys.
        results: the results of the run's checks.
        tally: the counts of the run's operations; all zero for a bare history.
        seconds: how long the check took.
    """
    ordered = tuple(sorted(keys, key=lambda verdict: verdict.key))
    done = _by_name(results)
    findings = (*violations(source), *_findings(ordered, done))
    crashes = [f"{result.check} crashed: {result.crash}" for result in done if result.crash]
    skipped = {r.check: f"{r.check} ({r.skipped})" for r in done if r.skipped}
    tables = frozenset({"operations", *node_tables_there(source)})
    applicable, missing = checks_of(source.model_name, tables)
    doubted = () if source.facts is None else doubts(source.facts, tally)
    verdict = worst(
        [
            verdict_of_keys(ordered),
            verdict_of_findings(findings),
            Verdict.UNKNOWN if crashes or doubted else Verdict.VALID,
        ]
    )
    if source.facts is not None and source.facts.is_discounted:
        verdict, findings = Verdict.UNKNOWN, ()
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
        doubts=doubted,
        notes=(
            *_nothing_checked(ordered),
            *crashes,
            *(f"key {shortened(key.key)}: {key.reason}" for key in ordered if key.reason),
            *_vacuous_keys(ordered),
        ),
        figures=None if source.facts is None else figures(source.facts, tally),
        is_keyed=source.options.is_keyed,
        initial=source.options.initial,
    )


def unknown(source: Source, reason: str) -> RunVerdict:
    """Return the verdict on a run without a single judged key."""
    return RunVerdict(
        history=source.label,
        model=source.model_name,
        verdict=Verdict.UNKNOWN,
        seconds=0.0,
        operations=0,
        notes=(reason,),
    )


def violations(source: Source) -> tuple[Finding, ...]:
    """Return the invariants that the run's harness saw violated, in the order of time."""
    if source.facts is None or source.facts.outcome is None:
        return ()
    return tuple(one.finding(source.options.faults) for one in source.facts.outcome.violations)


def _by_name(results: Iterable[CheckResult]) -> list[CheckResult]:
    by_name: dict[str, list[CheckResult]] = {}
    for result in results:
        by_name.setdefault(result.check, []).append(result)
    return [result for name in sorted(by_name) for result in by_name[name]]


def _findings(keys: Iterable[KeyVerdict], done: Iterable[CheckResult]) -> list[Finding]:
    of_keys = [finding for key in keys for finding in key.findings]
    of_checks = [finding for result in done for finding in result.findings]
    return sorted(of_keys + of_checks, key=_place)


def _nothing_checked(keys: Sequence[KeyVerdict]) -> tuple[str, ...]:
    """Return why no key of a run proves anything; empty if a key proves something."""
    if not keys:
        return (NO_OPERATIONS,)
    return (NONE_SUCCEEDED,) if all(key.is_vacuous for key in keys) else ()


def _vacuous_keys(keys: Sequence[KeyVerdict]) -> tuple[str, ...]:
    """Return the number of keys without a successful operation, if other keys have any."""
    vacuous = sum(key.is_vacuous for key in keys)
    if vacuous in {0, len(keys)}:
        return ()
    return (f"{vacuous} of {len(keys)} keys prove nothing: no operation on them succeeded",)


def _place(finding: Finding) -> tuple[bool, int, str, str]:
    """Safety first, then in the order of the operations."""
    index = -1 if finding.operation_index is None else finding.operation_index
    return (finding.kind != "safety", index, finding.check, finding.sentence)


def write_results(tables: Path, run: RunVerdict) -> None:
    """Write a run's verdicts and findings into its tables."""
    skipped = {"findings", "traceback"}
    rows = (
        {name: value for name, value in msgspec.to_builtins(key).items() if name not in skipped}
        for key in run.keys
    )
    write_table(tables, "verdicts", rows)
    write_table(tables, "findings", (msgspec.to_builtins(finding) for finding in run.findings))
