"""What a Spark worker does with one group of rows. No pyspark here: Arrow in, Arrow out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import pyarrow as pa

from checkers.assembly import CheckResult, run_check
from checkers.judge import judge_key
from checkers.kraft.run_checks import RUN_CHECKS
from checkers.models import model_named
from checkers.options import CheckOptions
from checkers.schema import FINDINGS, VERDICTS
from checkers.tables import operations_of
from checkers.verdict import KeyVerdict

_RUN: Final = pa.field("run", pa.string(), nullable=False)
_FOUND: Final = pa.field("findings", pa.list_(pa.struct(list(FINDINGS))))

JUDGED: Final = pa.schema([_RUN, *VERDICTS, _FOUND])
CHECKED: Final = pa.schema(
    [
        _RUN,
        pa.field("check", pa.string()),
        pa.field("crash", pa.string()),
        pa.field("skipped", pa.string()),
        _FOUND,
    ]
)

GroupFunction = Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]
CogroupFunction = Callable[[tuple[pa.Scalar, ...], pa.Table, pa.Table], pa.Table]
Checks = Mapping[str, frozenset[str]]
"""By name of a run check: the runs that it applies to."""
Plans = Mapping[str, tuple[str, CheckOptions]]
"""By run: the name of its model, and what its check is told."""


def judge_group(plans: Plans) -> GroupFunction:
    """Returns what judges one key of one run."""

    def judge(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        run, key = (value.as_py() for value in group)
        model_name, options = plans[run]
        verdict = judge_key(model_named(model_name), key, operations_of(rows), options)
        return _table(run, [verdict], JUDGED)

    return judge


def check_group(checks: Checks) -> GroupFunction:
    """Returns what runs checks of one relation on one run."""

    def find(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        return _checked(checks, group, [rows])

    return find


def check_groups(checks: Checks) -> CogroupFunction:
    """Returns what runs checks of two relations on one run."""

    def find(group: tuple[pa.Scalar, ...], left: pa.Table, right: pa.Table) -> pa.Table:
        return _checked(checks, group, [left, right])

    return find


def _checked(
    checks: Checks, group: tuple[pa.Scalar, ...], relations: Sequence[pa.Table]
) -> pa.Table:
    run = group[0].as_py()
    results = [
        run_check(check, dict(zip(check.relations, relations, strict=True)))
        for check in RUN_CHECKS
        if run in checks.get(check.name, frozenset())
    ]
    return _table(run, results, CHECKED)


def _table(run: str, results: Sequence[KeyVerdict | CheckResult], schema: pa.Schema) -> pa.Table:
    rows = [{"run": run, **msgspec.to_builtins(result)} for result in results]
    return pa.Table.from_pylist(rows, schema=schema)
