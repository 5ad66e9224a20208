"""The inline engine: checks histories one by one in this process, without Spark.

The verdicts equal the verdicts of `checkers.spark`; a test compares the two.
"""

import time

import pyarrow as pa

from kraftproof.checkers.guards.tally import Tally, tally_of
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import read_table
from kraftproof.checkers.judge.assembly import CheckResult, assemble, checks_of, run_check
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.kraft.declared import with_recorded_events
from kraftproof.checkers.kraft.kept import kept
from kraftproof.checkers.kraft.node_logs import committed
from kraftproof.checkers.kraft.run_checks import RELATION_TABLES
from kraftproof.checkers.sources import History, Source, node_tables_there
from kraftproof.checkers.verdict import KeyVerdict, RunVerdict


def check_inline(history: History) -> RunVerdict:
    """Return the verdict on one history or run directory.

    Raises:
        CheckerInputError: a value or a table of the run can't be read.
    """
    started = time.monotonic()
    source = history.source
    keys = _judge_keys(history)
    results = _run_checks(source, history.table)
    tally = Tally() if source.facts is None else tally_of(source.facts, history.recorded)
    verdict = assemble(source, keys, results, tally, time.monotonic() - started)
    return with_recorded_events(verdict, history.recorded)


def _judge_keys(history: History) -> list[KeyVerdict]:
    source = history.source
    if source.model is None:
        return []
    try:
        return judge_columns(source.model, columns_of(history.table), source.options)
    except ValueError as error:
        raise source.named(error) from error


def _run_checks(source: Source, operations: pa.Table) -> list[CheckResult]:
    there = node_tables_there(source)
    applicable, _ = checks_of(source.model_name, frozenset({"operations", *there}))
    if not applicable:
        return []
    relations: dict[str, pa.Table] = {"operations": operations}
    if source.tables is not None:
        relations |= {name: read_table(source.tables, name) for name in there}
    if RELATION_TABLES["committed"] <= relations.keys():
        relations["committed"] = committed(relations["records"], relations["trace"])
    if RELATION_TABLES["kept"] <= relations.keys():
        relations["kept"] = kept(relations["committed"], relations["snapshots"])
    faults = source.options.faults
    return [run_check(one, relations, faults, lambda: relations.get("trace")) for one in applicable]
