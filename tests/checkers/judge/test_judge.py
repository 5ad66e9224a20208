"""Judging columns: which engine has which word, threads and processes, and what crashes."""

import pickle
from random import Random

import msgspec
import pytest

from kraftproof.checkers.calls.selection import of_keys
from kraftproof.checkers.engines import own, registry
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.judge.keys import _KeyJudge, judge_columns, judge_key
from kraftproof.checkers.models.cas_register import CasRegister
from kraftproof.checkers.models.kv_append import KvAppend
from kraftproof.checkers.models.priority_queue import PriorityQueue
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.models.example_model import Stock
from tests.support.checkers import reference
from tests.support.checkers.columnar import history
from tests.support.checkers.random_histories import draw_append, draw_cas, random_history

OPTIONS = CheckOptions(limits=Limits(seconds=20))
KEYS_TO_COMPILE = 1_500
"""Keys of six operations at most: too many operations for the general engine to be asked first."""


def many_keys(draw, apply, keys, size):
    random = Random(keys)
    operations = []
    for key in range(keys):
        base = len(operations)
        operations += [
            msgspec.structs.replace(o, key=f"{key:04d}", index=base + o.index)
            for o in random_history(random, draw, apply, size, 3)
        ]
    return operations


def without_times(verdicts):
    return [msgspec.structs.replace(verdict, seconds=0.0) for verdict in verdicts]


def by_key(model, operations):
    keys = sorted({o.key for o in operations})
    return [judge_key(model, k, [o for o in operations if o.key == k], OPTIONS) for k in keys]


def test_a_short_history_gets_the_words_of_the_general_engine():
    operations = many_keys(draw_cas, reference.cas_register, 40, 6)
    columns = columns_of(operations_table(operations))
    verdicts = judge_columns(CasRegister(), columns, OPTIONS)
    assert without_times(verdicts) == without_times(by_key(CasRegister(), operations))
    assert {verdict.verdict for verdict in verdicts} == {Verdict.VALID, Verdict.INVALID}


@pytest.mark.long
def test_a_long_one_gets_the_same_verdicts_from_compiled_engines_however_many_threads(monkeypatch):
    operations = many_keys(draw_cas, reference.cas_register, KEYS_TO_COMPILE, 6)
    columns = columns_of(operations_table(operations))
    assert len(columns) > 5_000
    one = judge_columns(CasRegister(), columns, OPTIONS)
    monkeypatch.setattr(own, "WORTH_SPREADING", 1)
    parts = []
    monkeypatch.setattr(own, "of_keys", lambda c, k: parts.append(k) or of_keys(c, k))
    two = judge_columns(CasRegister(), columns, msgspec.structs.replace(OPTIONS, processes=2))
    assert len(parts) == 8
    assert without_times(two) == without_times(one)
    told = [(v.verdict, [f.operation_index for f in v.findings]) for v in one]
    wanted = by_key(CasRegister(), operations)
    assert told == [(v.verdict, [f.operation_index for f in v.findings]) for v in wanted]


def test_a_model_that_has_no_columns_is_judged_key_by_key():
    rows = [("restock", 2, None, 1, 2), ("take", 2, "taken", 3, 4), ("count", None, 0, 5, 6)]
    wrong = [*rows[:2], ("count", None, 2, 5, 6)]
    operations = [
        msgspec.structs.replace(one, key=key, index=10 * number + one.index)
        for number, (key, some) in enumerate([("a", rows), ("b", wrong)])
        for one in history(*some)
    ]
    verdicts = judge_columns(Stock(), columns_of(operations_table(operations)), OPTIONS)
    assert [(one.key, one.verdict) for one in verdicts] == [
        ("a", Verdict.VALID),
        ("b", Verdict.INVALID),
    ]
    assert without_times(verdicts) == without_times(by_key(Stock(), operations))


@pytest.mark.parametrize(("concurrency", "is_first"), [(1, True), (4, False)])
def test_the_general_engine_finds_the_first_wrong_operation_if_that_takes_few_states(
    concurrency, is_first
):
    """The compiled engine has no room for an order; the general one needs one state at a time."""
    options = GenerateOptions(
        model="priority-queue",
        operations=5_200,
        concurrency=concurrency,
        values=3,
        keys=30,
        indeterminate=0.0,
        corrupt="phantom",
        seed=1,
    )
    tight = CheckOptions(limits=Limits(seconds=20, memory_bytes=300))
    verdicts = judge_columns(PriorityQueue(), columns_of(generated_table(options)), tight)
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    assert [finding.is_first for finding in findings] == [is_first]
    assert {verdict.crashed for verdict in verdicts} == {False}


def test_rows_may_come_in_any_order():
    operations = many_keys(draw_append, reference.kv_append, 20, 6)
    shuffled = Random(1).sample(operations, len(operations))
    told = [
        without_times(judge_columns(KvAppend(), columns_of(operations_table(some)), OPTIONS))
        for some in (operations, shuffled)
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("fault", [KeyError("lost"), MemoryError()])
def test_an_engine_that_crashes_leaves_all_keys_unknown(monkeypatch, fault):
    def decide(*_):
        raise fault

    operations = many_keys(draw_cas, reference.cas_register, KEYS_TO_COMPILE, 6)
    monkeypatch.setattr(registry, "decide", decide)
    verdicts = judge_columns(CasRegister(), columns_of(operations_table(operations)), OPTIONS)
    assert {(v.verdict, v.crashed) for v in verdicts} == {(Verdict.UNKNOWN, True)}
    assert len(verdicts) == KEYS_TO_COMPILE


@pytest.mark.parametrize(
    ("model", "draw", "apply"),
    [
        (CasRegister(), draw_cas, reference.cas_register),
        (KvAppend(), draw_append, reference.kv_append),
    ],
)
def test_a_key_on_which_nothing_succeeded_is_never_valid(model, draw, apply):
    operations = [
        msgspec.structs.replace(one, status="fail") if one.key == "0000" else one
        for one in many_keys(draw, apply, 2, 6)
    ]
    verdicts = judge_columns(model, columns_of(operations_table(operations)), OPTIONS)
    assert [(one.key, one.is_vacuous) for one in verdicts] == [("0000", True), ("0001", False)]
    assert verdicts[0].verdict is Verdict.UNKNOWN


def test_a_key_is_judged_alike_in_another_process():
    operations = many_keys(draw_cas, reference.cas_register, 1, 6)
    sent = pickle.loads(pickle.dumps(_KeyJudge(CasRegister(), OPTIONS)))
    (here,) = without_times([judge_key(CasRegister(), "0000", operations, OPTIONS)])
    (there,) = without_times([sent(("0000", operations_table(operations)))])
    assert there == here
