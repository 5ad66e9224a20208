"""What was put in and taken out is counted: what does not balance has no legal order.

On thousands of random small histories of every container, judged by trying every order.
"""

from dataclasses import replace
from random import Random

import msgspec
import pytest

from checkers.explain import explain
from checkers.explain.balances import left_over, unbalanced
from checkers.explain.brute_force import is_balanced_right, is_linearizable
from checkers.explain.reductions import prefix, projected
from checkers.explain.subhistory import SubHistory
from checkers.generate import GenerateOptions
from checkers.models import models
from checkers.models.container import Container
from checkers.models.reducible import AllBut
from tests.checkers.cases import CASES
from tests.checkers.columnar import history
from tests.checkers.explained import whole_proof
from tests.checkers.random_histories import draw_container, random_history

HISTORIES = 4_000
NAMES = ("queue", "stack", "priority-queue")
NEXT_OUT = {
    "queue": lambda _: 0,
    "stack": lambda _: -1,
    "priority-queue": lambda e: e.index(min(e)),
}


def container(name: str) -> Container:
    model = models()[name]
    assert isinstance(model, Container)
    return model


def random_prefix(random: Random, name: str, values: int) -> SubHistory:
    """A prefix of random calls of a container: it ends with a completion."""
    model, (apply, _) = container(name), CASES[name]
    draw = draw_container(model.put, model.take, NEXT_OUT[name], values)
    size = random.randrange(2, 9)
    operations = random_history(random, draw, apply, size, random.randrange(2, 5))
    ends = [one.complete_index for one in operations if one.status == "ok"]
    return prefix(model, operations, random.choice([end for end in ends if end is not None] or [0]))


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_balance_has_no_legal_order(name):
    random, model, found = Random(f"balance {name}"), container(name), 0
    for _ in range(HISTORIES):
        sub = random_prefix(random, name, random.choice([1, 2, 4]))
        balance = unbalanced(model, sub)
        if balance is None:
            continue
        found += 1
        assert is_linearizable(model, sub) is False, sub
        assert is_balanced_right(model, balance, sub)
        assert is_linearizable(model, left_over(model, balance)) is False
        assert is_linearizable(model, projected(model, sub, AllBut(balance.items))) is False
    assert found > HISTORIES / 40


def test_counting_shows_all_that_is_wrong_with_the_last_answer_about_equal_elements():
    """Of one value only, without lost answers, a container is how many there are inside."""
    random, model, shown = Random("one value"), container("queue"), 0
    for _ in range(HISTORIES):
        sub = random_prefix(random, "queue", 1)
        entries = [one for one in sub.entries if one.is_required]
        is_known = all(one.call != ("take", None) for one in sub.entries)
        has_nones = sum(one.call[0] == "found none" for one in entries)  # type: ignore[index]
        if not entries or not is_known or has_nones:
            continue
        last = sub.last_to_return()
        before = replace(sub, entries=tuple(one for one in sub.entries if one is not last))
        if is_linearizable(model, before) and not is_linearizable(model, sub):
            assert unbalanced(model, sub) is not None, sub
            shown += 1
    assert shown > HISTORIES / 100


def test_another_count_than_the_recorded_one_is_not_believed():
    operations = history(
        ("enqueue", 1, None, 0, 1),
        ("enqueue", 1, None, 2, 3),
        ("dequeue", None, 1, 4, 9),
        ("dequeue", None, None, 5, 8),
    )
    model = container("queue")
    legal = prefix(model, operations, 9)
    assert unbalanced(model, legal) is None
    operations[2] = msgspec.structs.replace(operations[2], invoke_index=8, complete_index=9)
    whole = prefix(model, operations, 8)
    balance = unbalanced(model, whole)
    assert balance is not None
    assert [one.operation.index for one in balance.over] == [0, 1]
    assert is_balanced_right(model, balance, whole)
    later = replace(balance, over_by=9)
    assert not is_balanced_right(model, later, whole)
    other = replace(balance, items=(2,))
    assert not is_balanced_right(model, other, whole)
    assert not is_balanced_right(model, replace(balance, last=balance.over[0]), whole)


@pytest.mark.parametrize(
    ("name", "kind", "lost"),
    [
        ("queue", "false-empty", 0.0),
        ("priority-queue", "false-empty", 0.0),
        ("priority-queue", "duplicate", 0.0),
        ("queue", "duplicate", 0.05),
    ],
)
def test_what_hundreds_of_calls_show_is_told_by_counting_them(name, kind, lost):
    options = GenerateOptions(
        model=name,
        operations=10_000,
        concurrency=10,
        values=5,
        indeterminate=lost,
        corrupt=kind,
        seed=0 if lost == 0 else 1,
    )
    sub = whole_proof(options)
    assert len(sub.constraints) <= 3


def test_the_words_say_what_was_counted():
    calls = [("enqueue", 1, None, 2 * n, 2 * n + 1) for n in range(20)]
    calls += [("dequeue", None, 1, 40 + 2 * n, 41 + 2 * n) for n in range(12)]
    operations = history(*calls, ("dequeue", None, None, 64, 65))
    found = explain(container("queue"), "0", operations, 32)
    assert found.sub_history is not None
    assert found.sub_history.is_verified
    assert found.sub_history.is_minimal
    balance = found.sub_history.balance
    assert balance is not None
    assert (len(balance.over), len(balance.begun), balance.last) == (20, 12, 32)
    assert "20 enqueue of 1 were over, and by event 65" in found.words
    assert "at most 12 dequeue" in found.words
