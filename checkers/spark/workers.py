"""The work of a Spark worker on a group of rows. No pyspark here: Arrow in, Arrow out."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kraftproof.checkers.crash import ModelCrashError, traceback_of
from kraftproof.checkers.guards.facts import RunFacts
from kraftproof.checkers.guards.tally import tally_of
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.schema import OPERATIONS, table_schema
from kraftproof.checkers.history.tables import read_table, rows_of_key, table_path, write_whole
from kraftproof.checkers.judge.assembly import CheckResult, run_check
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.kraft.run_checks import RUN_CHECKS
from kraftproof.checkers.models import has_own_keys, model_named
from kraftproof.checkers.models.inference import infer_model
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.run_description import RunDescription
from kraftproof.checkers.sampling import sample_of_file
from kraftproof.checkers.sources import Source, node_tables_there
from kraftproof.checkers.spark.rows import CHECKED, JUDGED, READ, TALLIED
from kraftproof.checkers.verdict import CheckerInputError, KeyVerdict


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A source as a worker needs it: its model by name, for models may not travel.

    Attributes: label: the user's name for the history.
        history: the history's file, which every worker can read.
        model: the model's name; None for an inferred model.
        options: limits, and the bounds of leases.
        is_long: whether one worker should not read the history if Spark can read it in parts.
        root: what was put before the paths as the user gave them, for workers are elsewhere.
        tables: where the run's neutral tables lie, None for a bare history.
        facts: the input of the guards, None for a bare history.
        description: the content of run.json, None for a bare history.
    """

    label: str
    history: Path
    model: str | None
    options: CheckOptions
    is_long: bool
    root: str
    tables: Path | None = None
    facts: RunFacts | None = None
    description: RunDescription | None = None

    def as_read(self, model: str | None, events: int | None) -> "Plan":
        """Return the plan with the model and the number of events of the history."""
        facts = self.facts
        if facts is not None:
            facts = msgspec.structs.replace(facts, events=events)
        return msgspec.structs.replace(self, model=model, facts=facts)

    def source(self) -> Source:
        """Return the source."""
        model = None if self.model is None else model_named(self.model)
        return Source(
            label=self.label,
            history=self.history,
            model=model,
            options=self.options,
            tables=self.tables,
            facts=self.facts,
            description=self.description,
        )

    def trace(self) -> pa.Table | None:
        """Return the table of the nodes' traces, or None for a run without traces.

        Raises: CheckerInputError: the file can't be read.
        """
        return None if self.tables is None else read_table(self.tables, "trace")

    def described(self, problem: object) -> str:
        """Return a problem with the user's form of the path."""
        return str(problem).removeprefix(self.root)

    def damaged(self) -> str:
        """Return the message for a table that can be opened, but not read to its end."""
        return self.described(f"{self.history}: not a readable Parquet file: its pages are damaged")


Plans = Mapping[str, Plan]
"""By run."""
MapFunction = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
GroupFunction = Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]
CogroupFunction = Callable[[tuple[pa.Scalar, ...], pa.Table, pa.Table], pa.Table]
Checks = Mapping[str, frozenset[str]]
"""The runs of each run check, by name."""


def run_folder(stage: Path, run: str) -> Path:
    """Return where a run's tables are staged: Spark has the run from the folder's name."""
    return stage / f"run={run}"


