"""Sums that were told: adding up shows nothing of a legal history, and little of a wrong one."""

import dataclasses
from random import Random

import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.certificate.sum_bounds import contradicting_sum_bound, left_of
from kraftproof.checkers.explain.reduction.reductions import prefix, window
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable, is_sum_bound_right
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models.counter import Counter
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.cases import CASES
from tests.support.checkers.columnar import history
from tests.support.checkers.random_histories import random_history
from tests.support.random_cases import is_long, random_cases

HISTORIES = random_cases(3_000, share=16)


def random_sub_history(random: Random) -> SubHistory:
    """A prefix or a window of some random operations of a counter, with what was told last."""
    apply, draw = CASES[random.choice(["counter", "counter/ones", "counter/signs"])]
    size = random.randrange(2, 9)
    operations = random_history(random, draw, apply, size, random.randrange(2, 5))
    sub = prefix(Counter(), operations, random.randrange(2 * size + 2))
    if random.random() < 0.4:
        return window(Counter(), sub, random.randrange(2 * size)) or sub
    return sub


def test_what_adding_up_shows_is_wrong():
    random, valid, high, low = Random("totals"), 0, 0, 0
    for _ in range(HISTORIES):
        sub = random_sub_history(random)
        if not any(entry.is_required for entry in sub.entries):
            continue
        found = contradicting_sum_bound(Counter(), sub)
        is_valid = is_linearizable(Counter(), sub)
        assert found is None or is_valid is False, (sub, found)
        valid += bool(is_valid)
        if found is None:
            continue
        high, low = high + found.is_most, low + (not found.is_most)
        assert is_sum_bound_right(Counter(), found, sub), (sub, found)
        assert is_linearizable(Counter(), left_of(Counter(), found)) is False, (sub, found)
    assert valid > HISTORIES / 10
    assert min(high, low) > HISTORIES / 50


@pytest.mark.parametrize(
    ("told", "is_most", "adds"), [(9, False, (2, 3)), (30, True, (0, 1, 2, 3))]
)
def test_as_few_adds_are_told_as_are_enough(told, is_most, adds):
    adds_of_4_to_7 = [("add", n + 4, n + 4, 2 * n, 2 * n + 1) for n in range(4)]
    whole = prefix(Counter(), history(*adds_of_4_to_7, ("read", None, told, 8, 9)), 9)
    found = contradicting_sum_bound(Counter(), whole)
    assert found is not None
    assert found.is_most == is_most
    assert tuple(one.operation.index for one in found.adds) == adds
    assert is_sum_bound_right(Counter(), found, whole)
    if not is_most:
        fewer = dataclasses.replace(found, adds=found.adds[1:])
        assert not is_sum_bound_right(Counter(), fewer, whole)
    other = dataclasses.replace(found, is_most=not is_most)
    assert not is_sum_bound_right(Counter(), other, whole)


@pytest.mark.parametrize("kind", ["lost-add", "too-high"])
@pytest.mark.long
def test_a_long_sum_is_told_in_a_line(kind):
    options = GenerateOptions(
        model="counter",
        operations=5_000 if is_long() else 2_000,
        concurrency=20,
        values=None,
        indeterminate=0.05,
        corrupt=kind,
        seed=1,
    )
    columns = columns_of(generated_table(options))
    (judged,) = judge_columns(Counter(), columns, CheckOptions())
    assert judged.verdict is Verdict.INVALID
    first_illegal = judged.findings[0].operation_index
    assert first_illegal is not None
    found = explain(Counter(), judged.key, columns.operations(0), first_illegal)
    assert found.linearization is not None
    assert len(found.linearization) >= found.linearizable
    sub = found.sub_history
    assert sub is not None
    assert sub.total is not None
    assert len(sub.constraints) <= 9
    assert sub.is_verified
    assert sub.is_minimal
    assert f"operation {first_illegal} returned" in found.words


def test_an_add_that_another_makes_possible_is_not_told_as_one_that_may_never_have_been():
    """Both adds were told the same sum, so only one was there; without what it told both may be."""
    first, add, read = ("add", 3, None), ("add-and-get", 1, 4), ("read", None, 5)
    operations = history((*first, 0, 1), (*add, 2, 4), (*read, 3, 6), (*add, 5, 7))
    words = explain(Counter(), "k", operations, 2).words
    assert "add-and-get 1 -> 4), invoked at event 5, even if it took effect later" in words


def test_a_sum_that_is_what_was_added_is_told_as_well():
    operations = history(("add-and-get", 1, 1, 0, 1), ("add-and-get", 1, 3, 2, 3))
    words = explain(Counter(), "k", operations, 1).words
    assert "operation 0 (process 0, add-and-get 1 -> 1), invoked at event 0" in words
    assert "only this part matters: add 1\n" in words
