"""Leaving values out: what is about no value stays, and in no order does a set have a say."""

import subprocess
import sys

import pytest

from kraftproof.checkers.explain.linearization.linearization import longest_linearization
from kraftproof.checkers.explain.reduction.reductions import prefix, projected
from kraftproof.checkers.explain.reduction.relevant_values import relevant_values
from kraftproof.checkers.explain.reduction.values import fewest
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import SequentialModel, models
from kraftproof.checkers.models.queue import Queue
from kraftproof.checkers.models.reducible import AllBut
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import KeyVerdict, Verdict
from tests.support.checkers.columnar import history

CLOSENESS = """
from kraftproof.checkers.explain.reduction.reductions import prefix
from kraftproof.checkers.explain.reduction.values import by_closeness
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.list_append import ListAppend
events = dict(process=0, key="k", status="ok")
appends = [
    Operation(
        index=n, f="append", input=n, output=n, invoke_index=n, complete_index=100 + n, **events
    )
    for n in range(40)
]
read = Operation(
    index=40, f="read", input=None, output=list(range(40)), invoke_index=200, complete_index=201,
    **events,
)
model = ListAppend()
print(by_closeness(model, prefix(model, [*appends, read], 201)))
"""


def test_a_take_whose_answer_was_lost_stays():
    operations = history(
        ("enqueue", 1, 1, 0, 1),
        ("dequeue", None, None, 2, None),
        ("dequeue", None, None, 4, 5),
    )
    sub = prefix(Queue(), operations, 5)
    assert is_linearizable(Queue(), sub)
    (value,) = Queue().values(sub.entries[0].call)
    assert is_linearizable(Queue(), projected(Queue(), sub, AllBut([value])))
    assert len(projected(Queue(), sub, AllBut([value]))) == 3


@pytest.mark.parametrize("needed", [{0}, {3, 17}, {0, 31, 99}])
def test_no_value_too_many_is_kept(needed):
    assert set(fewest(list(range(100)), lambda kept: needed <= set(kept))) == needed


def test_values_are_in_the_same_order_in_every_process():
    said = {
        subprocess.run(
            [sys.executable, "-c", CLOSENESS],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(said) == 1


@pytest.mark.long
def test_adds_that_were_lost_do_not_hide_the_linearization():
    options = GenerateOptions(
        model="set",
        operations=2_000,
        concurrency=10,
        values=None,
        mix={"add": 2, "read": 1},
        indeterminate=0.05,
        corrupt="lost-add",
        seed=1,
    )
    model = models()["set"]
    assert isinstance(model, SequentialModel)
    columns = columns_of(generated_table(options))
    (judged,) = judge_columns(model, columns, CheckOptions())
    first_illegal = next(one for one in columns.operations(0) if one.index == _index(judged))
    assert first_illegal.complete_index is not None
    before = prefix(model, columns.operations(0), first_illegal.complete_index - 1)
    order = longest_linearization(model, before, 10)
    assert order is not None
    placed = {entry.operation.index for entry in order}
    assert all(one.operation.index in placed for one in before.entries if one.is_required)


def _index(judged: KeyVerdict) -> int | None:
    assert judged.verdict is Verdict.INVALID
    return judged.findings[0].operation_index


def test_what_an_enqueue_answers_may_be_a_list():
    operations = history(
        *(("enqueue", n, list(range(n)), 2 * n, 2 * n + 1) for n in range(4)),
        ("dequeue", None, None, 8, 9),
    )
    whole = prefix(Queue(), operations, 9)
    assert is_linearizable(Queue(), whole) is False
    order = longest_linearization(Queue(), prefix(Queue(), operations, 7), 5.0)
    assert list(relevant_values(Queue(), order, whole))