def read_histories(plans: Plans, stage: Path) -> MapFunction:
    """Return a function that copies histories into the stage as Parquet, one folder a run."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            runs = batch.column("run").to_pylist()
            rows = [_read(run, plans[run], run_folder(stage, run)) for run in runs]
            yield from pa.Table.from_pylist(rows, schema=READ).to_batches()

    return read


def _read(run: str, plan: Plan, folder: Path) -> dict[str, object]:
    try:
        for name in node_tables_there(plan.source()):
            assert plan.tables is not None
            read_table(plan.tables, name)
        staged = _staged(plan, folder)
    except CheckerInputError as error:
        return _problem(run, plan, error)
    except (OSError, pa.ArrowException) as error:
        if getattr(error, "errno", None) == errno.ENOSPC:  # in the stage, not in the history
            problem = f"{folder.parent}: {os.strerror(errno.ENOSPC)}"
            return {"run": run, "problem": plan.described(problem)}
        first = (str(error).splitlines() or [type(error).__name__])[0]
        problem = f"{plan.history}: not a readable Parquet file: {first}"
        return {"run": run, "problem": plan.described(problem)}
    return {"run": run, **staged}


def _staged(plan: Plan, folder: Path) -> dict[str, object]:
    """Stage one history; return its row of `checkers.spark.rows.READ`.

    A long table with the declared columns is linked to, and its rows are taken as they are; all
    else is read, and refused as the inline engine refuses it.
    """
    source = plan.source()
    has_other_keys = source.model is not None and has_own_keys(source.model)
    is_changed = has_other_keys or plan.options.is_keyed or plan.options.initial is not None
    is_changed = is_changed or bool(plan.options.guarantees)
    if plan.is_long and _is_as_declared(plan.history) and not is_changed:
        functions = _functions(plan.history)
        model = plan.model or (_inferred(plan.history, functions) if functions else None)
        link = table_path(folder, "operations")
        folder.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(plan.history.resolve())
        return {"model": model, "operations": pq.read_metadata(plan.history).num_rows}
    history = source.read()
    write_whole(folder, "operations", history.table)
    found = history.source
    name = plan.model or (None if found.model is None else found.model.name)
    events = None if found.facts is None else found.facts.events
    return {"model": name, "operations": len(history.table), "events": events}


def _is_as_declared(history: Path) -> bool:
    """Return whether a file has exactly the columns of `checkers.history.schema.OPERATIONS`."""
    if history.suffix != ".parquet":
        return False
    try:
        found = pq.read_schema(history)
    except (OSError, pa.ArrowException):
        return False
    wanted = table_schema("operations")
    same_version = (found.metadata or {}).get(b"schema_version") == wanted.metadata[
        b"schema_version"
    ]
    names = frozenset(found.names)
    return same_version and all(
        field.name in names and found.field(field.name).equals(field) for field in wanted
    )


def _inferred(history: Path, functions: list[str]) -> str:
    return infer_model(history, functions, sample_of_file(history)).name


def _functions(history: Path) -> list[str]:
    with pq.ParquetFile(history, read_dictionary=["f"]) as file:
        found: set[str] = set()
        for batch in file.iter_batches(columns=["f"]):
            found.update(batch.column("f").dictionary.to_pylist())
    return sorted(found)


def judge_slot(plans: Plans) -> GroupFunction:
    """Return the function that judges a group of keys of a run."""

    def judge(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        run = str(group[0].as_py())
        return _judged(run, plans[run], rows.select(OPERATIONS.names))

    return judge


def judge_keys(plans: Plans, stage: Path) -> MapFunction:
    """Return the function that judges keys, one a row, from the run's file in the stage."""

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                run = row["run"]
                yield from _judged_apart(run, row["key"], plans[run], stage).to_batches()

    return judge


def _judged_apart(run: str, key: str, plan: Plan, stage: Path) -> pa.Table:
    try:
        rows = rows_of_key(table_path(run_folder(stage, run), "operations"), key)
    except (OSError, pa.ArrowException):
        return _as_judged(_problem(run, plan, CheckerInputError(plan.damaged())))
    return _judged(run, plan, rows)


def _judged(run: str, plan: Plan, rows: pa.Table) -> pa.Table:
    source = plan.source()
    assert source.model is not None
    try:
        verdicts = judge_columns(source.model, columns_of(rows), source.options)
    except ValueError as error:
        named = source.named(error)
        named.__cause__ = None if named is error else error
        return _as_judged(_problem(run, plan, named))
    return _table(run, verdicts, JUDGED)


def _problem(run: str, plan: Plan, error: CheckerInputError) -> dict[str, object]:
    trace = traceback_of(error) if isinstance(error, ModelCrashError) else None
    return {"run": run, "problem": plan.described(error), "traceback": trace}


def _as_judged(row: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([row], schema=JUDGED)


def tally(facts: Mapping[str, RunFacts]) -> MapFunction:
    """Return the function that tallies parts of the operations of some runs."""

    def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            for run in table.column("run").unique().to_pylist():
                rows = table.filter(pc.equal(table.column("run"), run))
                counts = msgspec.structs.asdict(tally_of(facts[run], rows))
                yield pa.RecordBatch.from_pylist([{"run": run, **counts}], schema=TALLIED)

    return counted


def check_group(checks: Checks, plans: Plans) -> GroupFunction:
    """Return the function that runs the checks of one relation on one run."""

    def find(group: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        return _checked(checks, plans, group, [rows])

    return find


def check_groups(checks: Checks, plans: Plans) -> CogroupFunction:
    """Return the function that runs the checks of two relations on one run."""

    def find(group: tuple[pa.Scalar, ...], left: pa.Table, right: pa.Table) -> pa.Table:
        return _checked(checks, plans, group, [left, right])

    return find


def _checked(
    checks: Checks, plans: Plans, group: tuple[pa.Scalar, ...], relations: Sequence[pa.Table]
) -> pa.Table:
    run = group[0].as_py()
    plan = plans[run]
    results = [
        run_check(
            check,
            dict(zip(check.relations, relations, strict=True)),
            plan.options.faults,
            plan.trace,
        )
        for check in RUN_CHECKS
        if run in checks.get(check.name, frozenset())
    ]
    return _table(run, results, CHECKED)


def _table(run: str, results: Sequence[KeyVerdict | CheckResult], schema: pa.Schema) -> pa.Table:
    rows = [{"run": run, **msgspec.to_builtins(result)} for result in results]
    return pa.Table.from_pylist(rows, schema=schema)
