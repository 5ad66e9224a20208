"""The inline engine: checks histories one after the other in this process, without Spark.

It gives the verdicts that `checkers.spark` gives; a test holds them equal.
"""

import time
from collections.abc import Sequence

import pyarrow as pa

from checkers.assembly import CheckResult, assemble, checks_of, run_check
from checkers.history import Operation
from checkers.judge import judge_key
from checkers.kraft.kept import kept
from checkers.kraft.node_logs import committed
from checkers.kraft.run_checks import RELATION_TABLES
from checkers.models import Model
from checkers.sources import Source, node_tables_there
from checkers.tables import operations_table, read_table
from checkers.verdict import KeyVerdict, RunVerdict


def check_inline(source: Source) -> RunVerdict:
    """Returns the verdict on one history or run directory."""
    started = time.monotonic()
    operations = sorted(source.operations(), key=lambda operation: operation.index)
    keys = [] if source.model is None else _judge_keys(source, source.model, operations)
    results = _run_checks(source, operations)
    return assemble(source, keys, results, time.monotonic() - started)


def _judge_keys(source: Source, model: Model, operations: Sequence[Operation]) -> list[KeyVerdict]:
    by_key: dict[str, list[Operation]] = {}
    for operation in operations:
        by_key.setdefault(operation.key, []).append(operation)
    return [judge_key(model, key, by_key[key], source.options) for key in sorted(by_key)]


def _run_checks(source: Source, operations: Sequence[Operation]) -> list[CheckResult]:
    there = node_tables_there(source)
    applicable, _ = checks_of(source.model_name, frozenset({"operations", *there}))
    if not applicable:
        return []
    relations: dict[str, pa.Table] = {"operations": operations_table(operations)}
    if source.tables is not None:
        relations |= {name: read_table(source.tables, name) for name in there}
    if RELATION_TABLES["committed"] <= relations.keys():
        relations["committed"] = committed(relations["records"], relations["trace"])
    if RELATION_TABLES["kept"] <= relations.keys():
        relations["kept"] = kept(relations["committed"], relations["snapshots"])
    return [run_check(check, relations) for check in applicable]
