"""Answers that can't be are found where the search for an order is hopeless."""

from dataclasses import replace
from math import inf
from random import Random

import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.reduction.reductions import prefix
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns, judge_key
from kraftproof.checkers.judge.refute import refute
from kraftproof.checkers.models.specification import Specification
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.cases import CASES, drawn, sequential
from tests.support.checkers.columnar import history
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

HISTORIES = random_cases(300, share=60)


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_called_impossible_has_no_legal_order(name):
    model, random = sequential(name), Random(f"impossible {name}")
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 10), [4])
        found = refute(model, operations)
        if found is None:
            continue
        assert found.first_illegal_row is not None
        end = operations[found.first_illegal_row].complete_index
        assert end is not None
        assert is_linearizable(model, prefix(model, operations, end)) is False, operations


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cas-register", "phantom"),
        ("kv-append", "phantom"),
        ("multi-register", "phantom"),
        ("priority-queue", "duplicate"),
        ("queue", "phantom"),
        ("stack", "false-empty"),
        ("stack", "phantom"),
    ],
)
def test_the_wrong_answer_of_a_generated_history_is_found(name, kind):
    """At the operation that was corrupted, or before it: the verdict can't be later."""
    options = GenerateOptions(
        model=name,
        operations=3_000,
        concurrency=20,
        values=5,
        indeterminate=0.02,
        corrupt=kind,
        seed=3,
    )
    operations = columns_of(generated_table(options)).operations(0)
    before = columns_of(generated_table(replace(options, corrupt=None))).operations(0)
    pairs = zip(operations, before, strict=True)
    changed = [n for n, (one, other) in enumerate(pairs) if one != other]
    model = sequential(name)
    found = refute(model, operations)
    assert found is not None
    assert found.verdict is Verdict.INVALID
    assert found.linearizable is None
    assert found.first_illegal_row is not None
    ends = [operations[n].complete_index or inf for n in changed]
    assert (operations[found.first_illegal_row].complete_index or inf) <= max(ends)
    assert refute(model, before) is None


def wide_stack(answer: object) -> list:
    """Thirty pushes at once, all popped at once, and one more answer: too many orders to try."""
    pushes = [("push", n % 3, None, n, 30 + n) for n in range(30)]
    pops = [("pop", None, n % 3, 60 + n, 90 + n) for n in range(29)]
    return history(*pushes, *pops, ("pop", None, answer, 200, 201))


@pytest.mark.parametrize(("answer", "verdict"), [long(7, Verdict.INVALID), (2, Verdict.UNKNOWN)])
def test_where_the_search_gives_up_an_impossible_answer_is_invalid_all_the_same(answer, verdict):
    operations = wide_stack(answer)
    options = CheckOptions(limits=Limits(memory_bytes=10))
    judged = judge_key(sequential("stack"), "k", operations, options)
    assert judged.verdict is verdict
    if verdict is Verdict.UNKNOWN:
        return
    (finding,) = judged.findings
    assert finding.operation_index == 59
    assert not finding.is_first
    assert "no operation had put 7 in by then" in finding.reason
    told = explain(sequential("stack"), "k", operations, 59, seconds=0.0, is_first=False)
    assert not told.is_first
    assert "completed earlier have a legal order was not decided" in told.words
    found = explain(sequential("stack"), "k", operations, 59, seconds=1.0, is_first=False)
    assert found.is_first == (found.linearized == found.linearizable)


class Colours(Specification):
    """A lamp that is given a colour; nothing else is told of it."""

    name = "colours"
    functions = frozenset({"give", "ask"})

    def init(self):
        return "none"

    def step(self, state, call):
        if call.f == "give":
            return call.input
        return state if call.output == state else None


def test_a_model_that_says_nothing_but_its_step_is_asked_too():
    operations = history(
        ("give", "red", None, 0, 1), ("ask", None, "red", 2, 3), ("ask", None, "blue", 4, 5)
    )
    found = refute(Colours(), operations)
    assert found is not None
    assert found.first_illegal_row == 2
    assert refute(Colours(), operations[:2]) is None


def test_a_family_that_gives_up_is_asked_the_same():
    """Strings whose pieces repeat are searched by a beam, which here may not take a step."""
    options = GenerateOptions(
        model="kv-append",
        operations=3_000,
        concurrency=20,
        values=5,
        indeterminate=0.05,
        corrupt="phantom",
        seed=0,
    )
    columns = columns_of(generated_table(options))
    limits = Limits(seconds=0.0001)
    (judged,) = judge_columns(sequential("kv-append"), columns, CheckOptions(limits=limits))
    assert judged.verdict is Verdict.INVALID
    assert not judged.findings[0].is_first
